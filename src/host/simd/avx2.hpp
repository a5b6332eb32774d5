// SIMD vocabulary of AVX2 with FMA: no other file holds these intrinsics.
//
// Included once per translation unit that is compiled for this ISA, with CHOL_ISA = avx2.
#pragma once

#include <immintrin.h>

#include "host/simd/few_reals.hpp"

namespace chol::CHOL_ISA {

inline constexpr int kVectorRegisters = 16;
/// Reals of a row that load4 and store4 move at once.
inline constexpr int kRowRun = 4;
/// Masked stores are microcoded on Zen 2 to 4: a column's last reals are moved by two and one.
inline constexpr bool kMasksRows = false;
/// Lanes move no more at a time.
template <class R>
inline constexpr int kLineReals = kRowRun;

/// Eight all-ones words, then eight zeros: a window into it is the mask of the first lanes.
inline constexpr int32_t kMaskWindow[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

CHOL_INLINE __m256i first_words(int64_t count) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kMaskWindow + 8 - count));
}
CHOL_INLINE __m256i word_range(int64_t from, int64_t to) {
  return _mm256_andnot_si256(first_words(from), first_words(to));
}

template <>
struct Vec<double> {
  using Real = double;
  using Mask = __m256d;
  static constexpr int width = 4;
  __m256d v;

  CHOL_INLINE static Vec zero() { return {_mm256_setzero_pd()}; }
  CHOL_INLINE static Vec broadcast(double x) { return {_mm256_set1_pd(x)}; }
  CHOL_INLINE static Vec load(const double* p) { return {_mm256_loadu_pd(p)}; }
  CHOL_INLINE static Vec load_range(const double* p, int64_t from, int64_t to) {
    return {_mm256_maskload_pd(p, word_range(2 * from, 2 * to))};
  }
  CHOL_INLINE void store(double* p) const { _mm256_storeu_pd(p, v); }
  CHOL_INLINE void store_range(double* p, int64_t from, int64_t to) const {
    _mm256_maskstore_pd(p, word_range(2 * from, 2 * to), v);
  }
};

template <>
struct Vec<float> {
  using Real = float;
  using Mask = __m256;
  static constexpr int width = 8;
  __m256 v;

  CHOL_INLINE static Vec zero() { return {_mm256_setzero_ps()}; }
  CHOL_INLINE static Vec broadcast(float x) { return {_mm256_set1_ps(x)}; }
  CHOL_INLINE static Vec load(const float* p) { return {_mm256_loadu_ps(p)}; }
  CHOL_INLINE static Vec load_range(const float* p, int64_t from, int64_t to) {
    return {_mm256_maskload_ps(p, word_range(from, to))};
  }
  CHOL_INLINE void store(float* p) const { _mm256_storeu_ps(p, v); }
  CHOL_INLINE void store_range(float* p, int64_t from, int64_t to) const {
    _mm256_maskstore_ps(p, word_range(from, to), v);
  }
};

using VecD = Vec<double>;
using VecF = Vec<float>;

CHOL_INLINE VecD fma(VecD acc, VecD a, VecD b) { return {_mm256_fmadd_pd(a.v, b.v, acc.v)}; }
CHOL_INLINE VecF fma(VecF acc, VecF a, VecF b) { return {_mm256_fmadd_ps(a.v, b.v, acc.v)}; }
CHOL_INLINE VecD fnma(VecD acc, VecD a, VecD b) { return {_mm256_fnmadd_pd(a.v, b.v, acc.v)}; }
CHOL_INLINE VecF fnma(VecF acc, VecF a, VecF b) { return {_mm256_fnmadd_ps(a.v, b.v, acc.v)}; }
CHOL_INLINE VecD mul(VecD a, VecD b) { return {_mm256_mul_pd(a.v, b.v)}; }
CHOL_INLINE VecF mul(VecF a, VecF b) { return {_mm256_mul_ps(a.v, b.v)}; }
CHOL_INLINE VecD divide(VecD a, VecD b) { return {_mm256_div_pd(a.v, b.v)}; }
CHOL_INLINE VecF divide(VecF a, VecF b) { return {_mm256_div_ps(a.v, b.v)}; }
CHOL_INLINE VecD sqrt(VecD a) { return {_mm256_sqrt_pd(a.v)}; }
CHOL_INLINE VecF sqrt(VecF a) { return {_mm256_sqrt_ps(a.v)}; }

