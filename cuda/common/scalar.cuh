// Element types on the device. std::complex has no alignment that would let a
// load be one access, and its product has NaN branches, so kernels use a plain
// pair of the same bits (device_type.hpp). What every kernel includes stays clear of the standard
// library's large headers, which take longer to compile than most kernels.
#pragma once

#include <cfloat>
#include <cstdint>

namespace chol::cuda {

template <class R>
struct alignas(2 * sizeof(R)) Complex {
  R re, im;
};

template <class T>
struct Traits {
  using Real = T;
  static constexpr bool is_complex = false;
};
template <class R>
struct Traits<Complex<R>> {
  using Real = R;
  static constexpr bool is_complex = true;
};
template <class T>
using Real = typename Traits<T>::Real;

template <class I>
__host__ __device__ constexpr I smaller(I a, I b) {
  return a < b ? a : b;
}
template <class I, class... More>
__host__ __device__ constexpr I larger(I a, More... more) {
  ((a = a < more ? more : a), ...);
  return a;
}

template <class T>
__device__ __forceinline__ Real<T> real(T x) {
  if constexpr (Traits<T>::is_complex)
    return x.re;
  else
    return x;
}
template <class T>
__device__ __forceinline__ T from_real(Real<T> x) {
  if constexpr (Traits<T>::is_complex)
    return {x, Real<T>(0)};
  else
    return x;
}
template <class T>
__device__ __forceinline__ T conj(T x) {
  if constexpr (Traits<T>::is_complex)
    return {x.re, -x.im};
  else
    return x;
}
template <class T>
__device__ __forceinline__ T conj_if(bool yes, T x) {
  if constexpr (Traits<T>::is_complex) x.im = yes ? -x.im : x.im;
  return x;
}
template <class T>
__device__ __forceinline__ T scale(T x, Real<T> r) {
  if constexpr (Traits<T>::is_complex)
    return {x.re * r, x.im * r};
  else
    return x * r;
}
template <class T>
__device__ __forceinline__ T add(T x, T y) {
  if constexpr (Traits<T>::is_complex)
    return {x.re + y.re, x.im + y.im};
  else
    return x + y;
}
template <class T>
__device__ __forceinline__ T subtract(T x, T y) {
  if constexpr (Traits<T>::is_complex)
    return {x.re - y.re, x.im - y.im};
  else
    return x - y;
}
template <class T>
__device__ __forceinline__ T negative(T x) {
  if constexpr (Traits<T>::is_complex)
    return {-x.re, -x.im};
  else
    return -x;
}
/// c - a b
template <class T>
__device__ __forceinline__ T subtract_product(T c, T a, T b) {
  if constexpr (Traits<T>::is_complex) {
    c.re = fma(-a.re, b.re, c.re);
    c.re = fma(a.im, b.im, c.re);
    c.im = fma(-a.re, b.im, c.im);
    c.im = fma(-a.im, b.re, c.im);
    return c;
  } else {
    return fma(-a, b, c);
  }
}
/// c - a conj(b)
template <class T>
__device__ __forceinline__ T subtract_product_conj(T c, T a, T b) {
  return subtract_product(c, a, conj(b));
}
/// c + a conj(b)
template <class T>
__device__ __forceinline__ T add_product_conj(T c, T a, T b) {
  if constexpr (Traits<T>::is_complex) {
    c.re = fma(a.re, b.re, c.re);
    c.re = fma(a.im, b.im, c.re);
    c.im = fma(a.im, b.re, c.im);
    c.im = fma(-a.re, b.im, c.im);
    return c;
  } else {
    return fma(a, b, c);
  }
}
/// c + conj(a) b
template <class T>
__device__ __forceinline__ T add_conj_product(T c, T a, T b) {
  return subtract_product(c, negative(conj(a)), b);
}
/// c + x r
template <class T>
__device__ __forceinline__ T add_scaled(T c, T x, Real<T> r) {
  if constexpr (Traits<T>::is_complex)
    return {fma(x.re, r, c.re), fma(x.im, r, c.im)};
  else
    return fma(x, r, c);
}
template <class T>
__device__ __forceinline__ T select(bool first, T x, T y) {
  if constexpr (Traits<T>::is_complex)
    return {first ? x.re : y.re, first ? x.im : y.im};
  else
    return first ? x : y;
}

inline constexpr unsigned kFullWarp = 0xffffffffu;

template <class T>
struct DoubledOf {
  using Type = double;
};
template <class R>
struct DoubledOf<Complex<R>> {
  using Type = Complex<double>;
};
/// Double precision, real or complex as T.
template <class T>
using Doubled = typename DoubledOf<T>::Type;
/// Between the precisions.
template <class To, class T>
__device__ __forceinline__ To convert(T x) {
  if constexpr (Traits<T>::is_complex)
    return {static_cast<Real<To>>(x.re), static_cast<Real<To>>(x.im)};
  else
    return static_cast<To>(x);
}

/// x of lane `source` in the caller's group of `width` lanes.
template <class T>
__device__ __forceinline__ T from_lane(T x, int source, int width = 32) {
  if constexpr (Traits<T>::is_complex)
    return {__shfl_sync(kFullWarp, x.re, source, width),
            __shfl_sync(kFullWarp, x.im, source, width)};
  else
    return __shfl_sync(kFullWarp, x, source, width);
}
/// The sum over groups of `width` lanes, of every `step`th of them, the same bits in all that are
/// added.
template <int width, int step = 1, class T>
__device__ __forceinline__ T sum_lanes(T x) {
#pragma unroll
  for (int distance = width / 2; distance >= step; distance /= 2) {
    if constexpr (Traits<T>::is_complex) {
      x.re += __shfl_xor_sync(kFullWarp, x.re, distance);
      x.im += __shfl_xor_sync(kFullWarp, x.im, distance);
    } else {
      x += __shfl_xor_sync(kFullWarp, x, distance);
    }
  }
  return x;
}

__device__ __forceinline__ float reciprocal_sqrt(float x) { return rsqrtf(x); }
__device__ __forceinline__ double reciprocal_sqrt(double x) { return rsqrt(x); }
__device__ __forceinline__ float largest(float) { return FLT_MAX; }
__device__ __forceinline__ double largest(double) { return DBL_MAX; }

/// A pivot that a Cholesky step can take: positive and finite.
template <class R>
__device__ __forceinline__ bool is_pivot(R x) {
  return x > R(0) && x <= largest(x);
}
/// sqrt(x) from r = 1/sqrt(x) with one Newton step, which leaves at most an ulp
/// and keeps the square root off the critical path, where only r is needed.
template <class R>
__device__ __forceinline__ R sqrt_from(R x, R r) {
  const R root = x * r;
  return fma(R(0.5) * r, fma(-root, root, x), root);
}

}  // namespace chol::cuda
