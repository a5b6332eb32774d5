// The trailing update: a tile of the matrix minus the product of two row ranges of a factored
// block. potri adds such products.
#pragma once

#include "host/kernels/within/complex_parts.hpp"
#include "host/kernels/within/panel.hpp"

namespace chol::CHOL_ISA {

/// Adjacent columns of the upper triangle, as a tile whose vectors run along a row of the lower
/// one: elements (j, i), j <= i.
template <class T>
struct AcrossRows {
  T* base;
  int64_t ld;
  static constexpr int W = Elements<T>::width;
  static constexpr bool kTradesRoles = true;  ///< vectors run along a row of the lower triangle

  template <int V, int C>
  CHOL_INLINE void load(RegisterTile<T, V, C>& t, int64_t column, int64_t column_end, int64_t row,
                        int64_t row_end) const {
    visit<V, C>(column, column_end, row, row_end, [&](int v, int c, T* p, int64_t count) {
      t.e[v][c] = count >= W  ? Elements<T>::load(p)
                  : count > 0 ? Elements<T>::load_range(p, 0, count)
                              : Elements<T>::zero();
    });
  }
  template <int V, int C>
  CHOL_INLINE void store(const RegisterTile<T, V, C>& t, int64_t column, int64_t column_end,
                         int64_t row, int64_t row_end) const {
    visit<V, C>(column, column_end, row, row_end, [&](int v, int c, T* p, int64_t count) {
      if (count >= W)
        t.e[v][c].store(p);
      else if (count > 0)
        t.e[v][c].store_range(p, 0, count);
    });
  }

 private:
  template <int V, int C, class Body>
  CHOL_INLINE void visit(int64_t column, int64_t column_end, int64_t row, int64_t row_end,
                         Body&& body) const {
    const bool whole = column + V * W <= column_end && row + C <= row_end && column + V * W <= row;
    CHOL_UNROLL
    for (int c = 0; c < C; ++c) {
      CHOL_UNROLL
      for (int v = 0; v < V; ++v) {
        const int64_t i = row + c, j = column + v * W;
        const int64_t count =
            whole ? W : (i < row_end ? smaller(smaller<int64_t>(W, column_end - j), i - j + 1) : 0);
        body(v, c, base + i * ld + j, count);
      }
    }
  }
};

/// The rows that provide the scalars of a product, in pairs: two consecutive rows are in the same
/// or in adjacent strips. Rows after the last are replaced by others, whose products are not
/// stored.
template <class T, int C>
struct ScalarRows {
  static_assert(C % 2 == 0);
  const T* pair[C / 2];
  int64_t step;
  CHOL_INLINE ScalarRows(const Strips<T>& s, int64_t row, int64_t row_end, int64_t k)
      : step(Elements<T>::width > 1 ? 1 : s.depth) {
    CHOL_UNROLL
    for (int i = 0; i < C / 2; ++i) pair[i] = s.at(row + 2 * i < row_end ? row + 2 * i : row, k);
  }
  CHOL_INLINE const T* at(int c) const {
    return pair[c / 2] + (Elements<T>::width > 1 ? c % 2 : c % 2 * step);
  }
};

/// subtract_strips() of complex rows by their parts; Across: t(v, c) -= b(c) * conj(a(v)).
template <bool Across, Passing P, bool Plus, class T, int V, int C>
CHOL_INLINE void subtract_parts(RegisterTile<T, V, C>& t, const Strips<T>& s, const T* vectors,
                                const ScalarRows<T, C>& scalars, int64_t depth) {
  constexpr int W = Elements<T>::width;
  PartsTile<T, C> parts(t);
  for (int64_t k = 0; k < depth; ++k) {
    Elements<T> e[V];
    CHOL_UNROLL
    for (int v = 0; v < V; ++v) {
      const T* p = vectors + (v * s.depth + k) * W;
      e[v] = Elements<T>::load(p);
      if (P == Passing::left) __builtin_prefetch(p + kAhead * W, 0, 3);
    }
    const auto a = Parts<T>::of(e);
    CHOL_UNROLL
    for (int c = 0; c < C; ++c) {
      const Scalar<T> b(scalars.at(c) + k * W);
      if constexpr (Across)
        parts.p[c].template take_across<Plus>(a, b);
      else
        parts.p[c].template take<true, Plus>(a, b);
    }
  }
  parts.join(t);
}

/// The tiles of [vectors, vectors_end) by [scalars, scalars_end): vectors run along the first
/// range. The product is subtracted from the matrix, or added to it when Plus, or to zero when
/// FromZero.
template <class T, class Storage, bool Plus, bool FromZero>
struct TrailingUpdate {
  static constexpr int W = Elements<T>::width;
  static constexpr int NR = kProductColumns<T>;
  static constexpr int MV = kTileVectors<T>;

