// Forward substitution with one right-hand side fused into a left-looking factorization
// (left_looking/panel_rows.cuh): the right-hand side is one more row of the matrix.
#pragma once

#include "batched/left_looking/panel_rows.cuh"

namespace chol::cuda {

template <class T>
struct RightHandSide {
  T* x;  ///< in shared memory: the right-hand side, then inverse(L) of it

  /// Capacity: narrow block columns read past the last entry.
  __host__ __device__ static constexpr int entries(int n, int columns) {
    return larger(n, columns);
  }

  /// Eliminates the strip with the diagonal block of block column j, and updates the right-hand
  /// side in its rows. @return as RowBlock::eliminate().
  template <int kMost, bool kReadEarly, class Rows, class Block>
  __device__ __forceinline__ Real<T> eliminate_first(Rows& rows, Block& block,
                                                     const RowBlockPlace& place, int j,
                                                     int lane) const {
    const bool is_there = lane < place.rows;
    Along along{is_there ? x[j + lane] : from_real<T>(0), place.columns};
    const Real<T> root =
        rows.template eliminate<kMost, true, kReadEarly>(block, place.columns, lane, along);
    const Real<T> inverse_root = lane < place.columns ? block.inverse_roots[lane] : Real<T>(1);
    if (is_there) x[j + lane] = scale(along.x, inverse_root);
    return root;
  }
  /// Updates the right-hand side in the rows from `row` on, below the diagonal block, which are
  /// already eliminated.
  template <int kMost, class Rows>
  __device__ __forceinline__ void eliminate_below(const Rows& rows, const RowBlockPlace& place,
                                                  int j, int row, int lane) const {
    if (lane >= place.rows) return;
    T left = x[row + lane];
#pragma unroll
    for (int c = 0; c < kMost; ++c)
      if (c < place.columns) left = subtract_product(left, rows.a[c], x[j + c]);
    x[row + lane] = left;
  }

 private:
  /// During an elimination: the entries in the diagonal block's rows are not yet scaled.
  struct Along {
    static constexpr bool kIs = true;
    T x;  ///< of the lane's row
    int columns;

    template <int c>
    __device__ __forceinline__ void eliminate(T m, int lane) {
      const T known = from_lane(x, c);
      if (lane > c && c < columns) x = subtract_product(x, m, known);
    }
  };
};

}  // namespace chol::cuda
