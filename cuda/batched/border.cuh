// The last row of a matrix beside the factorization of all rows before it (left_looking.cuh), as a
// right-hand side of theirs: inverse(L) a^H is l^H, and the pivot is what the squares of l leave of
// the last diagonal element. So an order of a whole number of block columns and one more has no
// narrow block column, which takes as long as a whole one.
#pragma once

#include "batched/async_copy.cuh"
#include "common/pivot.cuh"
#include "common/view.cuh"

namespace chol::cuda {

template <class T>
struct Border {
  LowerView<T> A;
  int n;  ///< the row, and the order of what lies before it

  /// Starts the copies of a to x, by one warp.
  __device__ __forceinline__ void start_copies(T* x, int lane) const {
    for (int i = lane; i < n; i += 32) copy_async<sizeof(T)>(x + i, A.at(n, i));
    close_copy_group();
  }
  /// x := a^H, by the same warp, when the copies are there.
  __device__ __forceinline__ void conjugate(T* x, int lane) const {
    wait_for_copy_groups<0>();
    if constexpr (Traits<T>::is_complex)
      for (int i = lane; i < n; i += 32) x[i] = conj(x[i]);
    __syncwarp();
  }
  /// Stores l as far as `columns`, by one warp.
  __device__ __forceinline__ void store(const T* x, int columns, int lane) const {
    for (int i = lane; i < columns; i += 32) *A.at(n, i) = conj(x[i]);
  }
  /// Stores l and the root of the pivot, by one warp. @return whether it has one.
  __device__ __forceinline__ bool finish(const T* x, int lane) const {
    using R = Real<T>;
    R squares = 0;
    for (int i = lane; i < n; i += 32)
      squares = real(add_product_conj(from_real<T>(squares), x[i], x[i]));
    store(x, n, lane);
    T* const diagonal = A.at(n, n);
    const R pivot = real(*diagonal) - sum_lanes<32>(squares);
    const R root = sqrt_from(pivot, reciprocal_sqrt(pivot));
    __syncwarp();
    if (lane == 0) *diagonal = from_real<T>(root);
    return is_pivot(pivot);
  }
};

}  // namespace chol::cuda
