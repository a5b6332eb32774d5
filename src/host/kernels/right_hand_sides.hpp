// Solves with a factor, many right-hand sides at once.
//
// X^T is kept in strips of W right-hand sides, an unknown after the other, so that forward and
// backward substitution are the panel's fused update and solve with right-hand sides as rows, and
// the factor is read in place as scalars, whatever its triangle.
#pragma once

#include "host/kernels/panel.hpp"

namespace chol::CHOL_ISA {

/// The factor with element (i, k) at base[i * rs + k * cs].
template <class T>
struct FactorView {
  const T* base;
  int64_t rs, cs;
  explicit FactorView(const host::PanelMatrix& M)
      : base(static_cast<const T*>(M.A)), rs(M.upper ? M.lda : 1), cs(M.upper ? 1 : M.lda) {}
  CHOL_INLINE const T* at(int64_t i, int64_t k) const { return base + i * rs + k * cs; }
};

template <class T>
struct TransposedSolve {
  using R = RealOf<T>;
  static constexpr int W = Elements<T>::width;
  static constexpr int NR = kTileColumns<T>;
  static constexpr int MV = kTileVectors<T>;

  FactorView<T> L;
  int64_t n;
  const R* reciprocal;
  T* X;  ///< strips of W right-hand sides: element (r, j) at X[(r / W * n + j) * W + r % W]
  const host::PanelMatrix* coming;  ///< fetched along the way, or nullptr

  CHOL_INLINE T* at(int64_t strip, int64_t j) const { return X + (strip * n + j) * W; }

  template <int V, int C>
  CHOL_INLINE void load(RegisterTile<T, V, C>& t, int64_t strip, int64_t j) const {
    CHOL_UNROLL
    for (int v = 0; v < V; ++v) CHOL_UNROLL
    for (int c = 0; c < C; ++c) t.e[v][c] = Elements<T>::load(at(strip + v, j + c));
  }
  template <int V, int C>
  CHOL_INLINE void store(const RegisterTile<T, V, C>& t, int64_t strip, int64_t j) const {
    CHOL_UNROLL
    for (int v = 0; v < V; ++v) CHOL_UNROLL
    for (int c = 0; c < C; ++c) t.e[v][c].store(at(strip + v, j + c));
  }

  /// t(:, c) -= X(:, k) * op(l[c * step]) for k = from, from + Direction, ..., before `to`, with l
  /// moving on by k_step.
  template <bool Conj, int Direction, int V, int C>
  CHOL_INLINE void subtract_unknowns(RegisterTile<T, V, C>& t, int64_t strip, const T* l,
                                     int64_t step, int64_t k_step, int64_t from, int64_t to) const {
    for (int64_t k = from; k != to; k += Direction, l += k_step) {
      Elements<T> x[V];
      CHOL_UNROLL
      for (int v = 0; v < V; ++v) x[v] = Elements<T>::load(at(strip + v, k));
      CHOL_UNROLL
      for (int c = 0; c < C; ++c) {
        const Scalar<T> b(l + c * step);
        CHOL_UNROLL
        for (int v = 0; v < V; ++v) t.e[v][c] = subtract<Conj>(t.e[v][c], Operand<T>(x[v]), b);
      }
    }
  }

  /// Unknowns [j, j + C) from those in [start, j).
  template <bool Conj, int V, int C>
  CHOL_INLINE void forward_tile(int64_t strip, int64_t j, int64_t start) const {
    RegisterTile<T, V, C> t;
    load(t, strip, j);
    subtract_unknowns<Conj, 1>(t, strip, L.at(j, start), L.rs, L.cs, start, j);
    CHOL_UNROLL
    for (int c = 0; c < C; ++c) {
      CHOL_UNROLL
      for (int k = 0; k < c; ++k) {
        const Scalar<T> b(L.at(j + c, j + k));
        CHOL_UNROLL
        for (int v = 0; v < V; ++v) t.e[v][c] = subtract<Conj>(t.e[v][c], Operand<T>(t.e[v][k]), b);
      }
      CHOL_UNROLL
      for (int v = 0; v < V; ++v) t.e[v][c] = t.e[v][c].scaled(reciprocal[j + c]);
    }
    store(t, strip, j);
  }
  /// Unknowns [j, j + C) from those in [j + C, n), the last first: every unknown takes the others
  /// in the order they become known, so that the bits depend on no tile size.
  template <bool Conj, int V, int C>
  CHOL_INLINE void backward_tile(int64_t strip, int64_t j) const {
    RegisterTile<T, V, C> t;
    load(t, strip, j);
    subtract_unknowns<Conj, -1>(t, strip, L.at(n - 1, j), L.cs, -L.rs, n - 1, j + C - 1);
    CHOL_UNROLL
    for (int c = C - 1; c >= 0; --c) {
      CHOL_UNROLL
      for (int k = C - 1; k > c; --k) {
        const Scalar<T> b(L.at(j + k, j + c));
        CHOL_UNROLL
        for (int v = 0; v < V; ++v) t.e[v][c] = subtract<Conj>(t.e[v][c], Operand<T>(t.e[v][k]), b);
      }
      CHOL_UNROLL
      for (int v = 0; v < V; ++v) t.e[v][c] = t.e[v][c].scaled(reciprocal[j + c]);
    }
    store(t, strip, j);
  }

