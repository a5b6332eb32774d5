// Vectors of AVX-512 (F, DQ, VL) and their arithmetic.
#pragma once

#include <immintrin.h>

#include "host/simd/common.hpp"

namespace chol::CHOL_ISA {

inline constexpr int kVectorRegisters = 32;
/// Reals of a row that load8 and store8 move at once.
inline constexpr int kRowRun = 8;
/// Masks cost nothing: a few reals of a row are moved as four.
inline constexpr bool kMasksRows = true;
/// Reals of a cache line, which lanes move at a time if aligned.
template <class R>
inline constexpr int kLineReals = 64 / int(sizeof(R));

template <>
struct Vec<double> {
  using Real = double;
  using Mask = __mmask8;
  static constexpr int width = 8;
  __m512d v;

  static Mask first(int64_t count) { return static_cast<Mask>((1u << count) - 1u); }
  static Mask range(int64_t from, int64_t to) {
    return first(to) & static_cast<Mask>(~first(from));
  }
  CHOL_INLINE static Vec zero() { return {_mm512_setzero_pd()}; }
  CHOL_INLINE static Vec broadcast(double x) { return {_mm512_set1_pd(x)}; }
  CHOL_INLINE static Vec load(const double* p) { return {_mm512_loadu_pd(p)}; }
  CHOL_INLINE static Vec load_range(const double* p, int64_t from, int64_t to) {
    return {_mm512_maskz_loadu_pd(range(from, to), p)};
  }
  CHOL_INLINE void store(double* p) const { _mm512_storeu_pd(p, v); }
  CHOL_INLINE void store_range(double* p, int64_t from, int64_t to) const {
    _mm512_mask_storeu_pd(p, range(from, to), v);
  }
};

template <>
struct Vec<float> {
  using Real = float;
  using Mask = __mmask16;
  static constexpr int width = 16;
  __m512 v;

  static Mask first(int64_t count) { return static_cast<Mask>((1u << count) - 1u); }
  static Mask range(int64_t from, int64_t to) {
    return first(to) & static_cast<Mask>(~first(from));
  }
  CHOL_INLINE static Vec zero() { return {_mm512_setzero_ps()}; }
  CHOL_INLINE static Vec broadcast(float x) { return {_mm512_set1_ps(x)}; }
  CHOL_INLINE static Vec load(const float* p) { return {_mm512_loadu_ps(p)}; }
  CHOL_INLINE static Vec load_range(const float* p, int64_t from, int64_t to) {
    return {_mm512_maskz_loadu_ps(range(from, to), p)};
  }
  CHOL_INLINE void store(float* p) const { _mm512_storeu_ps(p, v); }
  CHOL_INLINE void store_range(float* p, int64_t from, int64_t to) const {
    _mm512_mask_storeu_ps(p, range(from, to), v);
  }
};

using VecD = Vec<double>;
using VecF = Vec<float>;

CHOL_INLINE VecD fma(VecD acc, VecD a, VecD b) { return {_mm512_fmadd_pd(a.v, b.v, acc.v)}; }
CHOL_INLINE VecF fma(VecF acc, VecF a, VecF b) { return {_mm512_fmadd_ps(a.v, b.v, acc.v)}; }
CHOL_INLINE VecD fnma(VecD acc, VecD a, VecD b) { return {_mm512_fnmadd_pd(a.v, b.v, acc.v)}; }
CHOL_INLINE VecF fnma(VecF acc, VecF a, VecF b) { return {_mm512_fnmadd_ps(a.v, b.v, acc.v)}; }
CHOL_INLINE VecD mul(VecD a, VecD b) { return {_mm512_mul_pd(a.v, b.v)}; }
CHOL_INLINE VecF mul(VecF a, VecF b) { return {_mm512_mul_ps(a.v, b.v)}; }
CHOL_INLINE VecD divide(VecD a, VecD b) { return {_mm512_div_pd(a.v, b.v)}; }
CHOL_INLINE VecF divide(VecF a, VecF b) { return {_mm512_div_ps(a.v, b.v)}; }
CHOL_INLINE VecD sqrt(VecD a) { return {_mm512_sqrt_pd(a.v)}; }
CHOL_INLINE VecF sqrt(VecF a) { return {_mm512_sqrt_ps(a.v)}; }

/// root = sqrt(x) and reciprocal = 1 / root of positive finite x to a few units in the last place:
/// the hardware's estimate of 14 bits, which covers all exponents, and Newton's steps without
/// products that overflow.
template <class R>
CHOL_INLINE void refine_root(Vec<R> x, Vec<R> estimate, int steps, Vec<R>& root,
                             Vec<R>& reciprocal) {
  const Vec<R> half = Vec<R>::broadcast(R(0.5)), one = Vec<R>::broadcast(R(1));
  reciprocal = estimate;
  CHOL_UNROLL
  for (int i = 0; i < steps; ++i) {
    const Vec<R> error = fnma(one, mul(x, reciprocal), reciprocal);
    reciprocal = fma(reciprocal, mul(half, reciprocal), error);
  }
  root = mul(x, reciprocal);
  root = fma(root, mul(half, reciprocal), fnma(x, root, root));
}
CHOL_INLINE void approximate_root(VecD x, VecD& root, VecD& reciprocal) {
  refine_root(x, VecD{_mm512_rsqrt14_pd(x.v)}, 2, root, reciprocal);
}
CHOL_INLINE void approximate_root(VecF x, VecF& root, VecF& reciprocal) {
  refine_root(x, VecF{_mm512_rsqrt14_ps(x.v)}, 1, root, reciprocal);
}

/// Conversion of integers.
CHOL_INLINE void store_integers(int* p, VecD a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvttpd_epi32(a.v));
}
CHOL_INLINE void store_integers(int* p, VecF a) {
  _mm512_storeu_si512(p, _mm512_cvttps_epi32(a.v));
}

