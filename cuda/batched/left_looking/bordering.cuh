// Bordering: the last row of a matrix is factored on its own, as a right-hand side of the rows
// before it (left_looking/kernel.cuh): l^H = inverse(L) a^H, and l_nn^2 = a_nn - |l|^2. An order of
// k block columns and one row then needs no block column of one column, which would take as long as
// a full one.
#pragma once

#include "common/batch_view.cuh"
#include "common/cp_async.cuh"
#include "common/pivot.cuh"

namespace chol::cuda {

template <class T>
struct Border {
  LowerView<T> A;
  int n;  ///< the row, and the order of the matrix before it

  /// Starts the asynchronous copies of a to x, by one warp.
  __device__ __forceinline__ void start_copies(T* x, int lane) const {
    for (int i = lane; i < n; i += 32) copy_async<sizeof(T)>(x + i, A.at(n, i));
    close_copy_group();
  }
  /// x := a^H, by the same warp, after the copies have arrived.
  __device__ __forceinline__ void conjugate(T* x, int lane) const {
    wait_for_copy_groups<0>();
    if constexpr (Traits<T>::is_complex)
      for (int i = lane; i < n; i += 32) x[i] = conj(x[i]);
    __syncwarp();
  }
  /// Stores the first `columns` elements of l, by one warp.
  __device__ __forceinline__ void store(const T* x, int columns, int lane) const {
    for (int i = lane; i < columns; i += 32) *A.at(n, i) = conj(x[i]);
  }
  /// Stores l and the root of the pivot, by one warp. @return whether the pivot is positive.
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
