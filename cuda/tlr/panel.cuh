// Operations of a warp on 16 columns in shared memory and a panel of at most 8 vectors or a block
// of a triangle, with double precision tensor cores.
#pragma once

#include <type_traits>

#include "common/mma_f64.cuh"
#include "common/scalar.cuh"

namespace chol::cuda::tlr {

inline constexpr int kPanel = 8, kTileColumns = 16, kRowStep = 32;
/// Pitch of the columns of a warp's scratch.
inline constexpr int kScratchPitch = 20;
inline constexpr int kWarpScratch = kTileColumns * kScratchPitch;

template <class T>
__host__ __device__ constexpr Real<T> squared(T x) {
  if constexpr (Traits<T>::is_complex)
    return x.re * x.re + x.im * x.im;
  else
    return x * x;
}

/// Columns at X and vectors at P, with leading dimension ld and `rows` elements, a multiple of
/// kRowStep.
template <class T>
struct PanelProducts {
  using R = Real<T>;
  static constexpr bool is_tensor = std::is_same_v<T, double>;
  T* X;
  const T* P;
  int ld, rows;
  T* scratch;  ///< kWarpScratch elements

  /// Stores element (vector p, column c) of P^H X in scratch[c * kScratchPitch + p].
  __device__ void coefficients(int lane) const {
    if constexpr (is_tensor) {
      const int g = lane / 4, t = lane % 4;
      constexpr int kChains = 4;  // independent chains, to overlap latencies
      double sums[kChains][2][2] = {};
      const double *x = X + g * ld + t, *p = P + g * ld + t;
#pragma unroll 2
      for (int k = 0; k < rows; k += 4 * kChains)
#pragma unroll
        for (int u = 0; u < kChains; ++u) {
          const double a[2] = {x[k + 4 * u], x[k + 4 * u + 8 * ld]};
          tensor_multiply(sums[u], a, p[k + 4 * u]);
        }
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          scratch[(g + 8 * half) * kScratchPitch + 2 * t + e] =
              (sums[0][half][e] + sums[1][half][e]) + (sums[2][half][e] + sums[3][half][e]);
    } else {
      constexpr int kOfLane = kPanel / 2;
      const int column = lane % kTileColumns, first = lane / kTileColumns * kOfLane;
      T sums[kOfLane];
#pragma unroll
      for (int q = 0; q < kOfLane; ++q) sums[q] = from_real<T>(0);
      for (int i = 0; i < rows; ++i) {
        const T x = X[column * ld + i];
#pragma unroll
        for (int q = 0; q < kOfLane; ++q)
          sums[q] = add_product_conj(sums[q], x, P[(first + q) * ld + i]);
      }
#pragma unroll
      for (int q = 0; q < kOfLane; ++q) scratch[column * kScratchPitch + first + q] = sums[q];
    }
  }

  /// X := X - P C with the coefficients C in scratch. Stores the squared norms of the columns in
  /// sums.
  __device__ void subtract(int lane, R* sums) const {
    if constexpr (is_tensor) {
      const int g = lane / 4, t = lane % 4;
      double a[2][2], squares[2] = {};
#pragma unroll
      for (int s = 0; s < 2; ++s)
#pragma unroll
        for (int half = 0; half < 2; ++half)
          a[s][half] = -scratch[(g + 8 * half) * kScratchPitch + 4 * s + t];
      constexpr int kSteps = kRowStep / 8;  // all are read before the first one is written
      for (int r = 0; r < rows; r += kRowStep) {
        double c[kSteps][2][2], b[kSteps][2];
#pragma unroll
        for (int u = 0; u < kSteps; ++u) {
#pragma unroll
          for (int half = 0; half < 2; ++half)
#pragma unroll
            for (int e = 0; e < 2; ++e)
              c[u][half][e] = X[(g + 8 * half) * ld + r + 8 * u + 2 * t + e];
#pragma unroll
          for (int s = 0; s < 2; ++s) b[u][s] = P[(4 * s + t) * ld + r + 8 * u + g];
        }
#pragma unroll
        for (int s = 0; s < 2; ++s)
#pragma unroll
          for (int u = 0; u < kSteps; ++u) tensor_multiply(c[u], a[s], b[u][s]);
#pragma unroll
        for (int u = 0; u < kSteps; ++u)
#pragma unroll
          for (int half = 0; half < 2; ++half)
#pragma unroll
            for (int e = 0; e < 2; ++e) {
              X[(g + 8 * half) * ld + r + 8 * u + 2 * t + e] = c[u][half][e];
              squares[half] += c[u][half][e] * c[u][half][e];
            }
      }
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const double sum = sum_lanes<4>(squares[half]);
        if (t == 0) sums[g + 8 * half] = sum;
      }
    } else {
      R squares[kTileColumns];
#pragma unroll
      for (int c = 0; c < kTileColumns; ++c) squares[c] = 0;
      for (int i = lane; i < rows; i += 32) {
        T p[kPanel];
#pragma unroll
        for (int q = 0; q < kPanel; ++q) p[q] = P[q * ld + i];
#pragma unroll
        for (int c = 0; c < kTileColumns; ++c) {
          T x = X[c * ld + i];
#pragma unroll
          for (int q = 0; q < kPanel; ++q)
            x = subtract_product(x, p[q], scratch[c * kScratchPitch + q]);
          X[c * ld + i] = x;
          squares[c] += squared(x);
        }
      }
#pragma unroll
      for (int c = 0; c < kTileColumns; ++c) {
        const R sum = sum_lanes<32>(squares[c]);
        if (lane == 0) sums[c] = sum;
      }
    }
  }
};