/// root = sqrt(x) and reciprocal = 1 / root; the estimates here do not cover all exponents.
template <class R>
CHOL_INLINE void approximate_root(Vec<R> x, Vec<R>& root, Vec<R>& reciprocal) {
  root = sqrt(x);
  reciprocal = divide(Vec<R>::broadcast(R(1)), root);
}

/// Conversion of integers.
CHOL_INLINE void store_integers(int* p, VecD a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvttpd_epi32(a.v));
}
CHOL_INLINE void store_integers(int* p, VecF a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm256_cvttps_epi32(a.v));
}

/// Lanes where low < a <= high; false for NaN.
CHOL_INLINE VecD::Mask between(VecD a, VecD low, VecD high) {
  return _mm256_and_pd(_mm256_cmp_pd(a.v, low.v, _CMP_GT_OQ),
                       _mm256_cmp_pd(a.v, high.v, _CMP_LE_OQ));
}
CHOL_INLINE VecF::Mask between(VecF a, VecF low, VecF high) {
  return _mm256_and_ps(_mm256_cmp_ps(a.v, low.v, _CMP_GT_OQ),
                       _mm256_cmp_ps(a.v, high.v, _CMP_LE_OQ));
}
CHOL_INLINE VecD::Mask is_zero(VecD a) {
  return _mm256_cmp_pd(a.v, _mm256_setzero_pd(), _CMP_EQ_OQ);
}
CHOL_INLINE VecF::Mask is_zero(VecF a) {
  return _mm256_cmp_ps(a.v, _mm256_setzero_ps(), _CMP_EQ_OQ);
}
CHOL_INLINE VecD select(VecD::Mask m, VecD yes, VecD no) {
  return {_mm256_blendv_pd(no.v, yes.v, m)};
}
CHOL_INLINE VecF select(VecF::Mask m, VecF yes, VecF no) {
  return {_mm256_blendv_ps(no.v, yes.v, m)};
}

/// (x0, x1, x2, x3, ...) -> (x1, x0, x3, x2, ...): exchanges real and imaginary parts.
CHOL_INLINE VecD swap_pairs(VecD a) { return {_mm256_permute_pd(a.v, 0x5)}; }
CHOL_INLINE VecF swap_pairs(VecF a) { return {_mm256_permute_ps(a.v, 0xB1)}; }
CHOL_INLINE VecD negate_odd(VecD a) {
  return {_mm256_xor_pd(a.v, _mm256_set_pd(-0.0, 0.0, -0.0, 0.0))};
}
CHOL_INLINE VecF negate_odd(VecF a) {
  return {_mm256_xor_ps(a.v, _mm256_castsi256_ps(_mm256_set1_epi64x(INT64_MIN)))};
}

CHOL_INLINE VecD broadcast_lane(VecD a, int lane) {
  const __m256i words =
      _mm256_add_epi32(_mm256_set1_epi64x(int64_t(1) << 32), _mm256_set1_epi32(2 * lane));
  return {_mm256_castps_pd(_mm256_permutevar8x32_ps(_mm256_castpd_ps(a.v), words))};
}
CHOL_INLINE VecF broadcast_lane(VecF a, int lane) {
  return {_mm256_permutevar8x32_ps(a.v, _mm256_set1_epi32(lane))};
}
CHOL_INLINE double first_lane(VecD a) { return _mm256_cvtsd_f64(a.v); }
CHOL_INLINE float first_lane(VecF a) { return _mm256_cvtss_f32(a.v); }
CHOL_INLINE double sum(VecD a) {
  const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(a.v), _mm256_extractf128_pd(a.v, 1));
  return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
}
CHOL_INLINE float sum(VecF a) {
  __m128 half = _mm_add_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
  half = _mm_add_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_add_ss(half, _mm_shuffle_ps(half, half, 1)));
}
CHOL_INLINE VecD bits_as_double(VecF a) { return {_mm256_castps_pd(a.v)}; }
CHOL_INLINE VecF bits_as_float(VecD a) { return {_mm256_castpd_ps(a.v)}; }

