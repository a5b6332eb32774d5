// SIMD vocabulary of 128-bit registers in the compiler's vector extension: SSE2 on any x86-64, NEON
// on AArch64. No intrinsics.
//
// Included once per translation unit of the baseline, with CHOL_ISA = portable.
#pragma once

#include "host/simd/common.hpp"

namespace chol::CHOL_ISA {

/// SSE2's; NEON has 32, but 128-bit tiles of 32 accumulators would have more rows than columns.
inline constexpr int kVectorRegisters = 16;
/// Reals of a row that load4 and store4 move at once.
inline constexpr int kRowRun = 4;
/// Masks would be branches.
inline constexpr bool kMasksRows = false;
/// Lanes move no more at a time.
template <class R>
inline constexpr int kLineReals = kRowRun;

template <class R>
struct Vec {
  using Real = R;
  static constexpr int width = 16 / sizeof(R);
  typedef R Register __attribute__((vector_size(16)));
  using Mask = decltype(Register{} < Register{});
  /// Loads and stores at any address, of memory that may be declared as another type.
  typedef R Unaligned __attribute__((vector_size(16), aligned(sizeof(R)), may_alias));
  typedef R Scalar __attribute__((may_alias));
  Register v;

  CHOL_INLINE static Vec zero() { return {Register{}}; }
  CHOL_INLINE static Vec broadcast(R x) { return {Register{} + x}; }
  CHOL_INLINE static Vec load(const R* p) {
    return {static_cast<Register>(*reinterpret_cast<const Unaligned*>(p))};
  }
  CHOL_INLINE static Vec load_range(const R* p, int64_t from, int64_t to) {
    Vec out = zero();
    for (int i = 0; i < width; ++i)
      if (i >= from && i < to) out.v[i] = p[i];
    return out;
  }
  CHOL_INLINE void store(R* p) const { *reinterpret_cast<Unaligned*>(p) = v; }
  CHOL_INLINE void store_range(R* p, int64_t from, int64_t to) const {
    for (int i = 0; i < width; ++i)
      if (i >= from && i < to) p[i] = v[i];
  }
};

using VecD = Vec<double>;
using VecF = Vec<float>;

// The compiler contracts to one fused operation (-ffp-contract=fast) where the ISA has it.
template <class R>
CHOL_INLINE Vec<R> fma(Vec<R> acc, Vec<R> a, Vec<R> b) {
  return {acc.v + a.v * b.v};
}
template <class R>
CHOL_INLINE Vec<R> fnma(Vec<R> acc, Vec<R> a, Vec<R> b) {
  return {acc.v - a.v * b.v};
}
template <class R>
CHOL_INLINE Vec<R> mul(Vec<R> a, Vec<R> b) {
  return {a.v * b.v};
}
template <class R>
CHOL_INLINE Vec<R> divide(Vec<R> a, Vec<R> b) {
  return {a.v / b.v};
}
CHOL_INLINE VecD sqrt(VecD a) {
  return {VecD::Register{__builtin_sqrt(a.v[0]), __builtin_sqrt(a.v[1])}};
}
CHOL_INLINE VecF sqrt(VecF a) {
  return {VecF::Register{__builtin_sqrtf(a.v[0]), __builtin_sqrtf(a.v[1]), __builtin_sqrtf(a.v[2]),
                         __builtin_sqrtf(a.v[3])}};
}

/// root = sqrt(x) and reciprocal = 1 / root; the estimates here do not cover all exponents.
template <class R>
CHOL_INLINE void approximate_root(Vec<R> x, Vec<R>& root, Vec<R>& reciprocal) {
  root = sqrt(x);
  reciprocal = divide(Vec<R>::broadcast(R(1)), root);
}

/// Conversion of integers.
template <class R>
CHOL_INLINE void store_integers(int* p, Vec<R> a) {
  for (int i = 0; i < Vec<R>::width; ++i) p[i] = static_cast<int>(a.v[i]);
}

/// Lanes where low < a <= high; false for NaN.
template <class R>
CHOL_INLINE typename Vec<R>::Mask between(Vec<R> a, Vec<R> low, Vec<R> high) {
  return (a.v > low.v) & (a.v <= high.v);
}
template <class R>
CHOL_INLINE typename Vec<R>::Mask is_zero(Vec<R> a) {
  return a.v == R(0);
}
template <class R>
CHOL_INLINE Vec<R> select(typename Vec<R>::Mask m, Vec<R> yes, Vec<R> no) {
  using Bits = typename Vec<R>::Mask;
  const Bits chosen = (m & reinterpret_cast<Bits>(yes.v)) | (~m & reinterpret_cast<Bits>(no.v));
  return {reinterpret_cast<typename Vec<R>::Register>(chosen)};
}

/// (x0, x1, x2, x3, ...) -> (x1, x0, x3, x2, ...): exchanges real and imaginary parts.
CHOL_INLINE VecD swap_pairs(VecD a) { return {VecD::Register{a.v[1], a.v[0]}}; }
CHOL_INLINE VecF swap_pairs(VecF a) { return {VecF::Register{a.v[1], a.v[0], a.v[3], a.v[2]}}; }
CHOL_INLINE VecD negate_odd(VecD a) { return {VecD::Register{a.v[0], -a.v[1]}}; }
CHOL_INLINE VecF negate_odd(VecF a) { return {VecF::Register{a.v[0], -a.v[1], a.v[2], -a.v[3]}}; }

template <class R>
CHOL_INLINE Vec<R> broadcast_lane(Vec<R> a, int lane) {
  return Vec<R>::broadcast(a.v[lane]);
}
template <class R>
CHOL_INLINE R first_lane(Vec<R> a) {
  return a.v[0];
}
CHOL_INLINE double sum(VecD a) { return a.v[0] + a.v[1]; }
CHOL_INLINE float sum(VecF a) { return (a.v[0] + a.v[2]) + (a.v[1] + a.v[3]); }
CHOL_INLINE VecD bits_as_double(VecF a) { return {reinterpret_cast<VecD::Register>(a.v)}; }
CHOL_INLINE VecF bits_as_float(VecD a) { return {reinterpret_cast<VecF::Register>(a.v)}; }

/// Two vectors of interleaved real and imaginary parts become one of each; join_pairs inverts the
/// resulting order of lanes.
CHOL_INLINE void split_pairs(VecD a, VecD b, VecD& re, VecD& im) {
  re.v = VecD::Register{a.v[0], b.v[0]};
  im.v = VecD::Register{a.v[1], b.v[1]};
}
CHOL_INLINE void split_pairs(VecF a, VecF b, VecF& re, VecF& im) {
  re.v = VecF::Register{a.v[0], a.v[2], b.v[0], b.v[2]};
  im.v = VecF::Register{a.v[1], a.v[3], b.v[1], b.v[3]};
}
CHOL_INLINE void join_pairs(VecD re, VecD im, VecD& a, VecD& b) {
  a.v = VecD::Register{re.v[0], im.v[0]};
  b.v = VecD::Register{re.v[1], im.v[1]};
}
CHOL_INLINE void join_pairs(VecF re, VecF im, VecF& a, VecF& b) {
  a.v = VecF::Register{re.v[0], im.v[0], re.v[1], im.v[1]};
  b.v = VecF::Register{re.v[2], im.v[2], re.v[3], im.v[3]};
}

/// Rows of N contiguous elements become N vectors: out[e] lane i = row(i)[e].
/// Of row i only the first count(i) elements are read, the others are zero.
template <int N, class R, class Row, class Count>
CHOL_INLINE void gather_rows(Row row, Count count, Vec<R> (&out)[N]) {
  using Scalar = typename Vec<R>::Scalar;
  for (int i = 0; i < Vec<R>::width; ++i) {
    const Scalar* p = row(i);
    for (int e = 0; e < N; ++e) out[e].v[i] = e < count(i) ? p[e] : R(0);
  }
}
/// The inverse of gather_rows: row(i)[e] = in[e] lane i for e < count(i).
template <int N, class R, class Row, class Count>
CHOL_INLINE void scatter_rows(Row row, Count count, const Vec<R> (&in)[N]) {
  using Scalar = typename Vec<R>::Scalar;
  for (int i = 0; i < Vec<R>::width; ++i) {
    Scalar* p = row(i);
    for (int e = 0; e < N; ++e)
      if (e < count(i)) p[e] = in[e].v[i];
  }
}
template <class R, class Row, class Count>
CHOL_INLINE void load4(Row row, Count count, Vec<R> (&out)[4]) {
  gather_rows(row, count, out);
}
template <class R, class Row, class Count>
CHOL_INLINE void store4(Row row, Count count, const Vec<R> (&in)[4]) {
  scatter_rows(row, count, in);
}
template <class R, class Row, class Count>
CHOL_INLINE void load2(Row row, Count count, Vec<R> (&out)[2]) {
  gather_rows(row, count, out);
}
template <class R, class Row, class Count>
CHOL_INLINE void store2(Row row, Count count, const Vec<R> (&in)[2]) {
  scatter_rows(row, count, in);
}

/// One 128-bit element (a double complex) of each of width / 2 rows.
template <class Row>
CHOL_INLINE VecD load_pairs(Row row) {
  return VecD::load(row(0));
}
CHOL_INLINE void store_pair(VecD a, int, double* p) { a.store(p); }

}  // namespace chol::CHOL_ISA
