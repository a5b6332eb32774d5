// Bordering in solve/block/kernel.cuh: the last row of an order of k diagonal blocks and one row is
// solved between the two substitutions over all other rows, which need no diagonal block for it.
#pragma once

#include "batched/solve/block/register_columns.cuh"

namespace chol::cuda {

/// The part of a thread that has another row of one right-hand side.
template <class T>
struct BlockBorder {
  T element;  ///< of the thread's own row
  T right_hand_side;
  T diagonal;

  /// @param n of the row. @param row of the thread.
  __device__ __forceinline__ void load(const LowerView<T>& A, int n, int row) {
    element = row < n ? *A.at(n, row) : from_real<T>(0);
    diagonal = *A.at(n, n);
  }
  __device__ __forceinline__ void load_right_hand_side(const RightHandSides<T>& rhs,
                                                       int64_t column) {
    right_hand_side = conj_if(rhs.conjugated, *rhs.at(rhs.n, column));
  }
  /// Solves for the row's unknown and subtracts it from the others. Synchronizes all warps of the
  /// block. Partial sums are in unused memory, alternating between two places, so that late readers
  /// do not see newer ones. @tparam kOfHead number of the head's warps.
  template <int kOfHead, class Rows, class Parts>
  __device__ __forceinline__ void pass(Rows& rows, const RightHandSides<T>& rhs, const Parts& parts,
                                       int64_t column, unsigned phase) const {
    const auto sum = [&](int warp) { return parts.padding(warp, kOfHead, 1 + phase % 2); };
    const int warp = threadIdx.x / 32;
    const T own = sum_lanes<32>(subtract_product(from_real<T>(0), element, rows.v));
    const int used = min(int(blockDim.x) / 32, parts.head.L.blocks(rhs.n));
    if (threadIdx.x % 32 == 0 && warp < used) *sum(warp) = own;
    __syncthreads();
    T left = right_hand_side;
    for (int k = 0; k < used; ++k) left = add(left, *sum(k));
    const Real<T> inverse = Real<T>(1) / real(diagonal);
    const T unknown = scale(scale(left, inverse), inverse);
    rows.v = subtract_product(rows.v, conj(element), unknown);
    if (threadIdx.x == 0) *rhs.at(rhs.n, column) = conj_if(rhs.conjugated, unknown);
  }
};

}  // namespace chol::cuda
