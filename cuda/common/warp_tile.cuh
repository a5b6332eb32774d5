// Square tiles distributed over the registers of a warp: the layout, and C += A B^H.
//
// A *panel* is a block of kOrder columns in shared memory. A tile type defines the layout of its
// panels, which determines the bank conflicts of operand reads.
#pragma once

#include "common/batch_view.cuh"
#include "common/mma_f64.cuh"
#include "common/scalar.cuh"

namespace chol::cuda {

/// 16 x 16 elements by plain multiply-adds: 8 elements a lane, rows lane / 4 +
/// 8 a, columns lane % 4 + 4 b. Panels are row-major.
template <class T>
struct PlainTile {
  static constexpr int kOrder = 16;
  static constexpr int kElements = 8;
  static constexpr int kWide = 16 / sizeof(T);
  /// Five (9) accesses of 16 bytes a row: odd, so that eight rows are in different banks.
  static constexpr int kPitch = kOrder + kWide;
  __host__ __device__ static constexpr int pitch(int) { return kPitch; }
  __host__ __device__ static constexpr int panel_elements(int rows) { return rows * kPitch; }
  __device__ static int panel_index(int row, int k, int) { return row * kPitch + k; }

  T c[kElements];

  /// Elements of a lane that share a row, and whether element e's column can be
  /// equal to, after, or not after j in any lane.
  static constexpr int kColumnsHeld = 4;
  __device__ static constexpr bool may_hold(int e, int j) { return e % 4 == j / 4; }
  __device__ static constexpr bool may_be_after(int e, int j) { return e % 4 * 4 + 3 > j; }
  __device__ static constexpr bool may_be_before(int e, int j) { return e % 4 * 4 <= j; }

  __device__ static int row(int e, int lane) { return lane / 4 + 8 * (e / 4); }
  __device__ static int column(int e, int lane) { return lane % 4 + 4 * (e % 4); }

  /// Tiles of add_products at a time, to overlap latencies.
  static constexpr int kGroup = 1;
  /// Largest number of row tiles of multiply_by_inverse at a time.
  static constexpr int kMostRows = 2;

  /// c[g] += A_g B_g^H; a[g] and b[g] point to the panel rows where the
  /// operands start.
  template <int kCount>
  __device__ static __forceinline__ void add_products(PlainTile* c, const T* const* a, int,
                                                      const T* const* b, int, int lane) {
    const int row = (lane / 4) * kPitch, column = (lane % 4) * kPitch;
#pragma unroll 2
    for (int k = 0; k < kOrder; k += kWide)
#pragma unroll
      for (int g = 0; g < kCount; ++g) {
        T av[2][kWide], bv[4][kWide];
#pragma unroll
        for (int i = 0; i < 2; ++i)
          *reinterpret_cast<float4*>(av[i]) =
              *reinterpret_cast<const float4*>(a[g] + row + i * 8 * kPitch + k);
#pragma unroll
        for (int j = 0; j < 4; ++j)
          *reinterpret_cast<float4*>(bv[j]) =
              *reinterpret_cast<const float4*>(b[g] + column + j * 4 * kPitch + k);
#pragma unroll
        for (int w = 0; w < kWide; ++w)
#pragma unroll
          for (int e = 0; e < kElements; ++e)
            c[g].c[e] = add_product_conj(c[g].c[e], av[e / 4][w], bv[e % 4][w]);
      }
  }

  /// Element (j, j), in every lane.
  __device__ __forceinline__ T diagonal(int j) const {
    return from_lane(c[(j / 8) * 4 + j / 4], (j % 8) * 4 + j % 4);
  }
  /// Elements (row(e), j), (column(e), j) and (j, column(e)) for each e of this
  /// lane.
  __device__ __forceinline__ void rows_of_column(T (&x)[kElements], int j, int lane) const {
#pragma unroll
    for (int a = 0; a < 2; ++a) {
      const T v = from_lane(c[a * 4 + j / 4], (lane & ~3) | (j % 4));
#pragma unroll
      for (int b = 0; b < 4; ++b) x[a * 4 + b] = v;
    }
  }
  __device__ __forceinline__ void columns_of_column(T (&x)[kElements], int j, int lane) const {
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      const int source_row = lane % 4 + 4 * b;
      const T v = from_lane(c[(b / 2) * 4 + j / 4], (source_row % 8) * 4 + j % 4);
      x[b] = x[4 + b] = v;
    }
  }
  __device__ __forceinline__ void columns_of_row(T (&x)[kElements], int j, int lane) const {
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      const T v = from_lane(c[(j / 8) * 4 + b], (j % 8) * 4 + lane % 4);
      x[b] = x[4 + b] = v;
    }
  }
};

