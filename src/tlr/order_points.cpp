#include "tlr/order_points.hpp"

#include <algorithm>
#include <numeric>

namespace chol::tlr {
namespace {

struct Points {
  int dim;
  const double* coordinates;
  int64_t ld;
  double at(int64_t point, int d) const { return coordinates[d + point * ld]; }
};

int longest_side(const Points& points, const int64_t* first, const int64_t* last) {
  int longest = 0;
  double length = -1;
  for (int d = 0; d < points.dim; ++d) {
    double low = points.at(*first, d), high = low;
    for (const int64_t* p = first; p != last; ++p) {
      low = std::min(low, points.at(*p, d));
      high = std::max(high, points.at(*p, d));
    }
    // Sides that differ by rounding only count as equal, so that grids are halved alternately.
    if (high - low > length * (1 + 1e-9)) {
      length = high - low;
      longest = d;
    }
  }
  return longest;
}

void split(const Points& points, int64_t tile, int64_t* first, int64_t* last) {
  const int64_t tiles = (last - first + tile - 1) / tile;
  // The order within a tile is arbitrary: that of the points.
  if (tiles <= 1) return std::sort(first, last);
  const int d = longest_side(points, first, last);
  int64_t* const middle = first + tiles / 2 * tile;
  std::nth_element(first, middle, last, [&](int64_t a, int64_t b) {
    const double x = points.at(a, d), y = points.at(b, d);
    return x < y || (x == y && a < b);
  });
  split(points, tile, first, middle);
  split(points, tile, middle, last);
}

}  // namespace

void order_points(int dim, int64_t n, const double* points, int64_t ldp, int64_t tile,
                  int64_t* permutation) {
  std::iota(permutation, permutation + n, int64_t{0});
  if (n > 0) split({dim, points, ldp}, tile, permutation, permutation + n);
}

}  // namespace chol::tlr