/// 4 x 4 transpose of four registers of doubles; its own inverse.
CHOL_INLINE void transpose(__m256d (&a)[4]) {
  const __m256d low01 = _mm256_unpacklo_pd(a[0], a[1]), high01 = _mm256_unpackhi_pd(a[0], a[1]);
  const __m256d low23 = _mm256_unpacklo_pd(a[2], a[3]), high23 = _mm256_unpackhi_pd(a[2], a[3]);
  a[0] = _mm256_permute2f128_pd(low01, low23, 0x20);
  a[1] = _mm256_permute2f128_pd(high01, high23, 0x20);
  a[2] = _mm256_permute2f128_pd(low01, low23, 0x31);
  a[3] = _mm256_permute2f128_pd(high01, high23, 0x31);
}
/// Two vectors of interleaved real and imaginary parts become one of each; join_pairs inverts the
/// resulting order of lanes.
CHOL_INLINE void split_pairs(VecD a, VecD b, VecD& re, VecD& im) {
  re = {_mm256_unpacklo_pd(a.v, b.v)};
  im = {_mm256_unpackhi_pd(a.v, b.v)};
}
CHOL_INLINE void split_pairs(VecF a, VecF b, VecF& re, VecF& im) {
  re = {_mm256_shuffle_ps(a.v, b.v, 0x88)};
  im = {_mm256_shuffle_ps(a.v, b.v, 0xDD)};
}
CHOL_INLINE void join_pairs(VecD re, VecD im, VecD& a, VecD& b) {
  a = {_mm256_unpacklo_pd(re.v, im.v)};
  b = {_mm256_unpackhi_pd(re.v, im.v)};
}
CHOL_INLINE void join_pairs(VecF re, VecF im, VecF& a, VecF& b) {
  a = {_mm256_unpacklo_ps(re.v, im.v)};
  b = {_mm256_unpackhi_ps(re.v, im.v)};
}

/// Rows of four contiguous elements become four vectors: out[e] lane i = row(i)[e].
/// Of row i only the first count(i) elements are read, the others are zero.
template <class Row, class Count>
CHOL_INLINE void load4(Row row, Count count, VecD (&out)[4]) {
  __m256d a[4];
  for (int i = 0; i < 4; ++i)
    a[i] = count(i) == 4 ? _mm256_loadu_pd(row(i)) : VecD::load_range(row(i), 0, count(i)).v;
  transpose(a);
  for (int e = 0; e < 4; ++e) out[e].v = a[e];
}
/// The inverse of load4: row(i)[e] = in[e] lane i for e < count(i).
template <class Row, class Count>
CHOL_INLINE void store4(Row row, Count count, const VecD (&in)[4]) {
  __m256d a[4] = {in[0].v, in[1].v, in[2].v, in[3].v};
  transpose(a);
  for (int i = 0; i < 4; ++i) {
    if (count(i) == 4)
      _mm256_storeu_pd(row(i), a[i]);
    else
      VecD{a[i]}.store_range(row(i), 0, count(i));
  }
}
/// load4 and store4 for rows of two contiguous elements or one, without masks.
template <class Row, class Count>
CHOL_INLINE void load2(Row row, Count count, VecD (&out)[2]) {
  const auto part = [&](int i) { return load_few(row(i), count(i)); };
  __m256d a[2];
  for (int i = 0; i < 2; ++i)
    a[i] = _mm256_insertf128_pd(_mm256_castpd128_pd256(part(i)), part(i + 2), 1);
  out[0].v = _mm256_unpacklo_pd(a[0], a[1]);
  out[1].v = _mm256_unpackhi_pd(a[0], a[1]);
}
template <class Row, class Count>
CHOL_INLINE void store2(Row row, Count count, const VecD (&in)[2]) {
  const __m256d a[2] = {_mm256_unpacklo_pd(in[0].v, in[1].v), _mm256_unpackhi_pd(in[0].v, in[1].v)};
  const auto part = [&](int i, __m128d x) { store_few(row(i), count(i), x); };
  for (int i = 0; i < 2; ++i) {
    part(i, _mm256_castpd256_pd128(a[i]));
    part(i + 2, _mm256_extractf128_pd(a[i], 1));
  }
}

