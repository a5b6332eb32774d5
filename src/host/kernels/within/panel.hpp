// Factorization of one matrix in register tiles of V vectors of rows by NR columns.
//
// A block is factored left-looking, NR columns at a time: a tile takes all its updates, the
// triangular solve with the NR by NR diagonal and its store in one visit, as IA-Chol fuses its tile
// operators. Finished columns are also kept in strips of W rows, column after column, so that later
// tiles read contiguous, aligned memory whatever lda and triangle.
#pragma once

#include "host/kernels/kernel_table.hpp"
#include "host/kernels/within/triangle_view.hpp"

namespace chol::CHOL_ISA {

/// Columns and most row vectors of a register tile: its accumulators, one column of operands and
/// one scalar fit the register file.
template <class T>
inline constexpr int kTileColumns = kVectorRegisters >= 32 ? 8 : 4;
template <class T>
inline constexpr int kTileVectors = is_complex<T> ? 2 : 3;
/// Columns of a tile with long products. For complex numbers as many as fit the register file: each
/// part depends on two products of a step, whose latency four columns do not hide, and two shuffles
/// serve all columns.
template <class T>
inline constexpr int kProductColumns = is_complex<T> ? (kVectorRegisters >= 32 ? 12 : 6)
                                                     : kTileColumns<T>;

/// host::PanelStrips with its type.
template <class T>
struct Strips {
  static constexpr int W = Elements<T>::width;
  static constexpr int NR = kTileColumns<T>;
  /// The rows of a strip group are a multiple of this: tiles read NR rows of a column at a time.
  static constexpr int kRows = W > NR ? W : NR;

  T* base;
  int64_t depth;
  RealOf<T>* reciprocal;

  explicit Strips(const host::PanelStrips& s)
      : base(static_cast<T*>(s.base)),
        depth(s.depth),
        reciprocal(static_cast<RealOf<T>*>(s.reciprocal)) {}

  static int64_t elements(int64_t rows, int64_t depth) { return round_up(rows, kRows) * depth; }

