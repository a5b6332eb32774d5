// Tile operations of a blocked Cholesky besides C += A B^H: factorization with inverse, transfers
// to and from memory and panels.
#pragma once

#include "common/warp_tile.cuh"

namespace chol::cuda {

/// D := its Cholesky factor and X := the factor's inverse, by one warp in
/// registers. Columns of D stay unscaled until they are copied out, and rows of
/// X until the end, so that a step needs one mask: the row multiplier, zero for
/// finished rows.
/// @return -1, or the first column whose pivot is not positive and finite.
template <class TileT, class T>
__device__ __forceinline__ int factor_and_invert(TileT& D, TileT& X, int lane) {
  using R = Real<T>;
  constexpr int kElements = TileT::kElements, kRowStep = TileT::kColumnsHeld;
  int bad = -1;
  TileT L = D;
  R row_root[kElements / kRowStep];
#pragma unroll
  for (int e = 0; e < kElements; ++e)
    X.c[e] = from_real<T>(TileT::row(e, lane) == TileT::column(e, lane) ? R(1) : R(0));
#pragma unroll
  for (int j = 0; j < TileT::kOrder; ++j) {
    T d_row[kElements], d_column[kElements], x_row[kElements];
    const R pivot = real(D.diagonal(j));
    D.rows_of_column(d_row, j, lane);
    D.columns_of_column(d_column, j, lane);
    X.columns_of_row(x_row, j, lane);
    if (bad < 0 && !is_pivot(pivot)) bad = j;
    const R inverse_root = reciprocal_sqrt(pivot);
#pragma unroll
    for (int e0 = 0; e0 < kElements; e0 += kRowStep) {
      const int row = TileT::row(e0, lane);
      const T l = scale(d_row[e0], inverse_root);
      const T m = select(row > j && bad < 0, scale(l, inverse_root), from_real<T>(0));
      if (row == j) row_root[e0 / kRowStep] = inverse_root;
#pragma unroll
      for (int e = e0; e < e0 + kRowStep; ++e) {
        if (TileT::may_hold(e, j) && TileT::column(e, lane) == j)
          L.c[e] = row == j ? from_real<T>(pivot * inverse_root) : l;
        if (TileT::may_be_after(e, j)) D.c[e] = subtract_product_conj(D.c[e], m, d_column[e]);
        if (TileT::may_be_before(e, j)) X.c[e] = subtract_product(X.c[e], m, x_row[e]);
      }
    }
  }
#pragma unroll
  for (int e = 0; e < kElements; ++e) X.c[e] = scale(X.c[e], row_root[e / kRowStep]);
  D = L;
  return bad;
}

template <class TileT, class T>
__device__ __forceinline__ void to_panel(const TileT& tile, T* panel, int row0, int pitch,
                                         int lane) {
#pragma unroll
  for (int e = 0; e < TileT::kElements; ++e)
    panel[TileT::panel_index(row0 + TileT::row(e, lane), TileT::column(e, lane), pitch)] =
        tile.c[e];
}
template <class TileT>
__device__ __forceinline__ void negate(TileT& tile) {
#pragma unroll
  for (int e = 0; e < TileT::kElements; ++e) tile.c[e] = negative(tile.c[e]);
}
template <class TileT, class T>
__device__ __forceinline__ void negated_to_panel(TileT tile, T* panel, int row0, int pitch,
                                                 int lane) {
  negate(tile);
  to_panel(tile, panel, row0, pitch, lane);
}
template <class TileT, class T>
__device__ __forceinline__ void from_panel(TileT& tile, const T* panel, int row0, int pitch,
                                           int lane) {
#pragma unroll
  for (int e = 0; e < TileT::kElements; ++e)
    tile.c[e] =
        panel[TileT::panel_index(row0 + TileT::row(e, lane), TileT::column(e, lane), pitch)];
}

/// Addresses of a lane's elements of a tile: element e at `first` + offset(e), since rows and
/// columns are sums of a term of the lane and a term of e.
template <class TileT, class T>
struct TileAddress {
  T* first;
  int64_t row_step, column_step;

  /// The tile `rows` and `columns` further on.
  __device__ __forceinline__ TileAddress moved(int rows, int columns) const {
    TileAddress other = *this;
    other.first += rows * row_step + columns * column_step;
    return other;
  }