/// Lanes where low < a <= high; false for NaN.
CHOL_INLINE VecD::Mask between(VecD a, VecD low, VecD high) {
  return _mm512_cmp_pd_mask(a.v, low.v, _CMP_GT_OQ) & _mm512_cmp_pd_mask(a.v, high.v, _CMP_LE_OQ);
}
CHOL_INLINE VecF::Mask between(VecF a, VecF low, VecF high) {
  return _mm512_cmp_ps_mask(a.v, low.v, _CMP_GT_OQ) & _mm512_cmp_ps_mask(a.v, high.v, _CMP_LE_OQ);
}
CHOL_INLINE VecD::Mask is_zero(VecD a) {
  return _mm512_cmp_pd_mask(a.v, _mm512_setzero_pd(), _CMP_EQ_OQ);
}
CHOL_INLINE VecF::Mask is_zero(VecF a) {
  return _mm512_cmp_ps_mask(a.v, _mm512_setzero_ps(), _CMP_EQ_OQ);
}
CHOL_INLINE VecD select(VecD::Mask m, VecD yes, VecD no) {
  return {_mm512_mask_blend_pd(m, no.v, yes.v)};
}
CHOL_INLINE VecF select(VecF::Mask m, VecF yes, VecF no) {
  return {_mm512_mask_blend_ps(m, no.v, yes.v)};
}

/// (x0, x1, x2, x3, ...) -> (x1, x0, x3, x2, ...): exchanges real and imaginary parts.
CHOL_INLINE VecD swap_pairs(VecD a) { return {_mm512_permute_pd(a.v, 0x55)}; }
CHOL_INLINE VecF swap_pairs(VecF a) { return {_mm512_permute_ps(a.v, 0xB1)}; }
CHOL_INLINE VecD negate_odd(VecD a) {
  return {_mm512_xor_pd(a.v, _mm512_castsi512_pd(_mm512_set_epi64(INT64_MIN, 0, INT64_MIN, 0,
                                                                  INT64_MIN, 0, INT64_MIN, 0)))};
}
CHOL_INLINE VecF negate_odd(VecF a) {
  return {_mm512_xor_ps(a.v, _mm512_castsi512_ps(_mm512_set1_epi64(INT64_MIN)))};
}

CHOL_INLINE VecD broadcast_lane(VecD a, int lane) {
  return {_mm512_permutexvar_pd(_mm512_set1_epi64(lane), a.v)};
}
CHOL_INLINE VecF broadcast_lane(VecF a, int lane) {
  return {_mm512_permutexvar_ps(_mm512_set1_epi32(lane), a.v)};
}
CHOL_INLINE double first_lane(VecD a) { return _mm512_cvtsd_f64(a.v); }
CHOL_INLINE float first_lane(VecF a) { return _mm512_cvtss_f32(a.v); }
CHOL_INLINE double sum(VecD a) { return _mm512_reduce_add_pd(a.v); }
CHOL_INLINE float sum(VecF a) { return _mm512_reduce_add_ps(a.v); }
CHOL_INLINE VecD bits_as_double(VecF a) { return {_mm512_castps_pd(a.v)}; }
CHOL_INLINE VecF bits_as_float(VecD a) { return {_mm512_castpd_ps(a.v)}; }

}  // namespace chol::CHOL_ISA