  /// Element (i, k): row i of the matrix, column k of the block.
  CHOL_INLINE T* at(int64_t i, int64_t k) const { return base + (i / W * depth + k) * W + i % W; }
  /// Clears row i to the end of its group, which tiles also read: products with uninitialized
  /// memory could be slow because of denormal numbers.
  CHOL_INLINE void clear_to_group(int64_t i, int64_t k, int64_t columns) const {
    for (; i % kRows != 0; i += W)
      for (int64_t c = k; c < k + columns; ++c) Elements<T>::zero().store(at(i, c));
  }
  /// Distance from row i to row i + c, for i a multiple of NR.
  CHOL_INLINE int64_t row_offset(int c) const {
    if constexpr (NR <= W)
      return c;
    else
      return c / W * (depth * W) + c % W;
  }
};

/// Which operand of a product is streamed from the second-level cache while the other stays in the
/// first.
enum class Passing { none, left, right };
/// Prefetch distance from there, in columns of strips.
inline constexpr int kAhead = 8;

/// t -= rows of the strips times the conjugate of NR rows at `right`, over columns [0, depth).
///
/// If the right rows are streamed, real numbers are processed four columns at a time with one
/// prefetch a line, to save instructions on a core that two threads share. Complex ones have too
/// few registers for that.
/// @tparam Plus adds the product.
template <Passing P = Passing::none, bool Plus = false, class T, int V, int C>
CHOL_INLINE void subtract_strips(RegisterTile<T, V, C>& t, const Strips<T>& s, const T* left,
                                 const T* right, int64_t depth) {
  constexpr int W = Elements<T>::width;
  constexpr int kSteps = P == Passing::right && !is_complex<T> ? 4 : 1;
  constexpr int kLine = larger<int>(1, 64 / (W * int(sizeof(T))));
  const int64_t strip = s.depth * W;
  const auto step = [&](int64_t k) {
    Elements<T> a[V];
    CHOL_UNROLL
    for (int v = 0; v < V; ++v) {
      a[v] = Elements<T>::load(left + v * strip + k * W);
      if (P == Passing::left) __builtin_prefetch(left + v * strip + (k + kAhead) * W, 0, 3);
    }
    CHOL_UNROLL
    for (int c = 0; c < C; ++c) {
      const Scalar<T> b(right + s.row_offset(c) + k * W);
      CHOL_UNROLL
      for (int v = 0; v < V; ++v) {
        const Operand<T> factor(a[v]);
        t.e[v][c] = Plus ? add<true>(t.e[v][c], factor, b) : subtract<true>(t.e[v][c], factor, b);
      }
    }
  };
  int64_t k = 0;
  for (; k + kSteps <= depth; k += kSteps) {
    CHOL_UNROLL
    for (int u = 0; u < kSteps; ++u) {
      if (P == Passing::right && u % kLine == 0) {
        CHOL_UNROLL
        for (int c = 0; c < C; c += W)
          __builtin_prefetch(right + s.row_offset(c) + (k + u + kAhead) * W, 0, 3);
      }
      step(k + u);
    }
  }
  for (; k < depth; ++k) step(k);
}

/// t := t * inverse(L^H) for the diagonal tile whose rows are at `right` in columns [depth, depth +
/// C) of the strips.
template <class T, int V, int C>
CHOL_INLINE void solve_tile(RegisterTile<T, V, C>& t, const Strips<T>& s, const T* right,
                            int64_t depth, int64_t columns) {
  constexpr int W = Elements<T>::width;
  CHOL_UNROLL
  for (int c = 0; c < C; ++c) {
    if (c >= columns) break;
    CHOL_UNROLL
    for (int k = 0; k < c; ++k) {
      const Scalar<T> b(right + s.row_offset(c) + (depth + k) * W);
      CHOL_UNROLL
      for (int v = 0; v < V; ++v) t.e[v][c] = subtract<true>(t.e[v][c], Operand<T>(t.e[v][k]), b);
    }
    CHOL_UNROLL
    for (int v = 0; v < V; ++v) t.e[v][c] = t.e[v][c].scaled(s.reciprocal[depth + c]);
  }
}

template <class T, int V, int C>
CHOL_INLINE void store_strips(const RegisterTile<T, V, C>& t, const Strips<T>& s, T* left,
                              int64_t depth, int64_t columns) {
  constexpr int W = Elements<T>::width;
  CHOL_UNROLL
  for (int c = 0; c < C; ++c) {
    if (c >= columns) break;
    CHOL_UNROLL
    for (int v = 0; v < V; ++v) t.e[v][c].store(left + v * s.depth * W + (depth + c) * W);
  }
}

/// A diagonal element after the update by an element of its row, which `reciprocal` scales: the
/// scalar form of the tile's operation, with the same bits.
template <class T>
CHOL_INLINE RealOf<T> updated_pivot(Elements<T> of_pivot, Elements<T> of_left, int lane,
                                    RealOf<T> reciprocal) {
  const RealOf<T> re = of_left.real_of_lane(lane) * reciprocal;
  RealOf<T> pivot = multiply_add(of_pivot.real_of_lane(lane), -re, re);
  if constexpr (is_complex<T>) {
    const RealOf<T> im = of_left.imaginary_of_lane(lane) * reciprocal;
    pivot = multiply_add(pivot, -im, im);
  }
  return pivot;
}

/// Cholesky of the NR by NR tile whose row 0 is lane Offset of the tile's first vector, in
/// registers; the rows below it in the tile are solved together with it. Returns the number of
/// columns with valid pivots.
///
/// The dependency chain of the pivots bounds the time. It uses scalars (a product, an update, a
/// root and a division a column), which avoids three broadcasts through vectors.
template <int Offset, class T, int V, int C>
CHOL_INLINE int64_t factor_diagonal(RegisterTile<T, V, C>& t, RealOf<T>* reciprocal,
                                    RealOf<T>* diagonal, int64_t columns) {
  using R = RealOf<T>;
  constexpr int W = Elements<T>::width;
  R pivot = t.e[Offset / W][0].real_of_lane(Offset % W);
  CHOL_UNROLL
  for (int c = 0; c < C; ++c) {
    if (c >= columns) return columns;
    constexpr R kMost = kLargest<R>;
    if (!(pivot > R(0) && pivot <= kMost)) return c;
    const R root = square_root(pivot);
    const R factor = R(1) / root;
    reciprocal[c] = factor;
    diagonal[c] = root;
    if (c + 1 < C) {
      const int row = Offset + c + 1;
      pivot = updated_pivot(t.e[row / W][c + 1], t.e[row / W][c], row % W, factor);
    }
    CHOL_UNROLL
    for (int v = 0; v < V; ++v) t.e[v][c] = t.e[v][c].scaled(factor);
    CHOL_UNROLL
    for (int j = c + 1; j < C; ++j) {
      const Scalar<T> b(t.e[(Offset + j) / W][c], (Offset + j) % W);
      CHOL_UNROLL
      for (int v = 0; v < V; ++v) t.e[v][j] = subtract<true>(t.e[v][j], Operand<T>(t.e[v][c]), b);
    }
  }
  return columns;
}

template <class T>
CHOL_INLINE void set_real(T* p, RealOf<T> value) {
  if constexpr (is_complex<T>)
    *p = {value, 0};
  else
    *p = value;
}

/// Prefetches the named triangle's part of columns [from, to).
template <class T>
CHOL_INLINE void fetch_columns(const host::PanelMatrix& M, int64_t from, int64_t to) {
  for (int64_t j = from; j < smaller(to, M.n); ++j) {
    const int64_t top = M.upper ? 0 : j, bottom = M.upper ? j + 1 : M.n;
    fetch(static_cast<const T*>(M.A) + top + j * M.lda, (bottom - top) * int64_t(sizeof(T)));
  }
}

/// A block of columns [first, last) of a matrix. Rows and columns count from the matrix's first;
/// strips hold columns counted from `first`.
template <class T, class Storage>
struct Panel {
  static constexpr int W = Elements<T>::width;
  static constexpr int NR = kTileColumns<T>;
  static constexpr int MV = kTileVectors<T>;

