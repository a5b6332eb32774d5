// Storage of the lower triangle of matrices across lanes.
#pragma once

#include "lane/tile.hpp"

namespace chol::CHOL_ISA {

/// Consecutive block rows of NB rows, each of its length in the triangle; a block row is stored by
/// columns. Products of block rows read it contiguously, and it takes half the cache of a square.
template <class E, int NB>
struct PackedTriangle {
  E* base;
  CHOL_INLINE static constexpr int64_t elements(int64_t n) {
    const int64_t blocks = (n + NB - 1) / NB;
    return NB * NB * blocks * (blocks + 1) / 2;
  }
  /// Element (i, j) is at base[row_start(i) + column_start(j)].
  CHOL_INLINE static constexpr int64_t row_start(int64_t i) {
    return elements(i / NB * NB) + i % NB;
  }
  CHOL_INLINE static constexpr int64_t column_start(int64_t j) { return j * NB; }
  /// Rows i .. i + NB - 1, i a multiple of NB, from column 0.
  CHOL_INLINE LaneMatrix<E> rows(int64_t i) const { return {base + elements(i), 1, NB}; }
};

/// A square of `stride` rows, for operations that are not by block rows.
template <class E>
struct SquareTriangle {
  E* base;
  int64_t stride;
  CHOL_INLINE int64_t row_start(int64_t i) const { return i; }
  CHOL_INLINE int64_t column_start(int64_t j) const { return j * stride; }
  CHOL_INLINE LaneMatrix<E> matrix() const { return {base, 1, stride}; }
};

}  // namespace chol::CHOL_ISA
