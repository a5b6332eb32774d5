// Solves with a factor, many right-hand sides at once.
//
// X^T is stored in strips of W right-hand sides, one unknown after the other, so that forward and
// backward substitution are the panel's fused update and solve with right-hand sides as rows. The
// factor is read in place as scalars, for both triangles.
#pragma once

#include "host/kernels/within/complex_parts.hpp"
#include "host/kernels/within/panel.hpp"
#include "lane/tile.hpp"

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
  static constexpr int NR = kProductColumns<T>;
  static constexpr int kFew = kTileColumns<T>;  ///< unknowns of a smaller tile, where NR is more
  static constexpr int MV = kTileVectors<T>;
  static constexpr int P = kRowRun;
  /// Unknowns of a block, a multiple of NR, such that a packed coupling fills a third of the
  /// first-level cache; fewer for few right-hand sides, where columns of L are read in place.
  static constexpr int64_t kBlock = smaller<int64_t>(256, 16384 / (NR * sizeof(T))) / NR * NR;
  static constexpr int64_t kFewBlock = 64 / NR * NR;
  /// Packing writes whole vectors of P columns.
  static constexpr int64_t kBufferElements = (kBlock + P) * NR + W;
  static constexpr int64_t kTilesAhead = 2;
  /// Prefetch distance from the second-level cache, in unknowns.
  static constexpr int kAhead = 8;

  FactorView<T> L;
  int64_t n;
  const R* reciprocal;
  T* X;  ///< strips of W right-hand sides: element (r, j) at X[(r / W * n + j) * W + r % W]
  const host::PanelMatrix* coming;  ///< prefetched during the solve, or nullptr

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

  /// The elements of L that couple unknowns j + c with unknowns k: at l[c * step + k * k_step].
  struct Coupling {
    const T* l;
    int64_t step, k_step;
  };
  /// Of unknowns after (Forward) or before the unknowns k, k counted from `first`.
  template <bool Forward>
  CHOL_INLINE Coupling coupling(int64_t j, int64_t first) const {
    if constexpr (Forward) return {L.at(j, first), L.rs, L.cs};
    return {L.at(first, j), L.cs, L.rs};
  }
  /// Packs the coupling of NR unknowns with `count` others contiguously. Lines a power of two apart
  /// would share a set of the first-level cache and be evicted before the next strips.
  CHOL_INLINE static Coupling packed(const Coupling& from, int64_t count, T* to) {
    if (from.step == 1) {
      using R = RealOf<T>;
      constexpr int kReals = NR * int(sizeof(T) / sizeof(R));
      for (int64_t k = 0; k < count; ++k) {
        const R* p = Elements<T>::reals(from.l + k * from.k_step);
        CHOL_UNROLL
        for (int c = 0; c < kReals; ++c) Elements<T>::reals(to + k * NR)[c] = p[c];
      }
    } else {
      constexpr int V = (NR + W - 1) / W;
      const ByRows<T> A{const_cast<T*>(from.l), from.step};
      for (int64_t k = 0; k < count; k += P) {
        RegisterTile<T, V, P> t;
        A.template load<kNoDiagonal, false>(t, 0, NR, k, count);
        for (int64_t c = 0; c < P; ++c) CHOL_UNROLL
        for (int v = 0; v < V; ++v) t.e[v][c].store(to + (k + c) * NR + v * W);
      }
    }
    return {to, 1, NR};
  }

  /// Contiguous lines of a packed coupling of NR unknowns.
  struct Walk {
    const T* p;
    int64_t step, length, left, jump;

    static Walk nowhere(const T* p) { return {p, 0, INT64_MAX, INT64_MAX, 0}; }
    static Walk along(const Coupling& with, int64_t count) {
      if (with.step == 1) return {with.l, with.k_step, count, INT64_MAX, 0};
      const int64_t length = larger<int64_t>(count / NR, 1);
      return {with.l, NR, length, length, with.step - length * NR};
    }
    CHOL_INLINE void fetch_next() {
      __builtin_prefetch(p, 0, 3);
      if constexpr (NR * sizeof(T) > 64) __builtin_prefetch(p + 64 / sizeof(T), 0, 3);
      p += step;
      if (--left == 0) {
        left = length;
        p += jump;
      }
    }
  };

  /// t(:, c) -= X(:, k) * op(L(c, k)) for `count` unknowns k from `first` on, the last first when
  /// not Forward: every unknown is updated by the others in the order in which they become known,
  /// so that the bits do not depend on the block size.
  ///
  /// If Fetches, one line of the next coupling is prefetched a step: all at once would delay the
  /// loads of this product. Real numbers are processed four at a time where the coupling is Packed:
  /// see subtract_strips().
  template <bool Forward, bool Conj, bool Packed, bool Fetches, int V, int C>
  CHOL_INLINE void subtract_unknowns(RegisterTile<T, V, C>& t, int64_t strip, int64_t first,
                                     int64_t count, const Coupling& with, Walk ahead) const {
    const T* x = at(strip, first);
    const T* l = with.l;
    int64_t x_step = W, l_step = Packed ? NR : with.k_step;
    const int64_t c_step = Packed ? 1 : with.step;
    if constexpr (!Forward) {
      x += (count - 1) * x_step;
      l += (count - 1) * l_step;
      x_step = -x_step;
      l_step = -l_step;
    }
    const auto step = [&](int64_t k, const auto& body) {
      if constexpr (Fetches) ahead.fetch_next();
      Elements<T> a[V];
      CHOL_UNROLL
      for (int v = 0; v < V; ++v) a[v] = Elements<T>::load(x + v * n * W + k * x_step);
      body(a, l + k * l_step);
    };
    constexpr int kSteps = Packed && !is_complex<T> ? 4 : 1;
    constexpr int kLine = larger<int>(1, 64 / (W * int(sizeof(T))));
    const auto for_each_unknown = [&](const auto& body) {
      int64_t k = 0;
      for (; k + kSteps <= count; k += kSteps, x += kSteps * x_step, l += kSteps * l_step) {
        CHOL_UNROLL
        for (int u = 0; u < kSteps; ++u) {
          if (!is_complex<T> && u % kLine == 0) {
            CHOL_UNROLL
            for (int v = 0; v < V; ++v)
              __builtin_prefetch(x + v * n * W + (u + kAhead) * x_step, 0, 3);
          }
          step(u, body);
        }
      }
      for (; k < count; ++k, x += x_step, l += l_step) step(0, body);
    };
    if constexpr (is_complex<T> && V == 2) {
      PartsTile<T, C> parts(t);
      for_each_unknown([&](const Elements<T>(&e)[V], const T* l) {
        const auto a = Parts<T>::of(e);
        CHOL_UNROLL
        for (int c = 0; c < C; ++c)
          parts.p[c].template take<Conj, false>(a, Scalar<T>(l + c * c_step));
      });
      parts.join(t);
    } else {
      for_each_unknown([&](const Elements<T>(&a)[V], const T* l) {
        CHOL_UNROLL
        for (int c = 0; c < C; ++c) {
          const Scalar<T> b(l + c * c_step);
          CHOL_UNROLL
          for (int v = 0; v < V; ++v) t.e[v][c] = subtract<Conj>(t.e[v][c], Operand<T>(a[v]), b);
        }
      });
    }
  }

  /// Unknowns [j, j + C) from `count` others that are known, and from each other when Last.
  template <bool Forward, bool Conj, bool Last, int V, int C>
  CHOL_INLINE void tile(int64_t strip, int64_t j, int64_t first, int64_t count,
                        const Coupling& with, bool is_packed, const Walk& ahead) const {
    RegisterTile<T, V, C> t;
    load(t, strip, j);
    if (C < NR || !is_packed)
      subtract_unknowns<Forward, Conj, false, !Last>(t, strip, first, count, with, ahead);
    else if (Last || ahead.step == 0)
      subtract_unknowns<Forward, Conj, true, false>(t, strip, first, count, with, ahead);
    else
      subtract_unknowns<Forward, Conj, true, true>(t, strip, first, count, with, ahead);
    if constexpr (Last) {
      CHOL_UNROLL
      for (int step = 0; step < C; ++step) {
        const int c = Forward ? step : C - 1 - step;
        CHOL_UNROLL
        for (int before = 0; before < step; ++before) {
          const int k = Forward ? before : C - 1 - before;
          const Scalar<T> b(Forward ? L.at(j + c, j + k) : L.at(j + k, j + c));
          CHOL_UNROLL
          for (int v = 0; v < V; ++v)
            t.e[v][c] = subtract<Conj>(t.e[v][c], Operand<T>(t.e[v][k]), b);
        }
        CHOL_UNROLL
        for (int v = 0; v < V; ++v) t.e[v][c] = t.e[v][c].scaled(reciprocal[j + c]);
      }
    }
    store(t, strip, j);
  }

  /// Whether a coupling is read more than once.
  CHOL_INLINE static bool reads_again(int64_t strips) { return strips > MV; }
  CHOL_INLINE static int64_t block_of(int64_t strips) {
    return reads_again(strips) ? kBlock : kFewBlock;
  }

  /// body(V, first strip) for groups of up to MV strips, of nearly equal size.
  template <class Body>
  CHOL_INLINE static void for_each_group(int64_t strips, const Body& body) {
    const int64_t groups = (strips + MV - 1) / MV;
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t strip = strips * g / groups, count = strips * (g + 1) / groups - strip;
      if (count == MV)
        body(Count<MV>{}, strip);
      else if (MV > 2 && count == 2)
        body(Count<2>{}, strip);
      else
        body(Count<1>{}, strip);
    }
  }

  /// Unknowns [j, j + NR) of the group of strips from `strip` on.
  CHOL_INLINE void fetch_unknowns(int64_t strips, int64_t strip, int64_t j) const {
    for (int64_t s = strip; s < smaller<int64_t>(strip + MV, strips); ++s)
      fetch(at(s, j), NR * W * int64_t(sizeof(T)));
  }

  /// Unknowns [j, j + C) of all strips from those in [first, last), forwards or backwards, and from
  /// each other when Last.
  /// @param ahead the next coupling
  template <bool Forward, bool Conj, bool Last, int C>
  CHOL_INLINE void tile_of_strips(int64_t strips, int64_t j, int64_t first, int64_t last, T* buffer,
                                  const Walk& ahead) const {
    Coupling with = coupling<Forward>(j, first);
    const int64_t count = last - first;
    const bool is_packed = C == NR && reads_again(strips) && count > 0;
    if (is_packed) with = packed(with, count, buffer);
    const int64_t j_after = larger<int64_t>(smaller(Forward ? j + C : j - NR, n - NR), 0);
    for_each_group(strips, [&](auto V, int64_t strip) {
      // With many strips, prefetches the next unknowns during this product.
      const int64_t after = strip + V.value;
      after < strips ? fetch_unknowns(strips, after, j) : fetch_unknowns(strips, 0, j_after);
      tile<Forward, Conj, Last, V.value, C>(strip, j, first, count, with, is_packed,
                                            strip == 0 ? ahead : Walk::nowhere(at(strip, j)));
    });
  }

  /// Substitution by blocks of unknowns: once a block is solved, all unknowns that depend on it are
  /// updated, so that a block of the factor's columns is read once for all right-hand sides and the
  /// block's unknowns stay in cache (Goto, van de Geijn 2008).
  ///
  /// Both sets may be restricted to ranges, preferably of multiples of NR: unknowns [row, row_end)
  /// are updated by [first, last). The ranges are equal, or disjoint with all earlier updates done.
  struct Ranges {
    int64_t first, last, row, row_end;
  };
  /// body(C, j) for tiles [j, j + C) of [from, to), in the order of substitution. A remainder of
  /// less than NR unknowns comes last in forward and first in backward substitution.
  template <bool Forward, class Body>
  CHOL_INLINE static void for_each_tile(int64_t from, int64_t to, const Body& body) {
    if (from >= to) return;
    const int64_t whole = (to - from) / NR, rest = (to - from) % NR;
    const int64_t few = rest / kFew, ones = rest % kFew;
    int64_t j = Forward ? from : to;
    const auto take = [&](auto C, int64_t count) {
      for (; count > 0; --count) {
        if (!Forward) j -= C.value;
        body(C, j);
        if (Forward) j += C.value;
      }
    };
    if (!Forward) take(Count<1>{}, ones);
    if constexpr (!Forward && kFew < NR) take(Count<kFew>{}, few);
    take(Count<NR>{}, whole);
    if constexpr (Forward && kFew < NR) take(Count<kFew>{}, few);
    if (Forward) take(Count<1>{}, ones);
  }
  template <bool Conj>
  void forward(int64_t strips, const Ranges& r) const {
    alignas(64) T buffer[kBufferElements];
    const int64_t block = block_of(strips);
    for (int64_t first = r.first; first < r.last; first += block) {
      const int64_t last = smaller(first + block, r.last);
      for_each_tile<true>(larger(first, r.row), last, [&](auto C, int64_t j) {
        if (coming) fetch_columns<T>(*coming, j, j + C.value);
        tile_of_strips<true, Conj, true, C.value>(strips, j, first, j, buffer, Walk::nowhere(X));
      });
      for_each_tile<true>(larger(last, r.row), r.row_end, [&](auto C, int64_t j) {
        const int64_t ahead = j + kTilesAhead * NR;
        tile_of_strips<true, Conj, false, C.value>(
            strips, j, first, last, buffer,
            ahead < r.row_end ? Walk::along(coupling<true>(ahead, first), last - first)
                              : Walk::nowhere(X));
      });
    }
  }
  template <bool Conj>
  void backward(int64_t strips, const Ranges& r) const {
    alignas(64) T buffer[kBufferElements];
    const int64_t block = block_of(strips);
    for (int64_t first = r.first + (r.last - r.first - 1) / block * block; first >= r.first;
         first -= block) {
      const int64_t last = smaller(first + block, r.last);
      for_each_tile<false>(first, smaller(last, r.row_end), [&](auto C, int64_t j) {
        tile_of_strips<false, Conj, true, C.value>(strips, j, j + C.value, last, buffer,
                                                   Walk::nowhere(X));
      });
      for_each_tile<false>(r.row, smaller(first, r.row_end), [&](auto C, int64_t j) {
        const int64_t ahead = j - kTilesAhead * NR;
        tile_of_strips<false, Conj, false, C.value>(
            strips, j, first, last, buffer,
            ahead >= r.row ? Walk::along(coupling<false>(ahead, first), last - first)
                           : Walk::nowhere(X));
      });
    }
  }
};

