// Small triangles across lanes between their way in and their way out: factored without loops.
#pragma once

#include "host/kernels/across/transpose.hpp"
#include "lane/packed.hpp"

#ifndef CHOL_MOST_UNROLLED  // src/host/kernels.cmake: less where only the compile time counts
#define CHOL_MOST_UNROLLED 16
#endif

namespace chol::CHOL_ISA {

/// Largest order with straight-line code of its own: twice as fast as tiles in loops just beyond
/// the registers, a third faster at the largest. Beyond, the code outgrows what holds instructions.
template <class T>
inline constexpr int kUnrolled = smaller(is_complex<T> ? 12 : 16, CHOL_MOST_UNROLLED);
/// Up to which order that code takes the triangle as one tile, some of it spilled.
template <class T>
inline constexpr int kOneTile = is_complex<T> ? 6 : 8;
/// Edge of its tiles for larger orders.
inline constexpr int kUnrolledTile = 3;

/// The lower triangle of order N of matrices across lanes, for straight-line code: one tile,
template <class E, int N, bool IsOneTile>
struct HeldTriangle {
  Tile<E, N, N> t;
  CHOL_INLINE E& at(int i, int j) { return t.e[i][j]; }
  template <class V>
  CHOL_INLINE void factor(V& info) {
    V reciprocal[N];
    factor_tile(t, reciprocal, info, 0);
  }
};
/// or tiles in memory, which take all their updates in registers: a tile that does not fit them
/// would be written again by the update from every column.
template <class E, int N>
struct HeldTriangle<E, N, false> {
  using Packed = PackedTriangle<E, kUnrolledTile>;
  E elements[Packed::elements(N)];

  /// As factor_packed_unrolled sees the caller's side: the same elements.
  struct Place {
    E* base;
    int i, j;
    CHOL_INLINE Place from(int rows, int columns) const { return {base, i + rows, j + columns}; }
    CHOL_INLINE void down() { ++i; }
    CHOL_INLINE void right() { ++j; }
    CHOL_INLINE E& at() const { return base[Packed::row_start(i) + Packed::column_start(j)]; }
    CHOL_INLINE const E& get() const { return at(); }
    CHOL_INLINE void set(const E& e) const { at() = e; }
  };
  CHOL_INLINE E& at(int i, int j) { return Place{elements, i, j}.at(); }
  template <class V>
  CHOL_INLINE void factor(V& info) {
    factor_packed_unrolled<IeeeMath, kUnrolledTile, N>(Place{elements, 0, 0}, Packed{elements},
                                                       info);
  }
};

}  // namespace chol::CHOL_ISA