/// 4 x 4 transposes inside the 128-bit parts; its own inverse.
CHOL_INLINE void transpose_parts(__m256 (&a)[4]) {
  const __m256 low01 = _mm256_unpacklo_ps(a[0], a[1]), high01 = _mm256_unpackhi_ps(a[0], a[1]);
  const __m256 low23 = _mm256_unpacklo_ps(a[2], a[3]), high23 = _mm256_unpackhi_ps(a[2], a[3]);
  a[0] = _mm256_shuffle_ps(low01, low23, 0x44);
  a[1] = _mm256_shuffle_ps(low01, low23, 0xEE);
  a[2] = _mm256_shuffle_ps(high01, high23, 0x44);
  a[3] = _mm256_shuffle_ps(high01, high23, 0xEE);
}
CHOL_INLINE __m128i first_four_words(int64_t count) {
  return _mm256_castsi256_si128(first_words(count));
}
template <class Row, class Count>
CHOL_INLINE void load4(Row row, Count count, VecF (&out)[4]) {
  const auto part = [&](int i) {
    return count(i) == 4 ? _mm_loadu_ps(row(i))
                         : _mm_maskload_ps(row(i), first_four_words(count(i)));
  };
  __m256 a[4];
  for (int i = 0; i < 4; ++i)
    a[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(part(i)), part(i + 4), 1);
  transpose_parts(a);
  for (int e = 0; e < 4; ++e) out[e].v = a[e];
}
template <class Row, class Count>
CHOL_INLINE void store4(Row row, Count count, const VecF (&in)[4]) {
  __m256 a[4] = {in[0].v, in[1].v, in[2].v, in[3].v};
  transpose_parts(a);
  const auto part = [&](int i, __m128 x) {
    if (count(i) == 4)
      _mm_storeu_ps(row(i), x);
    else
      _mm_maskstore_ps(row(i), first_four_words(count(i)), x);
  };
  for (int i = 0; i < 4; ++i) {
    part(i, _mm256_castps256_ps128(a[i]));
    part(i + 4, _mm256_extractf128_ps(a[i], 1));
  }
}
template <class Row, class Count>
CHOL_INLINE void load2(Row row, Count count, VecF (&out)[2]) {
  const auto part = [&](int i) {
    return count(i) == 2 ? _mm_castsi128_pd(_mm_loadu_si64(row(i)))
                         : _mm_castps_pd(_mm_load_ss(row(i)));
  };
  __m256 a[2];
  for (int i = 0; i < 2; ++i) {
    const __m128d low = _mm_unpacklo_pd(part(2 * i), part(2 * i + 1));
    const __m128d high = _mm_unpacklo_pd(part(2 * i + 4), part(2 * i + 5));
    a[i] = _mm256_castpd_ps(_mm256_set_m128d(high, low));
  }
  out[0].v = _mm256_shuffle_ps(a[0], a[1], 0x88);
  out[1].v = _mm256_shuffle_ps(a[0], a[1], 0xDD);
}
template <class Row, class Count>
CHOL_INLINE void store2(Row row, Count count, const VecF (&in)[2]) {
  const __m256 a[2] = {_mm256_unpacklo_ps(in[0].v, in[1].v), _mm256_unpackhi_ps(in[0].v, in[1].v)};
  const auto part = [&](int i, __m128 x) {
    if (count(i) == 2)
      _mm_storel_pi(reinterpret_cast<__m64*>(row(i)), x);
    else
      _mm_store_ss(row(i), x);
  };
  const auto both = [&](int i, __m128 x) {
    part(i, x);
    part(i + 1, _mm_movehl_ps(x, x));
  };
  for (int i = 0; i < 2; ++i) {
    both(2 * i, _mm256_castps256_ps128(a[i]));
    both(2 * i + 4, _mm256_extractf128_ps(a[i], 1));
  }
}

/// One 128-bit element (a double complex) of each of width / 2 rows.
template <class Row>
CHOL_INLINE VecD load_pairs(Row row) {
  return {
      _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(row(0))), _mm_loadu_pd(row(1)), 1)};
}
CHOL_INLINE void store_pair(VecD a, int index, double* p) {
  _mm_storeu_pd(p, index == 0 ? _mm256_castpd256_pd128(a.v) : _mm256_extractf128_pd(a.v, 1));
}

}  // namespace chol::CHOL_ISA