  Storage A;
  Strips<T> strips;
  int64_t first;

  /// Whether a tile of V vectors is inside the bounds, for a storage where this matters.
  template <int V>
  CHOL_INLINE static bool is_whole(int64_t row, int64_t row_end, int64_t columns) {
    return Storage::kOneWayInside && row + V * W <= row_end && columns == NR;
  }

  /// The tile whose first vector holds row `column`; returns the number of columns with valid
  /// pivots.
  template <int V, int Offset>
  CHOL_INLINE int64_t diagonal_tile(int64_t column, int64_t columns, int64_t row_end) const {
    return is_whole<V>(column - Offset, row_end, columns)
               ? diagonal_tile<V, Offset, Storage::kOneWayInside>(column, columns, row_end)
               : diagonal_tile<V, Offset, false>(column, columns, row_end);
  }
  template <int V, int Offset, bool Whole>
  CHOL_INLINE int64_t diagonal_tile(int64_t column, int64_t columns, int64_t row_end) const {
    const int64_t row = column - Offset, depth = column - first, column_end = column + columns;
    RegisterTile<T, V, NR> t;
    A.template load<Offset, Whole>(t, row, row_end, column, column_end);
    subtract_strips(t, strips, strips.at(row, 0), strips.at(column, 0), depth);
    RealOf<T> diagonal[NR];
    const int64_t good =
        factor_diagonal<Offset>(t, strips.reciprocal + depth, diagonal, Whole ? NR : columns);
    store_strips(t, strips, strips.at(row, 0), depth, Whole ? NR : columns);
    store<Offset, Whole>(t, row, row_end, column, good);
    for (int64_t c = 0; c < good; ++c) set_real(A.at(column + c, column + c), diagonal[c]);
    return good;
  }

