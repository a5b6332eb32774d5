// Number of columns of the operand left of V^H in the tiles of finished block columns: contiguous
// integers, for sums over the rows of a factor.
#pragma once

#include <numeric>
#include <vector>

#include "tlr/matrix.hpp"

namespace chol::tlr {

class Widths {
 public:
  explicit Widths(int64_t tiles) : tiles_(tiles), of_tiles_(static_cast<size_t>(tiles * tiles)) {}
  template <class T>
  void enter_column(const Matrix<T>& A, int64_t j) {
    for (int64_t i = j + 1; i < tiles_; ++i)
      of_tiles_[i * tiles_ + j] = static_cast<int>(A.width(i, j));
  }
  /// Sum for row i over columns [from, to).
  int64_t sum(int64_t i, int64_t from, int64_t to) const {
    const int* const row = of_row(i);
    return std::accumulate(row + from, row + to, int64_t{0});
  }
  /// Number of elements of the products V_ij^H V_kj in these columns.
  int64_t inner(int64_t i, int64_t k, int64_t from, int64_t to) const {
    const int *const left = of_row(i), *const right = of_row(k);
    int64_t sum = 0;
    for (int64_t j = from; j < to; ++j) sum += int64_t{left[j]} * right[j];
    return sum;
  }

 private:
  const int* of_row(int64_t i) const { return of_tiles_.data() + i * tiles_; }
  int64_t tiles_;
  std::vector<int> of_tiles_;
};

}  // namespace chol::tlr