/// Copies four unknowns of W right-hand sides at a time between B and the strips; right-hand sides
/// past `count` are zero in the strips.
template <class T, bool ToStrips>
inline void move_strips(const TransposedSolve<T>& s, T* B, int64_t ldb, int64_t count, int64_t from,
                        int64_t to) {
  constexpr int W = Elements<T>::width;
  for (int64_t strip = 0; strip * W < count; ++strip)
    for (int64_t j = from; j < to; j += 4) {
      const int64_t rows = smaller<int64_t>(W, count - strip * W);
      const int64_t length = smaller<int64_t>(4, to - j);
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
  /// Writes no part of the buffer.
  static TransposedSolve<T> view(const host::PanelMatrix& M, void* buffer) {
    return {FactorView<T>(M), M.n, static_cast<RealOf<T>*>(buffer),
            reinterpret_cast<T*>(static_cast<char*>(buffer) + reciprocal_bytes(M.n)), M.next};
  }
  static void invert_diagonal(const host::PanelMatrix& M, int64_t from, int64_t to, void* buffer) {
    const FactorView<T> L(M);
    for (int64_t j = from; j < to; ++j)
      static_cast<RealOf<T>*>(buffer)[j] = RealOf<T>(1) / Elements<T>::reals(L.at(j, j))[0];
  }
};

/// Copies unknowns [row, row_end) of right-hand sides [column, column_end) to a separate buffer,
/// with the reciprocals of the diagonal; and only the unknowns back.
template <class T>
inline void load_rhs(const host::PanelMatrix& M, void* B, int64_t ldb, int64_t column,
                     int64_t column_end, int64_t row, int64_t row_end, void* buffer) {
  SolveBuffer<T>::invert_diagonal(M, row, row_end, buffer);
  move_strips<T, true>(SolveBuffer<T>::view(M, buffer), static_cast<T*>(B) + column * ldb, ldb,
                       column_end - column, row, row_end);
}
template <class T>
inline void store_rhs(const host::PanelMatrix& M, void* B, int64_t ldb, int64_t column,
                      int64_t column_end, int64_t row, int64_t row_end, void* buffer) {
  move_strips<T, false>(SolveBuffer<T>::view(M, buffer), static_cast<T*>(B) + column * ldb, ldb,
                        column_end - column, row, row_end);
}

/// A part of a substitution on such a buffer: see TransposedSolve::Ranges.
template <class T>
inline void substitute(const host::PanelMatrix& M, bool backward, int64_t nrhs, int64_t first,
                       int64_t last, int64_t row, int64_t row_end, void* buffer) {
  constexpr int W = Elements<T>::width;
  constexpr bool kConj = is_complex<T>;
  const TransposedSolve<T> s = SolveBuffer<T>::view(M, buffer);
  const int64_t strips = (nrhs + W - 1) / W;
  const typename TransposedSolve<T>::Ranges ranges{first, last, row, row_end};
  if (kConj && M.upper)
    backward ? s.template backward<false>(strips, ranges)
             : s.template forward<kConj>(strips, ranges);
  else
    backward ? s.template backward<kConj>(strips, ranges)
             : s.template forward<false>(strips, ranges);
}

template <class T>
inline void solve(const host::PanelMatrix& M, void* B, int64_t ldb, int64_t column,
                  int64_t column_end, void* buffer) {
  const int64_t nrhs = column_end - column;
  load_rhs<T>(M, B, ldb, column, column_end, 0, M.n, buffer);
  substitute<T>(M, false, nrhs, 0, M.n, 0, M.n, buffer);
  substitute<T>(M, true, nrhs, 0, M.n, 0, M.n, buffer);
  store_rhs<T>(M, B, ldb, column, column_end, 0, M.n, buffer);
}

}  // namespace chol::CHOL_ISA
