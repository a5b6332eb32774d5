// A column of the inverse of a small lower triangle, in the registers of one thread.
#pragma once

#include "common/scalar.cuh"

namespace chol::cuda {

/// x := column c of the inverse, by kOrder adjacent lanes with one column each.
/// @param own inverse of the thread's own diagonal element, 0 where its row is outside the matrix.
/// @param copy_run(run, s) fills the elements of run s, which is column s below the diagonal or,
/// with kSwapped, row s up to it.
template <bool kSwapped, class T, int kOrder, class CopyRun>
__device__ __forceinline__ void inverse_column(T (&x)[kOrder], int c, Real<T> own,
                                               CopyRun&& copy_run) {
  T run[kOrder];
#pragma unroll
  for (int r = 0; r < kOrder; ++r) x[r] = from_real<T>(r == c ? Real<T>(1) : Real<T>(0));
#pragma unroll
  for (int s = 0; s < kOrder; ++s) {
    copy_run(run, s);
    const Real<T> inverse = __shfl_sync(kFullWarp, own, s, kOrder);
    if constexpr (kSwapped) {
#pragma unroll
      for (int k = 0; k < s; ++k) x[s] = subtract_product(x[s], run[k], x[k]);
    }
    x[s] = select(s < c, from_real<T>(0), scale(x[s], inverse));
    if constexpr (!kSwapped) {
#pragma unroll
      for (int r = s + 1; r < kOrder; ++r) x[r] = subtract_product(x[r], run[r], x[s]);
    }
  }
}

}  // namespace chol::cuda