  /// With sixteen registers the strips of the vectors, which are the wider ones, stay in the
  /// first-level cache if they fit; with longer vectors they do not fit, and the strips of the
  /// scalars stay (Goto, van de Geijn 2008, section 4.2).
  static constexpr Passing kPassing = kVectorRegisters >= 32 ? Passing::left : Passing::right;

  Storage A;
  Strips<T> strips;
  int64_t depth;
  int64_t triangle;  ///< the first of `depth` rows of a triangle, zero before their own column

  /// The next tile, to be prefetched.
  struct Coming {
    const T* first;
    int64_t bytes, columns;
  };
  Coming coming(int64_t vectors, int64_t vectors_end, int64_t scalars, int64_t scalars_end) const {
    return {A.base + scalars * A.ld + vectors,
            smaller<int64_t>(MV * W, vectors_end - vectors) * int64_t(sizeof(T)),
            smaller<int64_t>(NR, scalars_end - scalars)};
  }
  /// Leading columns of the strips that are zero from `row` on.
  int64_t zeros(int64_t row) const {
    return row > triangle && row < triangle + depth ? row - triangle : 0;
  }

  template <int V>
  CHOL_INLINE void tile(int64_t vectors, int64_t vectors_end, int64_t scalars, int64_t scalars_end,
                        const Coming& next) const {
    RegisterTile<T, V, NR> t;
    if constexpr (FromZero) {
      CHOL_UNROLL
      for (int v = 0; v < V; ++v) CHOL_UNROLL
      for (int c = 0; c < NR; ++c) t.e[v][c] = Elements<T>::zero();
    } else {
      A.load(t, vectors, vectors_end, scalars, scalars_end);
    }
    // Prefetches the next tile during the product of this one.
    for (int64_t c = 0; c < next.columns; ++c) fetch_to_write(next.first + c * A.ld, next.bytes);
    const int64_t from = FromZero ? larger(zeros(vectors), zeros(scalars)) : 0;
    const T* const left = strips.at(vectors, from);
    if constexpr (is_complex<T>)
      subtract_parts<Storage::kTradesRoles, kPassing, Plus>(
          t, strips, left, ScalarRows<T, NR>(strips, scalars, scalars_end, from), depth - from);
    else
      subtract_strips<kPassing, Plus>(t, strips, left, strips.at(scalars, from), depth - from);
    A.store(t, vectors, vectors_end, scalars, scalars_end);
  }
  CHOL_INLINE void any_tile(int64_t vectors, int64_t vectors_end, int64_t scalars,
                            int64_t scalars_end, const Coming& next) const {
    if (vectors + (MV - 1) * W < vectors_end)
      tile<MV>(vectors, vectors_end, scalars, scalars_end, next);
    else if (MV > 2 && vectors + W < vectors_end)
      tile<2>(vectors, vectors_end, scalars, scalars_end, next);
    else
      tile<1>(vectors, vectors_end, scalars, scalars_end, next);
  }
  /// All tiles of MV vectors. Lines past the ends belong to another thread and must not be
  /// prefetched for writing.
  /// @param following the scalars that the next row of tiles starts with
  /// @param end_at(scalars) end of the vectors of a tile at the diagonal
  template <class End>
  void row_of_tiles(int64_t vectors, int64_t vectors_end, int64_t scalars, int64_t scalars_end,
                    int64_t following, const End& end_at) const {
    for (; scalars < scalars_end; scalars += NR) {
      const int64_t after = scalars + NR;
      any_tile(vectors, end_at(scalars), scalars, scalars_end,
               after < scalars_end ? coming(vectors, vectors_end, after, scalars_end)
                                   : coming(vectors + MV * W, vectors_end, following, scalars_end));
    }
  }
  /// All tiles of NR scalars: the matrix is traversed along its lines. The next column of tiles
  /// starts at `following`.
  void column_of_tiles(int64_t vectors, int64_t vectors_end, int64_t scalars, int64_t scalars_end,
                       int64_t following) const {
    const Coming column = coming(following, vectors_end, scalars + NR, scalars_end);
    for (; vectors < vectors_end; vectors += MV * W) {
      const int64_t below = vectors + MV * W;
      any_tile(vectors, vectors_end, scalars, scalars_end,
               below < vectors_end ? coming(below, vectors_end, scalars, scalars_end) : column);
    }
  }
};

inline constexpr int64_t kNoTriangle = INT64_MAX / 2;

/// Tile of rows [row, row_end) and columns [column, column_end), on or below the diagonal, minus or
/// plus the product of its rows and columns in the strips (depth columns).
template <class T, bool Plus, bool FromZero>
inline void product_tile(const host::PanelMatrix& M, int64_t row, int64_t row_end, int64_t column,
                         int64_t column_end, int64_t depth, const Strips<T>& strips,
                         int64_t triangle) {
  using ByColumn = TrailingUpdate<T, ByColumns<T>, Plus, FromZero>;
  constexpr int64_t kStep = ByColumn::MV * ByColumn::W;
  constexpr int64_t NR = ByColumn::NR;
  constexpr bool kByRows = ByColumn::kPassing == Passing::right;
  T* base = static_cast<T*>(M.A);
  // The first tile that contains i, at a multiple of the step from `row` on.
  const auto first = [row](int64_t i, int64_t step) {
    return row + larger<int64_t>(0, i - row) / step * step;
  };
  if (!M.upper) {
    const ByColumn update{{base, M.lda}, strips, depth, triangle};
    const int64_t end = smaller(column_end, row_end);
    if constexpr (kByRows)
      for (int64_t i = row; i < row_end; i += kStep)
        update.row_of_tiles(i, row_end, column, smaller(end, i + kStep), column,
                            [=](int64_t) { return row_end; });
    else
      for (int64_t j = column; j < end; j += NR)
        update.column_of_tiles(first(j, kStep), row_end, j, end, first(j + NR, kStep));
  } else {
    const TrailingUpdate<T, AcrossRows<T>, Plus, FromZero> update{
        {base, M.lda}, strips, depth, triangle};
    if constexpr (kByRows)
      for (int64_t j = column; j < column_end; j += kStep)
        update.row_of_tiles(j, column_end, first(j, NR), row_end, first(j + kStep, NR),
                            [=](int64_t i) { return smaller(column_end, i + NR); });
    else
      for (int64_t i = row; i < row_end; i += NR)
        update.column_of_tiles(column, smaller(column_end, i + NR), i, row_end, column);
  }
}

template <class T>
inline void update_tile(const host::PanelMatrix& M, int64_t row, int64_t row_end, int64_t column,
                        int64_t column_end, int64_t depth, const host::PanelStrips& strips) {
  product_tile<T, false, false>(M, row, row_end, column, column_end, depth, Strips<T>(strips),
                                kNoTriangle);
}

}  // namespace chol::CHOL_ISA