  __device__ __forceinline__ TileAddress(const LowerView<T>& A, int i0, int j0, int lane) {
    row_step = A.swapped ? A.ld : 1;
    column_step = A.swapped ? 1 : A.ld;
    first =
        A.a + (i0 + TileT::row(0, lane)) * row_step + (j0 + TileT::column(0, lane)) * column_step;
  }
  __device__ __forceinline__ T* at(int e) const {
    return first + (TileT::row(e, 0) - TileT::row(0, 0)) * row_step +
           (TileT::column(e, 0) - TileT::column(0, 0)) * column_step;
  }
};

/// Loads the tile at `address`, at most `rows` rows, of a diagonal tile the lower half; padded by
/// the identity, which does not affect the factor. Short, because it is unrolled over tiles.
template <class TileT, class T>
__device__ __forceinline__ void load_tile(TileT& tile, const TileAddress<TileT, T>& address,
                                          int rows, bool diagonal, int lane) {
#pragma unroll
  for (int e = 0; e < TileT::kElements; ++e) {
    const int i = TileT::row(e, lane), j = TileT::column(e, lane);
    tile.c[e] = from_real<T>(diagonal && i == j ? 1 : 0);
    if (i < rows && (!diagonal || j <= i)) tile.c[e] = *address.at(e);
  }
}

/// Stores the tile at (i0, j0) of A, at most `rows` by `columns`, of a triangular one the lower
/// half.
template <class TileT, class T>
__device__ __forceinline__ void store_tile(const TileT& tile, const LowerView<T>& A, int i0, int j0,
                                           int rows, int columns, bool triangular, int lane) {
  const TileAddress<TileT, T> address(A, i0, j0, lane);
  if (!triangular && rows >= TileT::kOrder) {
#pragma unroll
    for (int e = 0; e < TileT::kElements; ++e) *address.at(e) = tile.c[e];
  } else {
#pragma unroll
    for (int e = 0; e < TileT::kElements; ++e) {
      const int i = TileT::row(e, lane), j = TileT::column(e, lane);
      if (i < rows && j < columns && (!triangular || j <= i)) *address.at(e) = tile.c[e];
    }
  }
}

/// Row tiles first, first + step, ... < end of the panel, P, become P X^H, in the panel and in A,
/// whose column 0 is that of the panel. They belong to the calling warp; at most kRows of them.
template <int kRows, class TileT, class T>
__device__ __forceinline__ void multiply_by_inverse(T* panel, int first, int step, int end,
                                                    int pitch, const T* X, int pitch_x,
                                                    const LowerView<T>& A, int m, int lane) {
  constexpr int kOrder = TileT::kOrder;
  TileT product[kRows];
  const T *a[kRows], *b[kRows];
#pragma unroll
  for (int q = 0; q < kRows; ++q) {
#pragma unroll
    for (int e = 0; e < TileT::kElements; ++e) product[q].c[e] = from_real<T>(0);
    // Beyond the end the warp's first row is used; that product is discarded.
    const int row = first + q * step < end ? first + q * step : first;
    a[q] = panel + TileT::panel_index(row * kOrder, 0, pitch);
    b[q] = X;
  }
  TileT::template add_products<kRows>(product, a, pitch, b, pitch_x, lane);
  __syncwarp();
#pragma unroll
  for (int q = 0; q < kRows; ++q)
    if (first + q * step < end) {
      const int row0 = (first + q * step) * kOrder;
      to_panel(product[q], panel, row0, pitch, lane);
      store_tile(product[q], A, row0, 0, m - row0, kOrder, false, lane);
    }
  __syncwarp();
}

/// Columns [j0, j0 + kOrder) of A's first kRows rows into panel rows [shift, ...), by asynchronous
/// copies, the same number for every thread, with constant strides; rows from `rows` on become
/// zero. Counts are powers of two.
template <class TileT, int kRows, int kAllThreads, class T>
__device__ __forceinline__ void stage_rows(T* panel, int pitch, int shift, const LowerView<T>& A,
                                           int64_t j0, int rows, int thread) {
  constexpr int kOrder = TileT::kOrder;
  constexpr int kThreads = kAllThreads < kRows * kOrder ? kAllThreads : kRows * kOrder;
  constexpr int kCopies = kRows * kOrder / kThreads;
  if (thread >= kThreads) return;
  static_assert(kThreads % kRows == 0 || kRows % kThreads == 0);
  constexpr int kColumnsAtOnce = kThreads > kRows ? kThreads / kRows : 1;
  constexpr int kRowParts = kRows > kThreads ? kRows / kThreads : 1;
  static_assert(kCopies == kRowParts * (kOrder / kColumnsAtOnce));
#pragma unroll
  for (int copy = 0; copy < kCopies; ++copy) {
    int row, k;
    if (A.swapped) {
      row = thread / kOrder + copy * (kThreads / kOrder);
      k = thread % kOrder;
    } else {
      row = thread % kRows + copy % kRowParts * kThreads;
      k = thread / kRows + copy / kRowParts * kColumnsAtOnce;
    }
    T* const to = panel + TileT::panel_index(row + shift, k, pitch);
    if (row < rows) {
      const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address),
                   "l"(A.at(row, j0 + k)), "n"(sizeof(T)));
    } else {
      *to = from_real<T>(0);
    }
  }
}
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

}  // namespace chol::cuda