/// Inner products of the vectors at P over rows [first, end), a multiple of 4 rows: element (i, j)
/// of P^H P is stored in sums[i * kPanel + j].
template <class T>
__device__ void multiply_panel(const T* P, int ld, int first, int end, int lane, T* sums) {
  if constexpr (std::is_same_v<T, double>) {
    const int g = lane / 4, t = lane % 4;
    double c[2] = {};
    for (int k = first; k < end; k += 4) {
      const double x = P[g * ld + k + t];
      tensor_multiply(c[0], c[1], x, x);
    }
    sums[g * kPanel + 2 * t] = c[0];
    sums[g * kPanel + 2 * t + 1] = c[1];
  } else {
    const int i = lane / 4, j = lane % 4 * 2;
    T c[2] = {from_real<T>(0), from_real<T>(0)};
    for (int k = first; k < end; ++k)
#pragma unroll
      for (int e = 0; e < 2; ++e) c[e] = add_product_conj(c[e], P[(j + e) * ld + k], P[i * ld + k]);
#pragma unroll
    for (int e = 0; e < 2; ++e) sums[i * kPanel + j + e] = c[e];
  }
}

/// A 16 by 16 block in a warp's registers, for sums of products of such blocks.
template <class T>
struct SquareSum {
  static constexpr bool is_tensor = std::is_same_v<T, double>;
  static constexpr int kOfLane = 8;
  T c[kOfLane];
  int lane;

  __device__ explicit SquareSum(int lane_) : lane(lane_) {
#pragma unroll
    for (int e = 0; e < kOfLane; ++e) c[e] = from_real<T>(0);
  }
  /// Subtracts left times right. @param left(i, k) @param right columns with leading dimension ld
  template <class Left>
  __device__ void subtract(const Left& left, const T* right, int ld) {
    if constexpr (is_tensor) {
      const int g = lane / 4, t = lane % 4;
      double sums[2][2][2];
#pragma unroll
      for (int e = 0; e < kOfLane; ++e) sums[e / 4][e / 2 % 2][e % 2] = c[e];
#pragma unroll
      for (int k = 0; k < 16; k += 4) {
        const double a[2] = {-left(g, k + t), -left(g + 8, k + t)};
#pragma unroll
        for (int v = 0; v < 2; ++v) tensor_multiply(sums[v], a, right[(8 * v + g) * ld + k + t]);
      }
#pragma unroll
      for (int e = 0; e < kOfLane; ++e) c[e] = sums[e / 4][e / 2 % 2][e % 2];
    } else {
      const int row = lane % 16, first = lane / 16 * kOfLane;
      for (int k = 0; k < 16; ++k) {
        const T a = left(row, k);
#pragma unroll
        for (int e = 0; e < kOfLane; ++e)
          c[e] = subtract_product(c[e], a, right[(first + e) * ld + k]);
      }
    }
  }
  /// Columns of `to` have leading dimension ld.
  __device__ void write(T* to, int ld) const {
#pragma unroll
    for (int e = 0; e < kOfLane; ++e) {
      if constexpr (is_tensor) {
        const int g = lane / 4, t = lane % 4;
        to[(8 * (e / 4) + 2 * t + e % 2) * ld + g + 8 * (e / 2 % 2)] = c[e];
      } else {
        to[(lane / 16 * kOfLane + e) * ld + lane % 16] = c[e];
      }
    }
  }
};

}  // namespace chol::cuda::tlr
