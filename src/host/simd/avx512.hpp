// SIMD vocabulary of AVX-512 (F, DQ, VL): no file but this one and avx512_vectors.hpp holds these
// intrinsics. This file transposes rows in memory to vectors across them, and back.
//
// Included once per translation unit that is compiled for this ISA, with CHOL_ISA = avx512.
#pragma once

#include "host/simd/avx512_vectors.hpp"
#include "host/simd/few_reals.hpp"

namespace chol::CHOL_ISA {

/// Keeps the compiler from folding an extraction and a masked store into one masked vextract: that
/// instruction also accesses the memory of masked-out elements, which may be invalid.
CHOL_INLINE __m256d kept_in_register(__m256d a) {
  __asm__("" : "+v"(a));
  return a;
}
CHOL_INLINE __m128 kept_in_register(__m128 a) {
  __asm__("" : "+v"(a));
  return a;
}
CHOL_INLINE __m256 kept_in_register(__m256 a) {
  __asm__("" : "+v"(a));
  return a;
}

/// Two vectors of interleaved real and imaginary parts become one of each; join_pairs inverts the
/// resulting order of lanes.
CHOL_INLINE void split_pairs(VecD a, VecD b, VecD& re, VecD& im) {
  re = {_mm512_unpacklo_pd(a.v, b.v)};
  im = {_mm512_unpackhi_pd(a.v, b.v)};
}
CHOL_INLINE void split_pairs(VecF a, VecF b, VecF& re, VecF& im) {
  re = {_mm512_shuffle_ps(a.v, b.v, 0x88)};
  im = {_mm512_shuffle_ps(a.v, b.v, 0xDD)};
}
CHOL_INLINE void join_pairs(VecD re, VecD im, VecD& a, VecD& b) {
  a = {_mm512_unpacklo_pd(re.v, im.v)};
  b = {_mm512_unpackhi_pd(re.v, im.v)};
}
CHOL_INLINE void join_pairs(VecF re, VecF im, VecF& a, VecF& b) {
  a = {_mm512_unpacklo_ps(re.v, im.v)};
  b = {_mm512_unpackhi_ps(re.v, im.v)};
}

/// Row i and row i + 4 of four elements share a register: their transpose.
CHOL_INLINE void join_fours(const __m512d (&a)[4], VecD* out) {
  const __m512i even = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0);
  const __m512i odd = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
  const __m512d low01 = _mm512_unpacklo_pd(a[0], a[1]), high01 = _mm512_unpackhi_pd(a[0], a[1]);
  const __m512d low23 = _mm512_unpacklo_pd(a[2], a[3]), high23 = _mm512_unpackhi_pd(a[2], a[3]);
  out[0].v = _mm512_permutex2var_pd(low01, even, low23);
  out[1].v = _mm512_permutex2var_pd(high01, even, high23);
  out[2].v = _mm512_permutex2var_pd(low01, odd, low23);
  out[3].v = _mm512_permutex2var_pd(high01, odd, high23);
}
CHOL_INLINE void split_fours(const VecD* in, __m512d (&a)[4]) {
  const __m512i even = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0);
  const __m512i odd = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
  const __m512d low01 = _mm512_permutex2var_pd(in[0].v, even, in[2].v);
  const __m512d low23 = _mm512_permutex2var_pd(in[0].v, odd, in[2].v);
  const __m512d high01 = _mm512_permutex2var_pd(in[1].v, even, in[3].v);
  const __m512d high23 = _mm512_permutex2var_pd(in[1].v, odd, in[3].v);
  a[0] = _mm512_unpacklo_pd(low01, high01);
  a[1] = _mm512_unpackhi_pd(low01, high01);
  a[2] = _mm512_unpacklo_pd(low23, high23);
  a[3] = _mm512_unpackhi_pd(low23, high23);
}
/// Number of the first `count` of eight elements that are in a half.
CHOL_INLINE int64_t part_of(int64_t count, int side) {
  return side == 0 ? (count < 4 ? count : 4) : (count > 4 ? count - 4 : 0);
}
/// The first `count` of four elements of a row; the others are zero.
CHOL_INLINE __m256d load_half(const double* p, int64_t count) {
  // Without a mask an insertion from memory needs no shuffle.
  if (__builtin_constant_p(count) && count == 4) return _mm256_loadu_pd(p);
  if (are_few(count)) return _mm256_zextpd128_pd256(load_few(p, count));
  return _mm256_maskz_loadu_pd(VecD::first(count), p);
}
CHOL_INLINE void store_half(double* p, int64_t count, __m256d a) {
  if (count == 4)
    _mm256_storeu_pd(p, a);
  else if (are_few(count))
    store_few(p, count, _mm256_castpd256_pd128(a));
  else if (count > 0)
    _mm256_mask_storeu_pd(p, VecD::first(count), kept_in_register(a));
}

