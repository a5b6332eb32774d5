// Elements of matrices across lanes: one lane a matrix.
//
// A lane type V is a SIMD register of reals on the CPU and a scalar of one thread on a GPU; both
// provide the vocabulary of host/simd. A real element is a V, a complex one a pair of them. Include
// after a vocabulary; everything is defined in that vocabulary's namespace.
#pragma once

/// A function too large to be inlined everywhere.
#ifndef CHOL_FUNCTION
#define CHOL_FUNCTION inline
#endif

namespace chol::CHOL_ISA {

/// CHOL_PAIR_ALIGNMENT allows a vocabulary whose lanes are in the caller's memory to read a pair by
/// one access.
#ifndef CHOL_PAIR_ALIGNMENT
#define CHOL_PAIR_ALIGNMENT
#endif

template <class V>
struct CHOL_PAIR_ALIGNMENT ComplexLane {
  V re, im;
};

template <class E>
struct LaneTraits {
  using Real = E;
  static constexpr bool is_complex = false;
  static constexpr int reals = 1;
};
template <class V>
struct LaneTraits<ComplexLane<V>> {
  using Real = V;
  static constexpr bool is_complex = true;
  static constexpr int reals = 2;
};
template <class E>
using RealLaneOf = typename LaneTraits<E>::Real;

/// acc - op(a) * op(b), op conjugating where asked. Every kernel of the library forms a product of
/// complex numbers by the same four fused steps in the same order, so that all give the same bits.
template <bool ConjA, bool ConjB, class V>
CHOL_INLINE V subtract(V acc, V a, V b) {
  return fnma(acc, a, b);
}
template <bool ConjA, bool ConjB, class V>
CHOL_INLINE ComplexLane<V> subtract(ComplexLane<V> acc, ComplexLane<V> a, ComplexLane<V> b) {
  acc.re = fnma(acc.re, a.re, b.re);
  acc.im = ConjA ? fma(acc.im, a.im, b.re) : fnma(acc.im, a.im, b.re);
  acc.re = ConjA != ConjB ? fnma(acc.re, a.im, b.im) : fma(acc.re, a.im, b.im);
  acc.im = ConjB ? fma(acc.im, a.re, b.im) : fnma(acc.im, a.re, b.im);
  return acc;
}

template <class V>
CHOL_INLINE V scale(V a, V factor) {
  return mul(a, factor);
}
template <class V>
CHOL_INLINE ComplexLane<V> scale(ComplexLane<V> a, V factor) {
  return {mul(a.re, factor), mul(a.im, factor)};
}

template <class V>
CHOL_INLINE V real_part(V a) {
  return a;
}
template <class V>
CHOL_INLINE V real_part(ComplexLane<V> a) {
  return a.re;
}

template <class E>
CHOL_INLINE E from_real(RealLaneOf<E> a) {
  if constexpr (LaneTraits<E>::is_complex)
    return {a, RealLaneOf<E>::zero()};
  else
    return a;
}
template <class E>
CHOL_INLINE E zero_element() {
  return from_real<E>(RealLaneOf<E>::zero());
}

/// How the root of a pivot and its reciprocal are computed: as exactly as the vocabulary does by
/// default,
struct IeeeMath {
  template <class V>
  CHOL_INLINE static void take_root(V x, V& root, V& reciprocal) {
    invert_root(x, root, reciprocal);
  }
};
/// or to a few units in the last place, if that is faster.
struct FastMath {
  template <class V>
  CHOL_INLINE static void take_root(V x, V& root, V& reciprocal) {
    approximate_root(x, root, reciprocal);
  }
};

/// Computes the diagonal element of the factor from a pivot and returns its reciprocal. A lane
/// whose pivot is not a positive finite number stores `order` in info, unless it failed before, and
/// gets the reciprocal 0: its later columns then stay finite and raise no floating-point exception.
template <class Math = IeeeMath, class V>
CHOL_INLINE V take_pivot(V& pivot, V& info, typename V::Real order) {
  using R = typename V::Real;
  const auto good = between(pivot, V::zero(), V::broadcast(kLargest<R>));
  V root, reciprocal;
  Math::take_root(select(good, pivot, V::broadcast(R(1))), root, reciprocal);
  info = select(good, info, select(is_zero(info), V::broadcast(order), info));
  pivot = select(good, root, pivot);
  return select(good, reciprocal, V::zero());
}

}  // namespace chol::CHOL_ISA
