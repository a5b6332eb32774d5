// Vectors of consecutive elements of one matrix: a register of W reals, or of W / 2 complex numbers
// with real and imaginary parts in turn.
#pragma once

#include "host/kernels/within/scalar.hpp"

namespace chol::CHOL_ISA {

template <class T>
struct Elements {
  using R = RealOf<T>;
  using V = Vec<R>;
  static constexpr int kReals = is_complex<T> ? 2 : 1;
  static constexpr int width = V::width / kReals;
  V v;

  CHOL_INLINE static const R* reals(const T* p) { return reinterpret_cast<const R*>(p); }
  CHOL_INLINE static R* reals(T* p) { return reinterpret_cast<R*>(p); }
  CHOL_INLINE static Elements zero() { return {V::zero()}; }
  CHOL_INLINE static Elements load(const T* p) { return {V::load(reals(p))}; }
  CHOL_INLINE static Elements load_range(const T* p, int64_t from, int64_t to) {
    return {V::load_range(reals(p), kReals * from, kReals * to)};
  }
  CHOL_INLINE void store(T* p) const { v.store(reals(p)); }
  CHOL_INLINE void store_range(T* p, int64_t from, int64_t to) const {
    v.store_range(reals(p), kReals * from, kReals * to);
  }
  CHOL_INLINE Elements conjugated() const {
    if constexpr (is_complex<T>)
      return {negate_odd(v)};
    else
      return *this;
  }
  CHOL_INLINE Elements scaled(R factor) const { return {mul(v, V::broadcast(factor))}; }
  CHOL_INLINE R real_of_lane(int lane) const {
    return first_lane(broadcast_lane(v, kReals * lane));
  }
  CHOL_INLINE R imaginary_of_lane(int lane) const {
    return first_lane(broadcast_lane(v, kReals * lane + 1));
  }
};

/// The vector factor of a product. For complex numbers the parts are also stored swapped, with the
/// sign that a product with conj(b) needs.
template <class T>
struct Operand {
  using V = Vec<RealOf<T>>;
  V v, swapped;
  CHOL_INLINE explicit Operand(Elements<T> a) : v(a.v), swapped(a.v) {
    if constexpr (is_complex<T>) swapped = negate_odd(swap_pairs(a.v));
  }
};

/// The scalar factor of a product.
template <class T>
struct Scalar {
  using R = RealOf<T>;
  using V = Vec<R>;
  V re, im;
  CHOL_INLINE explicit Scalar(const T* p) : re(V::broadcast(Elements<T>::reals(p)[0])), im(re) {
    if constexpr (is_complex<T>) im = V::broadcast(Elements<T>::reals(p)[1]);
  }
  CHOL_INLINE Scalar(Elements<T> a, int lane)
      : re(broadcast_lane(a.v, Elements<T>::kReals * lane)), im(re) {
    if constexpr (is_complex<T>) im = broadcast_lane(a.v, 2 * lane + 1);
  }
};

/// acc - a * op(b), op conjugating when Conj: by the same fused steps in the same order as the
/// lanes (lane/element.hpp), so that both give the same bits.
template <bool Conj, class T>
CHOL_INLINE Elements<T> subtract(Elements<T> acc, const Operand<T>& a, const Scalar<T>& b) {
  acc.v = fnma(acc.v, a.v, b.re);
  if constexpr (is_complex<T>)
    acc.v = Conj ? fnma(acc.v, a.swapped, b.im) : fma(acc.v, a.swapped, b.im);
  return acc;
}

/// acc + a * op(b) by the same steps.
template <bool Conj, class T>
CHOL_INLINE Elements<T> add(Elements<T> acc, const Operand<T>& a, const Scalar<T>& b) {
  acc.v = fma(acc.v, a.v, b.re);
  if constexpr (is_complex<T>)
    acc.v = Conj ? fma(acc.v, a.swapped, b.im) : fnma(acc.v, a.swapped, b.im);
  return acc;
}

/// N = 4 or 2 or, as far as kRowRun and kLineReals go, 8 or 16 consecutive reals of each of `width`
/// rows to and from N vectors across the rows. With N = 16 all elements are moved; with N = 2 at
/// least one.
template <int N, class Row, class Count, class V>
CHOL_INLINE void load_reals(Row row, Count count, V (&out)[N]) {
  if constexpr (N == 16)
    load16(row, count, out);
  else if constexpr (N == 8)
    load8(row, count, out);
  else if constexpr (N == 4)
    load4(row, count, out);
  else
    load2(row, count, out);
}
template <int N, class Row, class Count, class V>
CHOL_INLINE void store_reals(Row row, Count count, const V (&in)[N]) {
  if constexpr (N == 16)
    store16(row, count, in);
  else if constexpr (N == 8)
    store8(row, count, in);
  else if constexpr (N == 4)
    store4(row, count, in);
  else
    store2(row, count, in);
}

/// Of the first `count` elements those of the four from `first` on.
template <int first>
CHOL_INLINE constexpr int64_t four_from(int64_t count) {
  return smaller<int64_t>(larger<int64_t>(count - first, 0), 4);
}
/// load_reals and store_reals four at once.
template <int first = 0, int N, class Row, class Count, class V>
CHOL_INLINE void load_fours(Row row, Count count, V (&out)[N]) {
  V four[4];
  load4([&](int i) { return row(i) + first; }, [&](int i) { return four_from<first>(count(i)); },
        four);
  CHOL_UNROLL
  for (int e = 0; e < 4; ++e) out[first + e] = four[e];
  if constexpr (first + 4 < N) load_fours<first + 4>(row, count, out);
}
template <int first = 0, int N, class Row, class Count, class V>
CHOL_INLINE void store_fours(Row row, Count count, const V (&in)[N]) {
  const V four[4] = {in[first], in[first + 1], in[first + 2], in[first + 3]};
  store4([&](int i) { return row(i) + first; }, [&](int i) { return four_from<first>(count(i)); },
         four);
  if constexpr (first + 4 < N) store_fours<first + 4>(row, count, in);
}

/// N consecutive elements of each of `width` rows to and from N vectors across the rows; of row i
/// only the first count(i) elements are touched.
template <class T, int N, class Row, class Count>
CHOL_INLINE void load_rows(Row row, Count count, Elements<T> (&out)[N]) {
  using R = RealOf<T>;
  if constexpr (!is_complex<T>) {
    Vec<R> v[N];
    load_reals(row, count, v);
    CHOL_UNROLL
    for (int e = 0; e < N; ++e) out[e].v = v[e];
  } else if constexpr (sizeof(R) == 4) {
    // A single precision complex number moves as one 64-bit word, four at once: halves of registers
    // are combined by loads, which saves shuffles.
    Vec<double> v[N];
    load_fours([&](int i) { return reinterpret_cast<const double*>(row(i)); }, count, v);
    CHOL_UNROLL
    for (int e = 0; e < N; ++e) out[e].v = bits_as_float(v[e]);
  } else {
    static const T nothing = {0, 0};
    CHOL_UNROLL
    for (int e = 0; e < N; ++e)
      out[e].v = load_pairs(
          [&](int i) { return Elements<T>::reals(e < count(i) ? row(i) + e : &nothing); });
  }
}
template <class T, int N, class Row, class Count>
CHOL_INLINE void store_rows(Row row, Count count, const Elements<T> (&in)[N]) {
  using R = RealOf<T>;
  if constexpr (!is_complex<T>) {
    Vec<R> v[N];
    CHOL_UNROLL
    for (int e = 0; e < N; ++e) v[e] = in[e].v;
    store_reals(row, count, v);
  } else if constexpr (sizeof(R) == 4) {
    Vec<double> v[N];
    CHOL_UNROLL
    for (int e = 0; e < N; ++e) v[e] = bits_as_double(in[e].v);
    store_fours([&](int i) { return reinterpret_cast<double*>(row(i)); }, count, v);
  } else {
    CHOL_UNROLL
    for (int i = 0; i < Elements<T>::width; ++i) CHOL_UNROLL
    for (int e = 0; e < N; ++e)
      if (e < count(i)) store_pair(in[e].v, i, Elements<T>::reals(row(i) + e));
  }
}

}  // namespace chol::CHOL_ISA
