// Backward substitution with one right-hand side after a factorization by left_looking/kernel.cuh.
// Block columns are read again from right to left; lanes hold rows, and the next 32 rows are
// prefetched.
#pragma once

#include "batched/left_looking/panel_rows.cuh"
#include "common/vector_access.cuh"
#include "common/warp_reduce.cuh"

namespace chol::cuda {

/// One matrix, its factor in device memory, and inverse(L) of its right-hand side in shared memory.
/// One warp solves, so that the bits do not depend on the number of warps that factored.
template <class T, int kColumnCount>
struct LeftLookingSolve {
  static constexpr int kColumns = kColumnCount;
  using R = Real<T>;
  using Rows = RowBlock<T, kColumns>;
  /// Shared memory: a buffer for rows, then the diagonal block by rows.
  static constexpr int kPitch = Rows::kPitch, kBlockAt = Rows::kScratch;
  static constexpr int kScratch = kBlockAt + kColumns * kPitch;  ///< elements

  LowerView<T> A;
  int n;
  T* x;               ///< finally the solution
  const R* inverses;  ///< of the diagonal
  T* scratch;
  int lane;
  bool aligned;

  /// x := inverse(L^H) x
  __device__ __forceinline__ void backward() const {
    Place at{larger(0, n - kColumns), 0};
    at.row = at.j;
    Rows rows;
    load(rows, at);
    T sums[kColumns] = {};
#pragma unroll 1
    while (true) {
      const Place here = at;
      add_rows(sums, rows, here);
      if (here.is_last()) put_block(rows);
      const bool goes_on = here.row > 0;
      if (goes_on) {
        at = after(here);
        load(rows, at);
      }
      if (!here.is_last()) continue;
      find(sums, here.j);
      if (!goes_on) return;
#pragma unroll
      for (int c = 0; c < kColumns; ++c) sums[c] = from_real<T>(0);
    }
  }

 private:
  /// 32 rows of a block column, those with its diagonal block last.
  struct Place {
    int j, row;
    __device__ __forceinline__ bool is_last() const { return row == j; }
  };
  __device__ __forceinline__ Place after(const Place& place) const {
    const int j = place.is_last() ? larger(0, place.j - kColumns) : place.j;
    const int row = (place.is_last() ? j : place.row) + 32;
    return {j, row < n ? row : j};
  }
  __device__ __forceinline__ int columns_at(int j) const {
    return j == 0 ? (n - 1) % kColumns + 1 : kColumns;
  }
  __device__ __forceinline__ void load(Rows& rows, const Place& place) const {
    rows.template load<kColumns>(
        A.from(place.row, place.j),
        {n - place.row, columns_at(place.j), place.is_last() ? 0 : -32, aligned}, scratch, lane);
  }
  /// sums += the lane's row times its unknown, if that exists and is solved: otherwise the row may
  /// have any content.
  __device__ __forceinline__ void add_rows(T (&sums)[kColumns], const Rows& rows,
                                           const Place& place) const {
    const int unknown = place.row + lane;
    if (unknown >= n || unknown < place.j + columns_at(place.j)) return;
    const T its = x[unknown];
#pragma unroll
    for (int c = 0; c < kColumns; ++c) sums[c] = add_conj_product(sums[c], rows.a[c], its);
  }
  /// The diagonal block, whose rows are the first of these. find() ended with a barrier, so that no
  /// lane reads the previous one any more.
  __device__ __forceinline__ void put_block(const Rows& rows) const {
    if (lane < kColumns) copy_wide<kColumns>(scratch + kBlockAt + lane * kPitch, rows.a);
    __syncwarp();
  }
  /// The unknowns of the block column at j, lane c that of column c % kColumns, from the sums of
  /// the products with later unknowns. Unknowns are broadcast one by one: solving several at a time
  /// is faster for a single warp, but takes twice the instructions, and other warps share the
  /// multiprocessor.
  __device__ __forceinline__ void find(const T (&sums)[kColumns], int j) const {
    const T sum = sum_lanes_each<kColumns>(sums, lane);
    const int columns = columns_at(j), c = lane % kColumns;
    const R inverse = c < columns ? inverses[j + c] : R(0);
    T factors[kColumns];
#pragma unroll
    for (int k = 1; k < kColumns; ++k)
      factors[k] = scale(conj(scratch[kBlockAt + k * kPitch + c]), inverse);
    T left = scale(subtract(lane < columns ? x[j + lane] : from_real<T>(0), sum), inverse);
#pragma unroll
    for (int k = kColumns - 1; k > 0; --k) {
      const T known = from_lane(left, k);
      if (c < k && k < columns) left = subtract_product(left, factors[k], known);
    }
    if (lane < columns) x[j + lane] = left;
    __syncwarp();
  }
};

}  // namespace chol::cuda
