#include "tlr/stage_inverses.hpp"

#include <algorithm>

#include "base/precisions.h"

namespace chol::tlr {
namespace {

/// Block row i of an inverse is inverse(L_ii) times [-sum of L_ij Z_j, I], with Z_j the block rows
/// above it in its stage. Computed for several stages at a time.
template <class T>
class StageRows {
 public:
  StageRows(backend::TileOps<T>& ops, const backend::LowerTiles<T>& L, int64_t first, int64_t end,
            int64_t stage, const Buffer<T>* to)
      : ops_(ops), L_(L), first_(first), end_(end), stage_(stage), to_(to) {}

  void run() {
    std::vector<backend::Copy<T>> diagonals;
    for (int64_t s = first_; s < end_; s += stage_) {
      const int64_t ld = order(s);
      T* const Z = inverse(s);
      ops_.set_zero(Z, ld * ld);
      for (int64_t i = s; i < std::min(s + stage_, end_); ++i)
        diagonals.push_back({false, rows(i), rows(i), L_.inverses[i], rows(i),
                             Z + (L_.starts[i] - L_.starts[s]) * (ld + 1), ld});
    }
    ops_.copy(diagonals);
    for (int64_t row = 1; row < stage_; ++row) add_row(row);
  }

 private:
  int64_t rows(int64_t i) const { return L_.starts[i + 1] - L_.starts[i]; }
  int64_t order(int64_t s) const { return L_.starts[std::min(s + stage_, end_)] - L_.starts[s]; }
  T* inverse(int64_t s) const { return to_[(s - first_) / stage_].get(); }
  const backend::LowRank<T>& tile(int64_t i, int64_t j) const {
    return L_.tiles[i * (i - 1) / 2 + j];
  }

  void add_row(int64_t row) {
    int64_t inner = 0, sums = 0;
    for (int64_t s = first_; s + row < end_; s += stage_) {
      const int64_t width = L_.starts[s + row] - L_.starts[s];
      for (int64_t j = s; j < s + row; ++j)
        inner += std::max<int64_t>(tile(s + row, j).rank, 0) * width;
      sums += rows(s + row) * width;
    }
    const Buffer<T> scratch = ops_.buffer(inner + sums);
    T *free_inner = scratch.get(), *free_sum = free_inner + inner;
    backend::ProductSteps<T> steps;
    for (int64_t s = first_; s + row < end_; s += stage_) {
      const int64_t i = s + row, m = rows(i), width = L_.starts[i] - L_.starts[s], ld = order(s);
      T* const Z = inverse(s);
      steps[1].begin_group();
      int added = 0;
      for (int64_t j = s; j < i; ++j) {
        const backend::LowRank<T>& t = tile(i, j);
        const T* const above = Z + L_.starts[j] - L_.starts[s];
        if (t.rank < 0) {
          steps[1].add(
              {false, false, added++ > 0, m, width, rows(j), t.U, m, above, ld, free_sum, m});
        } else if (t.rank > 0) {
          steps.add(0, {true, false, 0, t.rank, width, rows(j), t.V, rows(j), above, ld, free_inner,
                        t.rank});
          steps[1].add({false, false, added++ > 0, m, width, t.rank, t.U, m, free_inner, t.rank,
                        free_sum, m});
          free_inner += t.rank * width;
        }
      }
      if (added == 0) continue;
      steps.add(2, {false, false, -1, m, width, m, L_.inverses[i], m, free_sum, m, Z + width, ld});
      free_sum += m * width;
    }
    ops_.multiply(steps);
  }

  backend::TileOps<T>& ops_;
  const backend::LowerTiles<T>& L_;
  int64_t first_, end_, stage_;
  const Buffer<T>* to_;
};

}  // namespace

template <class T>
std::vector<Buffer<T>> stage_inverses(backend::TileOps<T>& ops, const backend::LowerTiles<T>& L,
                                      int64_t stage) {
  const int64_t count = std::ssize(L.starts) - 1;
  std::vector<Buffer<T>> all;
  for (int64_t s = 0; s < count; s += stage) {
    const int64_t order = L.starts[std::min(s + stage, count)] - L.starts[s];
    all.push_back(ops.buffer(order * order));
  }
  constexpr int64_t kTogether = 16;  // stages at a time, which limits the workspace
  for (int64_t s = 0; s < count; s += kTogether * stage)
    StageRows<T>(ops, L, s, std::min(s + kTogether * stage, count), stage, &all[s / stage]).run();
  return all;
}

#define CHOL_INSTANTIATE(prefix, T, R)                                    \
  template std::vector<Buffer<T>> stage_inverses<T>(backend::TileOps<T>&, \
                                                    const backend::LowerTiles<T>&, int64_t);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