/// Rows of four contiguous elements become four vectors: out[e] lane i = row(i)[e].
/// Of row i only the first count(i) elements are read, the others are zero.
template <class Row, class Count>
CHOL_INLINE void load4(Row row, Count count, VecD (&out)[4]) {
  __m512d a[4];
  for (int i = 0; i < 4; ++i)
    a[i] = _mm512_insertf64x4(_mm512_castpd256_pd512(load_half(row(i), count(i))),
                              load_half(row(i + 4), count(i + 4)), 1);
  join_fours(a, out);
}
/// The inverse of load4: row(i)[e] = in[e] lane i for e < count(i).
template <class Row, class Count>
CHOL_INLINE void store4(Row row, Count count, const VecD (&in)[4]) {
  __m512d a[4];
  split_fours(in, a);
  for (int i = 0; i < 4; ++i) {
    store_half(row(i), count(i), _mm512_castpd512_pd256(a[i]));
    store_half(row(i + 4), count(i + 4), _mm512_extractf64x4_pd(a[i], 1));
  }
}

/// load4 and store4 for rows of two contiguous elements or one.
template <class Row, class Count>
CHOL_INLINE void load2(Row row, Count count, VecD (&out)[2]) {
  const auto part = [&](int i) { return load_few(row(i), count(i)); };
  __m512d a[2];
  for (int i = 0; i < 2; ++i) {
    a[i] = _mm512_insertf64x2(_mm512_castpd128_pd512(part(i)), part(i + 2), 1);
    a[i] = _mm512_insertf64x2(a[i], part(i + 4), 2);
    a[i] = _mm512_insertf64x2(a[i], part(i + 6), 3);
  }
  out[0].v = _mm512_unpacklo_pd(a[0], a[1]);
  out[1].v = _mm512_unpackhi_pd(a[0], a[1]);
}
template <class Row, class Count>
CHOL_INLINE void store2(Row row, Count count, const VecD (&in)[2]) {
  const __m512d a[2] = {_mm512_unpacklo_pd(in[0].v, in[1].v), _mm512_unpackhi_pd(in[0].v, in[1].v)};
  const auto part = [&](int i, __m128d x) { store_few(row(i), count(i), x); };
  for (int i = 0; i < 2; ++i) {
    part(i, _mm512_castpd512_pd128(a[i]));
    part(i + 2, _mm512_extractf64x2_pd(a[i], 1));
    part(i + 4, _mm512_extractf64x2_pd(a[i], 2));
    part(i + 6, _mm512_extractf64x2_pd(a[i], 3));
  }
}

/// 8 x 8 transpose; its own inverse.
CHOL_INLINE void transpose8(__m512d (&a)[8]) {
  const __m512i even = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0);
  const __m512i odd = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
  __m512d low[4], high[4];
  for (int i = 0; i < 4; ++i) {
    low[i] = _mm512_unpacklo_pd(a[2 * i], a[2 * i + 1]);
    high[i] = _mm512_unpackhi_pd(a[2 * i], a[2 * i + 1]);
  }
  const auto join = [&](const __m512d(&half)[4], __m512i index, int e) {
    const __m512d first = _mm512_permutex2var_pd(half[0], index, half[1]);
    const __m512d last = _mm512_permutex2var_pd(half[2], index, half[3]);
    a[e] = _mm512_shuffle_f64x2(first, last, 0x44);
    a[e + 4] = _mm512_shuffle_f64x2(first, last, 0xEE);
  };
  join(low, even, 0);
  join(high, even, 1);
  join(low, odd, 2);
  join(high, odd, 3);
}
/// load4 and store4 for rows of eight contiguous elements.
template <class Row, class Count>
CHOL_INLINE void load8(Row row, Count count, VecD (&out)[8]) {
  __m512d a[8];
  for (int i = 0; i < 8; ++i) a[i] = _mm512_maskz_loadu_pd(VecD::first(count(i)), row(i));
  transpose8(a);
  for (int e = 0; e < 8; ++e) out[e].v = a[e];
}
/// Both halves of a row consecutively: across 32-byte boundaries they then take three cycles
/// together instead of four and a half (Zen 4).
template <class Row, class Count>
CHOL_INLINE void store8(Row row, Count count, const VecD (&in)[8]) {
  __m512d a[2][4];
  for (int side = 0; side < 2; ++side) split_fours(in + 4 * side, a[side]);
  for (int i = 0; i < 4; ++i) {
    for (int side = 0; side < 2; ++side)
      store_half(row(i) + 4 * side, part_of(count(i), side), _mm512_castpd512_pd256(a[side][i]));
    for (int side = 0; side < 2; ++side)
      store_half(row(i + 4) + 4 * side, part_of(count(i + 4), side),
                 _mm512_extractf64x4_pd(a[side][i], 1));
  }
}

