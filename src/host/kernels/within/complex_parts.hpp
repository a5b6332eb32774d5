// Register tiles of complex numbers with separate vectors of real and imaginary parts: products
// then need neither swapped factors nor sign changes, and the products of each part can be added in
// the required order.
#pragma once

#include "host/kernels/within/triangle_view.hpp"

namespace chol::CHOL_ISA {

/// One step of a part of a product that is subtracted, or added when Plus.
template <bool Plus, class V>
CHOL_INLINE V step(V acc, V a, V b) {
  return Plus ? fma(acc, a, b) : fnma(acc, a, b);
}

/// The parts of a vector, or of two: of a single one both halves hold the same.
template <class T>
struct Parts {
  using V = Vec<RealOf<T>>;
  V re, im;

  template <int N>
  CHOL_INLINE static Parts of(const Elements<T> (&e)[N]) {
    static_assert(N <= 2);
    Parts p;
    split_pairs(e[0].v, e[N - 1].v, p.re, p.im);
    return p;
  }

  /// This minus a * op(b), op conjugating when Conj, or plus that when Plus: by the same fused
  /// steps in the same order as subtract() and add() (vector.hpp).
  template <bool Conj, bool Plus>
  CHOL_INLINE void take(const Parts& a, const Scalar<T>& b) {
    re = step<Plus>(re, a.re, b.re);
    im = step<Plus>(im, a.im, b.re);
    re = step < Conj ? Plus : !Plus > (re, a.im, b.im);
    im = step < Conj ? !Plus : Plus > (im, a.re, b.im);
  }
  /// This minus b * conj(a): take() with its factors exchanged. The two products of an imaginary
  /// part must be added in the order used for the lower triangle (lane/element.hpp), which the
  /// exchange reverses.
  template <bool Plus>
  CHOL_INLINE void take_across(const Parts& a, const Scalar<T>& b) {
    re = step<Plus>(re, a.re, b.re);
    im = step<Plus>(im, a.re, b.im);
    re = step<Plus>(re, a.im, b.im);
    im = step<!Plus>(im, a.im, b.re);
  }
};

/// The parts of a tile of up to two vectors by C columns.
template <class T, int C>
struct PartsTile {
  Parts<T> p[C];

  template <int V>
  CHOL_INLINE explicit PartsTile(const RegisterTile<T, V, C>& t) {
    static_assert(V <= 2);
    CHOL_UNROLL
    for (int c = 0; c < C; ++c) split_pairs(t.e[0][c].v, t.e[V - 1][c].v, p[c].re, p[c].im);
  }
  template <int V>
  CHOL_INLINE void join(RegisterTile<T, V, C>& t) const {
    CHOL_UNROLL
    for (int c = 0; c < C; ++c) join_pairs(p[c].re, p[c].im, t.e[0][c].v, t.e[V - 1][c].v);
  }
};

}  // namespace chol::CHOL_ISA