  /// Tiles of rows [row, row_end) in columns [column, column + columns) below the diagonal tile.
  template <int V>
  CHOL_INLINE void tile_below(int64_t row, int64_t row_end, int64_t column, int64_t columns) const {
    is_whole<V>(row, row_end, columns)
        ? tile_below<V, Storage::kOneWayInside>(row, row_end, column, columns)
        : tile_below<V, false>(row, row_end, column, columns);
  }
  template <int V, bool Whole>
  CHOL_INLINE void tile_below(int64_t row, int64_t row_end, int64_t column, int64_t columns) const {
    const int64_t depth = column - first;
    const T* right = strips.at(column, 0);
    T* left = strips.at(row, 0);
    RegisterTile<T, V, NR> t;
    A.template load<kNoDiagonal, Whole>(t, row, row_end, column, column + columns);
    subtract_strips(t, strips, left, right, depth);
    solve_tile(t, strips, right, depth, Whole ? NR : columns);
    store_strips(t, strips, left, depth, Whole ? NR : columns);
    store<kNoDiagonal, Whole>(t, row, row_end, column, Whole ? NR : columns);
  }
  template <int Diagonal, bool Whole, int V>
  CHOL_INLINE void store(const RegisterTile<T, V, NR>& t, int64_t row, int64_t row_end,
                         int64_t column, int64_t columns) const {
    if constexpr (!Storage::kOneWayInside)
      A.store(t, row, row_end, column, column + columns);
    else if (Whole && columns == NR)
      A.template store<Diagonal>(t, row, column);
    else
      A.template store_cut<Diagonal, V>(strips.at(row, column - first), strips.depth * W, row,
                                        row_end, column, column + columns);
  }
  void rows_below(int64_t row, int64_t row_end, int64_t column, int64_t columns) const {
    for (; row + (MV - 1) * W < row_end; row += MV * W) {
      A.fetch_rows(row + MV * W, smaller(row + 2 * MV * W, row_end), column, columns);
      tile_below<MV>(row, row_end, column, columns);
    }
    if constexpr (MV > 2)
      if (row + W < row_end) return tile_below<2>(row, row_end, column, columns);
    if (row < row_end) {
      tile_below<1>(row, row_end, column, columns);
      strips.clear_to_group(row + W, column - first, columns);
    }
  }

  /// Vectors of the diagonal tile: as many as there are, up to the largest tile, so that rows below
  /// are solved during the latency of the pivots.
  template <int Offset>
  int64_t diagonal_step(int64_t column, int64_t columns, int64_t row_end, int64_t* next) const {
    constexpr int kLeast = (Offset + NR + W - 1) / W;
    const int64_t row = column - Offset;
    if constexpr (kLeast < MV)
      if (row + (MV - 1) * W < row_end) {
        *next = row + MV * W;
        return diagonal_tile<MV, Offset>(column, columns, row_end);
      }
    *next = row + kLeast * W;
    return diagonal_tile<kLeast, Offset>(column, columns, row_end);
  }

  /// Factors columns [first, last) in rows [first, row_end). Returns 0 or the failing column,
  /// counted from 1.
  int64_t factor(int64_t last, int64_t row_end, const host::PanelMatrix* coming) const {
    for (int64_t column = first; column < last; column += NR) {
      const int64_t columns = smaller<int64_t>(NR, last - column);
      if (coming) fetch_columns<T>(*coming, column, column + columns);
      int64_t next = 0, good = 0;
      if (W > NR && column % W != 0)
        good = diagonal_step<(W > NR ? NR : 0)>(column, columns, row_end, &next);
      else
        good = diagonal_step<0>(column, columns, row_end, &next);
      if (good > 0) rows_below(next, row_end, column, good);
      if (good < columns) return column - first + good + 1;
    }
    return 0;
  }

  /// Rows [row, row_end) of the block's columns, `columns` of which are factored.
  void solve_rows(int64_t columns, int64_t row, int64_t row_end) const {
    constexpr int64_t kRowsAtATime = 4 * MV * W;
    for (; row < row_end; row += kRowsAtATime)
      for (int64_t c = 0; c < columns; c += NR)
        rows_below(row, smaller(row + kRowsAtATime, row_end), first + c,
                   smaller<int64_t>(NR, columns - c));
  }
};

}  // namespace chol::CHOL_ISA