/// 4 x 4 transposes inside the 128-bit parts; its own inverse.
CHOL_INLINE void transpose_parts(__m512 (&a)[4]) {
  const __m512 low01 = _mm512_unpacklo_ps(a[0], a[1]), high01 = _mm512_unpackhi_ps(a[0], a[1]);
  const __m512 low23 = _mm512_unpacklo_ps(a[2], a[3]), high23 = _mm512_unpackhi_ps(a[2], a[3]);
  a[0] = _mm512_shuffle_ps(low01, low23, 0x44);
  a[1] = _mm512_shuffle_ps(low01, low23, 0xEE);
  a[2] = _mm512_shuffle_ps(high01, high23, 0x44);
  a[3] = _mm512_shuffle_ps(high01, high23, 0xEE);
}
template <class Row, class Count>
CHOL_INLINE void load4(Row row, Count count, VecF (&out)[4]) {
  const auto part = [&](int i) {
    if (__builtin_constant_p(count(i)) && count(i) == 4) return _mm_loadu_ps(row(i));
    if (are_few(count(i))) return load_few(row(i), count(i));
    return _mm_maskz_loadu_ps(static_cast<__mmask8>(VecF::first(count(i))), row(i));
  };
  __m512 a[4];
  for (int i = 0; i < 4; ++i) {
    a[i] = _mm512_castps128_ps512(part(i));
    a[i] = _mm512_insertf32x4(a[i], part(i + 4), 1);
    a[i] = _mm512_insertf32x4(a[i], part(i + 8), 2);
    a[i] = _mm512_insertf32x4(a[i], part(i + 12), 3);
  }
  transpose_parts(a);
  for (int e = 0; e < 4; ++e) out[e].v = a[e];
}
template <class Row, class Count>
CHOL_INLINE void store4(Row row, Count count, const VecF (&in)[4]) {
  __m512 a[4] = {in[0].v, in[1].v, in[2].v, in[3].v};
  transpose_parts(a);
  const auto part = [&](int i, __m128 x) {
    if (count(i) == 4)
      _mm_storeu_ps(row(i), x);
    else if (are_few(count(i)))
      store_few(row(i), count(i), x);
    else
      _mm_mask_storeu_ps(row(i), static_cast<__mmask8>(VecF::first(count(i))), kept_in_register(x));
  };
  for (int i = 0; i < 4; ++i) {
    part(i, _mm512_castps512_ps128(a[i]));
    part(i + 4, _mm512_extractf32x4_ps(a[i], 1));
    part(i + 8, _mm512_extractf32x4_ps(a[i], 2));
    part(i + 12, _mm512_extractf32x4_ps(a[i], 3));
  }
}
/// The halves of eight columns of sixteen rows: row i and row i + 4 of each eight share a register,
/// so that the last step of a transpose joins 128-bit parts of two registers.
CHOL_INLINE void join_halves(__m512 (&a)[2][4], VecF* out) {
  transpose_parts(a[0]);
  transpose_parts(a[1]);
  for (int e = 0; e < 4; ++e) {
    out[e].v = _mm512_shuffle_f32x4(a[0][e], a[1][e], 0x88);
    out[e + 4].v = _mm512_shuffle_f32x4(a[0][e], a[1][e], 0xDD);
  }
}
CHOL_INLINE void split_halves(const VecF* in, __m512 (&a)[2][4]) {
  const __m512i halves[2] = {_mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0),
                             _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4)};
  for (int half = 0; half < 2; ++half) {
    for (int e = 0; e < 4; ++e)
      a[half][e] = _mm512_castpd_ps(_mm512_permutex2var_pd(_mm512_castps_pd(in[e].v), halves[half],
                                                           _mm512_castps_pd(in[e + 4].v)));
    transpose_parts(a[half]);
  }
}
template <class Row, class Count>
CHOL_INLINE void load8(Row row, Count count, VecF (&out)[8]) {
  // Without a mask an insertion from memory needs no shuffle.
  const auto part = [&](int i) {
    if (__builtin_constant_p(count(i)) && count(i) == 8) return _mm256_loadu_ps(row(i));
    return _mm256_maskz_loadu_ps(static_cast<__mmask8>(VecF::first(count(i))), row(i));
  };
  __m512 a[2][4];
  for (int half = 0; half < 2; ++half)
    for (int i = 0; i < 4; ++i)
      a[half][i] =
          _mm512_insertf32x8(_mm512_castps256_ps512(part(8 * half + i)), part(8 * half + i + 4), 1);
  join_halves(a, out);
}
template <class Row, class Count>
CHOL_INLINE void store8(Row row, Count count, const VecF (&in)[8]) {
  const auto part = [&](int i, __m256 x) {
    if (count(i) == 8)
      _mm256_storeu_ps(row(i), x);
    else if (count(i) > 0)
      _mm256_mask_storeu_ps(row(i), static_cast<__mmask8>(VecF::first(count(i))),
                            kept_in_register(x));
  };
  __m512 a[2][4];
  split_halves(in, a);
  for (int half = 0; half < 2; ++half)
    for (int i = 0; i < 4; ++i) {
      part(8 * half + i, _mm512_castps512_ps256(a[half][i]));
      part(8 * half + i + 4, _mm512_extractf32x8_ps(a[half][i], 1));
    }
}
/// The same for whole rows of sixteen. Both halves of a row are moved consecutively: rows a
/// multiple of 4 KiB apart share a set of the first-level cache, which has fewer than sixteen ways.
template <class Row, class Count>
CHOL_INLINE void load16(Row row, Count, VecF (&out)[16]) {
  __m512 a[2][2][4];
  for (int half = 0; half < 2; ++half)
    for (int i = 0; i < 4; ++i)
      for (int side = 0; side < 2; ++side) {
        const float* top = row(8 * half + i) + 8 * side;
        const float* bottom = row(8 * half + i + 4) + 8 * side;
        a[side][half][i] = _mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps(top)),
                                              _mm256_loadu_ps(bottom), 1);
      }
  for (int side = 0; side < 2; ++side) join_halves(a[side], out + 8 * side);
}
template <class Row, class Count>
CHOL_INLINE void store16(Row row, Count, const VecF (&in)[16]) {
  __m512 a[2][2][4];
  for (int side = 0; side < 2; ++side) split_halves(in + 8 * side, a[side]);
  for (int half = 0; half < 2; ++half)
    for (int i = 0; i < 4; ++i) {
      float *const top = row(8 * half + i), *const bottom = row(8 * half + i + 4);
      for (int side = 0; side < 2; ++side)
        _mm256_storeu_ps(top + 8 * side, _mm512_castps512_ps256(a[side][half][i]));
      for (int side = 0; side < 2; ++side)
        _mm256_storeu_ps(bottom + 8 * side, _mm512_extractf32x8_ps(a[side][half][i], 1));
    }
}

/// One 128-bit element (a double complex) of each of width / 2 rows.
template <class Row>
CHOL_INLINE VecD load_pairs(Row row) {
  __m512d a = _mm512_castpd128_pd512(_mm_loadu_pd(row(0)));
  a = _mm512_insertf64x2(a, _mm_loadu_pd(row(1)), 1);
  a = _mm512_insertf64x2(a, _mm_loadu_pd(row(2)), 2);
  return {_mm512_insertf64x2(a, _mm_loadu_pd(row(3)), 3)};
}
CHOL_INLINE void store_pair(VecD a, int index, double* p) {
  switch (index) {
    case 0:
      _mm_storeu_pd(p, _mm512_castpd512_pd128(a.v));
      break;
    case 1:
      _mm_storeu_pd(p, _mm512_extractf64x2_pd(a.v, 1));
      break;
    case 2:
      _mm_storeu_pd(p, _mm512_extractf64x2_pd(a.v, 2));
      break;
    default:
      _mm_storeu_pd(p, _mm512_extractf64x2_pd(a.v, 3));
      break;
  }
}

}  // namespace chol::CHOL_ISA
