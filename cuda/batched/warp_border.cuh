// The last row of a triangle in warp_solve.cuh of a row more than all lanes have: between the
// sweeps over all other rows, which so need no lane of more rows.
#pragma once

#include "batched/solve_columns.cuh"
#include "common/view.cuh"

namespace chol::cuda {

/// As a lane sees it that has kGroup other rows of kColumns right-hand sides.
template <class T, int kGroup, int kColumns>
struct WarpBorder {
  T elements[kGroup];  ///< of the lane's own rows
  T diagonal;
  T unknowns[kColumns];

  /// @param n of the row.
  __device__ __forceinline__ void load(const LowerView<T>& A, int n, int lane) {
#pragma unroll
    for (int b = 0; b < kGroup; ++b) elements[b] = *A.at(n, kGroup * lane + b);
    diagonal = *A.at(n, n);
  }
  /// @param row of the right-hand sides, of which there are `columns`, ldb apart.
  __device__ __forceinline__ void load_right_hand_sides(const T* row, int64_t ldb, int64_t columns,
                                                        bool conjugated) {
#pragma unroll
    for (int q = 0; q < kColumns; ++q)
      unknowns[q] = q < columns ? conj_if(conjugated, row[q * ldb]) : from_real<T>(0);
  }
  /// Finds the row's unknowns and takes them out of the others.
  __device__ __forceinline__ void pass(T (&others)[kGroup][kColumns]) {
    const Real<T> inverse = Real<T>(1) / real(diagonal);
#pragma unroll
    for (int q = 0; q < kColumns; ++q) {
      T sum = from_real<T>(0);
#pragma unroll
      for (int b = 0; b < kGroup; ++b) sum = subtract_product(sum, elements[b], others[b][q]);
      unknowns[q] = scale(scale(add(unknowns[q], sum_lanes<32>(sum)), inverse), inverse);
#pragma unroll
      for (int b = 0; b < kGroup; ++b)
        others[b][q] = subtract_product(others[b][q], conj(elements[b]), unknowns[q]);
    }
  }
  __device__ __forceinline__ void store(T* row, int64_t ldb, int64_t columns, bool conjugated,
                                        int lane) const {
#pragma unroll
    for (int q = 0; q < kColumns; ++q)
      if (lane == 0 && q < columns) row[q * ldb] = conj_if(conjugated, unknowns[q]);
  }
};

}  // namespace chol::cuda
