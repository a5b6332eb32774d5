// The trailing update: a tile of the matrix minus the product of two row ranges of a factored
// block.
#pragma once

#include "host/kernels/panel.hpp"

namespace chol::CHOL_ISA {

/// Columns of the upper triangle side by side, as the tile whose vectors run along a row of the
/// lower one: elements (j, i), j <= i, held conjugated. The update of the conjugate transpose is
/// the same product with its factors' roles traded, so that both triangles use one micro-kernel.
template <class T>
struct AcrossRows {
  T* base;
  int64_t ld;
  static constexpr int W = Elements<T>::width;

  template <int V, int C>
  CHOL_INLINE void load(RegisterTile<T, V, C>& t, int64_t column, int64_t column_end, int64_t row,
                        int64_t row_end) const {
    visit<V, C>(column, column_end, row, row_end, [&](int v, int c, T* p, int64_t count) {
      t.e[v][c] = count >= W  ? Elements<T>::load(p).conjugated()
                  : count > 0 ? Elements<T>::load_range(p, 0, count).conjugated()
                              : Elements<T>::zero();
    });
  }
  template <int V, int C>
  CHOL_INLINE void store(const RegisterTile<T, V, C>& t, int64_t column, int64_t column_end,
                         int64_t row, int64_t row_end) const {
    visit<V, C>(column, column_end, row, row_end, [&](int v, int c, T* p, int64_t count) {
      if (count >= W)
        t.e[v][c].conjugated().store(p);
      else if (count > 0)
        t.e[v][c].conjugated().store_range(p, 0, count);
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

/// The tiles of [vectors, vectors_end) by [scalars, scalars_end): vectors run along the first
/// range.
template <class T, class Storage>
struct TrailingUpdate {
  static constexpr int W = Elements<T>::width;
  static constexpr int NR = kTileColumns<T>;
  static constexpr int MV = kTileVectors<T>;

  /// Columns of the vectors' strips on their way from the second-level cache.
  static constexpr int kAhead = 8;

  Storage A;
  Strips<T> strips;
  int64_t depth;

  /// A tile that is worked on next.
  struct Coming {
    const T* first;
    int64_t bytes, columns;
  };
  Coming coming(int64_t vectors, int64_t vectors_end, int64_t scalars, int64_t scalars_end) const {
    return {A.base + scalars * A.ld + vectors,
            smaller<int64_t>(MV * W, vectors_end - vectors) * int64_t(sizeof(T)),
            smaller<int64_t>(NR, scalars_end - scalars)};
  }

  template <int V>
  CHOL_INLINE void tile(int64_t vectors, int64_t vectors_end, int64_t scalars, int64_t scalars_end,
                        const Coming& next) const {
    RegisterTile<T, V, NR> t;
    A.load(t, vectors, vectors_end, scalars, scalars_end);
    // The next tile comes from far away while this one's product runs.
    for (int64_t c = 0; c < next.columns; ++c) fetch(next.first + c * A.ld, next.bytes);
    subtract_strips<kAhead>(t, strips, strips.at(vectors, 0), strips.at(scalars, 0), depth);
    A.store(t, vectors, vectors_end, scalars, scalars_end);
  }
  /// All tiles of NR scalars: their strips stay in the first-level cache while those of the vectors
  /// pass by (Goto, van de Geijn 2008, section 4.2), and the matrix is walked along its lines.
  /// The next column of tiles starts at `following`. What lies past the ends is another thread's,
  /// which would lose its lines.
  void column_of_tiles(int64_t vectors, int64_t vectors_end, int64_t scalars, int64_t scalars_end,
                       int64_t following) const {
    const Coming column = coming(following, vectors_end, scalars + NR, scalars_end);
    for (; vectors + (MV - 1) * W < vectors_end; vectors += MV * W) {
      const int64_t below = vectors + MV * W;
      tile<MV>(vectors, vectors_end, scalars, scalars_end,
               below < vectors_end ? coming(below, vectors_end, scalars, scalars_end) : column);
    }
    if (MV > 2 && vectors + W < vectors_end)
      tile<2>(vectors, vectors_end, scalars, scalars_end, column);
    else if (vectors < vectors_end)
      tile<1>(vectors, vectors_end, scalars, scalars_end, column);
  }
};

template <class T>
inline void update_tile(const host::PanelMatrix& M, int64_t row, int64_t row_end, int64_t column,
                        int64_t column_end, int64_t depth, const host::PanelStrips& strips) {
  using ByColumn = TrailingUpdate<T, ByColumns<T>>;
  constexpr int64_t kStep = ByColumn::MV * ByColumn::W;
  constexpr int64_t NR = ByColumn::NR;
  T* base = static_cast<T*>(M.A);
  if (!M.upper) {
    const ByColumn update{{base, M.lda}, Strips<T>(strips), depth};
    const int64_t end = smaller(column_end, row_end);
    // The first vectors that reach the scalars, a whole number of steps from `row` on.
    const auto top = [row](int64_t j) { return row + larger<int64_t>(0, j - row) / kStep * kStep; };
    for (int64_t j = column; j < end; j += NR)
      update.column_of_tiles(top(j), row_end, j, end, top(j + NR));
  } else {
    const TrailingUpdate<T, AcrossRows<T>> update{{base, M.lda}, Strips<T>(strips), depth};
    for (int64_t i = row; i < row_end; i += NR)
      update.column_of_tiles(column, smaller(column_end, i + NR), i, row_end, column);
  }
}

}  // namespace chol::CHOL_ISA
