// A diagonal block of a factor for solves by one warp.
#pragma once

#include "common/scalar.cuh"

namespace chol::cuda {

/// Its columns are divided by their diagonal elements. L = U D, so that the unit triangular U
/// serves both sweeps and no unknown depends on a division or a product with an inverse.
template <class T, int kOrder>
struct UnitBlock {
  Real<T> inverse[kOrder];                 ///< of the diagonal elements
  T below[kOrder * (kOrder - 1) / 2 + 1];  ///< the diagonal, row after row

  __device__ static constexpr int index(int a, int b) { return a * (a - 1) / 2 + b; }

  /// @param element(a, b) of the block. @param rows number of rows within the matrix.
  template <class Element>
  __device__ __forceinline__ void load(int rows, Element&& element) {
#pragma unroll
    for (int b = 0; b < kOrder; ++b) {
      inverse[b] = b < rows ? Real<T>(1) / real(element(b, b)) : Real<T>(0);
#pragma unroll
      for (int a = b + 1; a < kOrder; ++a)
        below[index(a, b)] = select(a < rows, scale(element(a, b), inverse[b]), from_real<T>(0));
    }
  }

  /// x := L^-1 x, or L^-H x, of every column.
  template <bool kForward, int kColumns>
  __device__ __forceinline__ void solve(T (&x)[kOrder][kColumns]) const {
    if constexpr (!kForward) divide(x);
#pragma unroll
    for (int step = 1; step < kOrder; ++step)
#pragma unroll
      for (int before = 0; before < step; ++before) {
        const int to = kForward ? step : kOrder - 1 - step;
        const int from = kForward ? before : kOrder - 1 - before;
        const T factor = kForward ? below[index(to, from)] : conj(below[index(from, to)]);
#pragma unroll
        for (int q = 0; q < kColumns; ++q)
          x[to][q] = subtract_product(x[to][q], factor, x[from][q]);
      }
    if constexpr (kForward) divide(x);
  }

 private:
  template <int kColumns>
  __device__ __forceinline__ void divide(T (&x)[kOrder][kColumns]) const {
#pragma unroll
    for (int a = 0; a < kOrder; ++a)
#pragma unroll
      for (int q = 0; q < kColumns; ++q) x[a][q] = scale(x[a][q], inverse[a]);
  }
};

}  // namespace chol::cuda
