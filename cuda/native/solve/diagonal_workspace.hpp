// Workspace of inverted diagonal blocks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/arena.hpp"
#include "native/solve/config.hpp"

namespace chol::cuda::solve {

/// The products by which inverted tiles become inverted diagonal blocks of n rows: calls
/// body(first row, w, rows, pairs) for [L11 0; L21 L22] with w columns and `rows` rows of L21,
/// pairs of them after each other.
template <class Body>
void for_each_join(int64_t n, int64_t tile, int64_t order, Body&& body) {
  for (int64_t w = tile; w < order && w < n; w *= 2) {
    const int64_t pairs = n / (2 * w), joined = pairs * 2 * w, rest = n - joined;
    if (pairs > 0) body(int64_t{0}, w, w, pairs);
    if (rest > w) body(joined, w, rest - w, int64_t{1});
  }
}

template <class T>
struct DiagonalWorkspace {
  int64_t order = 0;  ///< of the blocks: that of the tiles times a power of two
  int64_t rows = 0;   ///< whose blocks are inverted at a time
  T* inverses = nullptr;
  T* product = nullptr;
  // Of the test whether products with the inverses are accurate; null without it.
  Real<T>* sums = nullptr;
  int* substitutes = nullptr;

  /// @param product_size least number of elements, for other uses of that memory.
  /// @param tested whether the inverses are multiplied by right-hand sides.
  static DiagonalWorkspace carve(Arena& arena, int64_t order, int64_t n, int64_t most_bytes,
                                 int64_t product_size = 0, bool tested = false) {
    constexpr int64_t kOrder = Config<T>::kOrder;
    const int64_t padded = (n + kOrder - 1) / kOrder * kOrder;
    const int64_t most = most_bytes / int64_t(sizeof(T)) / (order * order) * order;
    DiagonalWorkspace work;
    work.order = order;
    work.rows = std::min(padded, std::max(most, order));
    work.inverses = arena.take<T>(work.rows * (order + 1));
    for_each_join(work.rows, kOrder, order, [&](int64_t, int64_t w, int64_t, int64_t pairs) {
      product_size = std::max(product_size, pairs * w * w);
    });
    work.product = arena.take<T>(product_size);
    if (tested) {
      work.sums = arena.take<Real<T>>(work.rows);
      work.substitutes = arena.take<int>(work.rows / order + 1);
    }
    return work;
  }
};

}  // namespace chol::cuda::solve