  /// Both substitutions on V strips; unknowns before `start` are zero after the forward one and not
  /// wanted after the backward one.
  template <bool ConjForward, int V>
  void substitute(int64_t strip, int64_t start) const {
    const int64_t whole = start + (n - start) / NR * NR;
    for (int64_t j = start; j < whole; j += NR) {
      if (coming && strip == 0) fetch_columns<T>(*coming, j, j + NR);
      forward_tile<ConjForward, V, NR>(strip, j, start);
    }
    for (int64_t j = whole; j < n; ++j) forward_tile<ConjForward, V, 1>(strip, j, start);
    for (int64_t j = n - 1; j >= whole; --j) backward_tile<!ConjForward, V, 1>(strip, j);
    for (int64_t j = whole - NR; j >= start; j -= NR) backward_tile<!ConjForward, V, NR>(strip, j);
  }
  template <bool ConjForward>
  void substitute_strips(int64_t strips, int64_t start) const {
    int64_t strip = 0;
    for (; strip + MV <= strips; strip += MV) substitute<ConjForward, MV>(strip, start);
    for (; strip < strips; ++strip) substitute<ConjForward, 1>(strip, start);
  }
};

/// Four unknowns of W right-hand sides at a time between B and the strips; right-hand sides past
/// `count` are zero in the strips.
template <class T, bool ToStrips>
inline void move_strips(const TransposedSolve<T>& s, T* B, int64_t ldb, int64_t count) {
  constexpr int W = Elements<T>::width;
  for (int64_t strip = 0; strip * W < count; ++strip)
    for (int64_t j = 0; j < s.n; j += 4) {
      const int64_t rows = smaller<int64_t>(W, count - strip * W);
      const int64_t length = smaller<int64_t>(4, s.n - j);
      const auto row = [&](int r) {
        return B + smaller<int64_t>(strip * W + r, count - 1) * ldb + j;
      };
      const auto part = [&](int r) -> int64_t { return r < rows ? length : 0; };
      Elements<T> four[4];
      if constexpr (ToStrips) {
        load_rows(row, part, four);
        for (int64_t e = 0; e < length; ++e) four[e].store(s.at(strip, j + e));
      } else {
        for (int64_t e = 0; e < 4; ++e)
          four[e] = Elements<T>::load(s.at(strip, j + smaller(e, length - 1)));
        store_rows(row, part, four);
      }
    }
}

/// Buffer of a solve: n reciprocals, then the strips.
template <class T>
struct SolveBuffer {
  static constexpr int W = Elements<T>::width;
  static constexpr size_t kAlign = 64;
  static size_t reciprocal_bytes(int64_t n) {
    return round_up(n * static_cast<int64_t>(sizeof(RealOf<T>)), kAlign);
  }
  static size_t bytes(int64_t n, int64_t nrhs) {
    return reciprocal_bytes(n) + sizeof(T) * round_up(nrhs, W) * n;
  }
  static TransposedSolve<T> solve_on(const host::PanelMatrix& M, void* buffer) {
    auto* reciprocal = static_cast<RealOf<T>*>(buffer);
    const FactorView<T> L(M);
    for (int64_t j = 0; j < M.n; ++j)
      reciprocal[j] = RealOf<T>(1) / Elements<T>::reals(L.at(j, j))[0];
    return {L, M.n, reciprocal,
            reinterpret_cast<T*>(static_cast<char*>(buffer) + reciprocal_bytes(M.n)), M.next};
  }
};

template <class T>
inline void solve(const host::PanelMatrix& M, void* B, int64_t ldb, int64_t column,
                  int64_t column_end, void* buffer) {
  constexpr int W = Elements<T>::width;
  const TransposedSolve<T> s = SolveBuffer<T>::solve_on(M, buffer);
  T* first = static_cast<T*>(B) + column * ldb;
  const int64_t count = column_end - column;
  move_strips<T, true>(s, first, ldb, count);
  if (M.upper)
    s.template substitute_strips<true>((count + W - 1) / W, 0);
  else
    s.template substitute_strips<false>((count + W - 1) / W, 0);
  move_strips<T, false>(s, first, ldb, count);
}

}  // namespace chol::CHOL_ISA