/// 8 x 8 elements by double precision tensor cores. Panels are column-major
/// with a pitch of 4 mod 16 doubles (2 mod 8 complex), which spreads the
/// operand reads over all banks.
template <class T>
struct TensorTile {
  static constexpr int kOrder = 8;
  static constexpr int kElements = 2;
  static constexpr int kPeriod = 128 / sizeof(T);
  static constexpr int kPad = 32 / sizeof(T);
  __host__ __device__ static constexpr int pitch(int rows) {
    return (rows + kPeriod - 1) / kPeriod * kPeriod + kPad;
  }
  __host__ __device__ static constexpr int panel_elements(int rows) { return kOrder * pitch(rows); }
  __device__ static int panel_index(int row, int k, int pitch) { return k * pitch + row; }

  T c[kElements];

  static constexpr int kColumnsHeld = 2;
  __device__ static constexpr bool may_hold(int e, int j) { return e % 2 == j % 2; }
  __device__ static constexpr bool may_be_after(int, int) { return true; }
  __device__ static constexpr bool may_be_before(int, int) { return true; }

  __device__ static int row(int, int lane) { return lane / 4; }
  __device__ static int column(int e, int lane) { return 2 * (lane % 4) + e; }

  static constexpr int kGroup = sizeof(T) == 8 ? 4 : 2;
  static constexpr int kMostRows = 4;

  template <int kCount>
  __device__ static __forceinline__ void add_products(TensorTile* c, const T* const* a, int pitch_a,
                                                      const T* const* b, int pitch_b, int lane) {
    const int offset_a = (lane % 4) * pitch_a + lane / 4;
    const int offset_b = (lane % 4) * pitch_b + lane / 4;
    T av[kCount][kOrder / 4], bv[kCount][kOrder / 4];
#pragma unroll
    for (int g = 0; g < kCount; ++g)
#pragma unroll
      for (int k = 0; k < kOrder / 4; ++k) {
        av[g][k] = a[g][offset_a + 4 * k * pitch_a];
        bv[g][k] = b[g][offset_b + 4 * k * pitch_b];
      }
#pragma unroll
    for (int k = 0; k < kOrder / 4; ++k)
#pragma unroll
      for (int g = 0; g < kCount; ++g) c[g].accumulate(av[g][k], bv[g][k]);
  }
  /// this += a b^H for one step's operands.
  __device__ __forceinline__ void accumulate(T a, T b) {
    if constexpr (Traits<T>::is_complex) {
      tensor_multiply(c[0].re, c[1].re, a.re, b.re);
      tensor_multiply(c[0].im, c[1].im, a.im, b.re);
      tensor_multiply(c[0].re, c[1].re, a.im, b.im);
      tensor_multiply(c[0].im, c[1].im, -a.re, b.im);
    } else {
      tensor_multiply(c[0], c[1], a, b);
    }
  }

  /// upper and lower += a b^H for one step's operands of 16 rows.
  __device__ static __forceinline__ void accumulate(T (&upper)[kElements], T (&lower)[kElements],
                                                    const T (&a)[2], T b) {
    const auto multiply = [&](auto&& part, double a0, double a1, double of_b) {
      double c[2][2] = {{part(upper[0]), part(upper[1])}, {part(lower[0]), part(lower[1])}};
      tensor_multiply(c, {a0, a1}, of_b);
#pragma unroll
      for (int e = 0; e < 2; ++e) part(upper[e]) = c[0][e], part(lower[e]) = c[1][e];
    };
    if constexpr (Traits<T>::is_complex) {
      const auto re = [](T& x) -> double& { return x.re; };
      const auto im = [](T& x) -> double& { return x.im; };
      multiply(re, a[0].re, a[1].re, b.re);
      multiply(im, a[0].im, a[1].im, b.re);
      multiply(re, a[0].im, a[1].im, b.im);
      multiply(im, -a[0].re, -a[1].re, b.im);
    } else {
      multiply([](T& x) -> double& { return x; }, a[0], a[1], b);
    }
  }

  __device__ __forceinline__ T diagonal(int j) const { return from_lane(c[j % 2], j * 4 + j / 2); }
  __device__ __forceinline__ void rows_of_column(T (&x)[kElements], int j, int lane) const {
    x[0] = x[1] = from_lane(c[j % 2], (lane & ~3) | (j / 2));
  }
  __device__ __forceinline__ void columns_of_column(T (&x)[kElements], int j, int lane) const {
#pragma unroll
    for (int e = 0; e < 2; ++e) x[e] = from_lane(c[j % 2], (2 * (lane % 4) + e) * 4 + j / 2);
  }
  __device__ __forceinline__ void columns_of_row(T (&x)[kElements], int j, int lane) const {
#pragma unroll
    for (int e = 0; e < 2; ++e) x[e] = from_lane(c[e], j * 4 + lane % 4);
  }
};

template <class T>
struct TileChoice {
  using Type = PlainTile<T>;
};
template <>
struct TileChoice<double> {
  using Type = TensorTile<double>;
};
template <>
struct TileChoice<Complex<double>> {
  using Type = TensorTile<Complex<double>>;
};
template <class T>
using Tile = typename TileChoice<T>::Type;

}  // namespace chol::cuda
