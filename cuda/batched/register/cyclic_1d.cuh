// One-dimensional cyclic layout of a small lower triangle in the registers of a group of lanes:
// lane r holds rows (of the upper triangle columns) r, r + lanes, ..., so that loads are coalesced.
// Rows end at the diagonal tile, so that few registers hold elements above it.
#pragma once

#include <utility>

#include "common/batch_view.cuh"
#include "common/scalar.cuh"

namespace chol::cuda {

/// @tparam Lines the derived class, register/row_cyclic.cuh or register/column_cyclic.cuh.
/// @tparam N largest order, a multiple of kLanes.
template <class Lines, class T, int N, int kLanes, bool kColumns>
struct RegisterTriangle {
  static constexpr int kLaneCount = kLanes;
  static constexpr int kTiles = N / kLanes;
  static constexpr int kGroups = 32 / kLanes;   ///< matrices of a warp
  static constexpr int kWide = 16 / sizeof(T);  ///< elements of one shared-memory access
  static constexpr int kColumn = N;             ///< a column in shared memory
  /// Two columns; an odd number of accesses keeps groups in different banks.
  static constexpr int kGroupShared = ((2 * kColumn + kWide - 1) / kWide | 1) * kWide;
  static constexpr int kShared = kGroupShared * kGroups;  ///< elements a warp
  static_assert(N % kLanes == 0 && N % kWide == 0);

  /// a[g][k]: the element of line g * kLanes + r and line k of the other direction.
  T a[kTiles][N];

  __device__ __forceinline__ void load(const LowerView<T>& A, int n, int r) {
    move<false>(A, n, r);
  }
  __device__ __forceinline__ void store(const LowerView<T>& A, int n, int r) {
    move<true>(A, n, r);
  }

  /// Moves the triangle between memory and registers, line by line of memory: contiguous accesses
  /// are fastest.
  template <bool kStore>
  __device__ __forceinline__ void move(LowerView<T> A, int n, int r) {
    // Hides from the compiler that loads and stores have the same addresses and conditions: kept in
    // between, these would take as many registers as the matrix.
    asm volatile("" : "+l"(A.a), "+l"(A.ld), "+r"(n), "+r"(r));
    T* p = A.a + r;
    __builtin_assume(__isGlobal(p));
#pragma unroll
    for (int u = 0; u < kTiles; ++u)
#pragma unroll
      for (int c = 0; c < kLanes; ++c, p += A.ld)
#pragma unroll
        for (int v = 0; v < kTiles; ++v) {
          if (kColumns ? v > u : v < u) continue;
          const int line = u * kLanes + c, own = v * kLanes + r;
          const int i = kColumns ? line : own, j = kColumns ? own : line;
          const bool inside = i < n && j <= i;
          if constexpr (kStore) {
            if (inside) p[v * kLanes] = a[v][line];
          } else {
            // Beyond n the identity, which does not affect the result.
            T x = from_real<T>(i == j ? 1 : 0);
            if (inside) x = p[v * kLanes];
            a[v][line] = x;
          }
        }
  }

  /// Right-looking elimination; a column is broadcast through shared memory unscaled, and its
  /// successor is published before the end of the update, which hides that latency. @tparam kMasked
  /// passed on to Lines.
  /// @param bound largest n of the warp.
  /// @return 0, or the order of the first leading minor that is not positive
  /// definite.
  template <bool kMasked>
  __device__ __forceinline__ int eliminate(T* shared, int n, int bound, int r) {
    int info = 0;
    eliminate_columns<kMasked>(shared, n, bound, r, info, std::make_integer_sequence<int, N>{});
    return info;
  }

  /// x := L^-H L^-1 x for kCount right-hand sides; x is distributed over the lanes as the lines of
  /// L. In the direction across the lines an unknown is broadcast, and lanes subtract its products;
  /// in the direction along them the products are summed over the lanes.
  template <int kCount>
  __device__ __forceinline__ void solve(const Real<T> (&inverse)[kTiles], T (&x)[kCount][kTiles],
                                        int bound, int r) const {
    if constexpr (kColumns) {
      solve_along(inverse, x, bound, r);
      solve_across(inverse, x, bound, r);
    } else {
      solve_across(inverse, x, bound, r);
      solve_along(inverse, x, bound, r);
    }
  }
  __device__ __forceinline__ void invert_diagonal(Real<T> (&inverse)[kTiles], int r) const {
#pragma unroll
    for (int g = 0; g < kTiles; ++g) {
      Real<T> d = 1;
#pragma unroll
      for (int c = 0; c < kLanes; ++c)
        if (c == r) d = real(a[g][g * kLanes + c]);
      inverse[g] = Real<T>(1) / d;
    }
  }

 private:
  /// Whether tile g, or in the unknown's tile this lane, has lines that the unknown updates.
  __device__ static __forceinline__ bool is_off(int g, int tile) {
    return kColumns ? g < tile : g > tile;
  }

  /// Every unknown is broadcast to all lanes, which subtract its products from their own: forward
  /// by rows, backward by columns.
  template <int kCount>
  __device__ __forceinline__ void solve_across(const Real<T> (&inverse)[kTiles],
                                               T (&x)[kCount][kTiles], int bound, int r) const {
#pragma unroll
    for (int step = 0; step < N; ++step) {
      const int j = kColumns ? N - 1 - step : step, tile = j / kLanes, owner = j % kLanes;
      if (j >= bound) continue;
#pragma unroll
      for (int q = 0; q < kCount; ++q) {
        const T xj = from_lane(scale(x[q][tile], inverse[tile]), owner, kLanes);
#pragma unroll
        for (int g = 0; g < kTiles; ++g) {
          if (g != tile && !is_off(g, tile)) continue;
          const T updated = kColumns ? subtract_product_conj(x[q][g], xj, a[g][j])
                                     : subtract_product(x[q][g], a[g][j], xj);
          if (g != tile)
            x[q][g] = updated;
          else
            x[q][g] = select(is_off(r, owner), updated, select(r == owner, xj, x[q][g]));
        }
      }
    }
  }
  /// The products of the lanes' unknowns with the next one's line are summed: backward by rows,
  /// forward by columns.
  template <int kCount>
  __device__ __forceinline__ void solve_along(const Real<T> (&inverse)[kTiles],
                                              T (&x)[kCount][kTiles], int bound, int r) const {
#pragma unroll
    for (int step = 0; step < N; ++step) {
      const int j = kColumns ? step : N - 1 - step, tile = j / kLanes, owner = j % kLanes;
      if (j >= bound) continue;
#pragma unroll
      for (int q = 0; q < kCount; ++q) {
        T sum = from_real<T>(0);
        if (is_off(r, owner)) sum = add_of(sum, a[tile][j], x[q][tile]);
#pragma unroll
        for (int g = 0; g < kTiles; ++g)
          if (is_off(g, tile)) sum = add_of(sum, a[g][j], x[q][g]);
        sum = sum_lanes<kLanes>(sum);
        T& own = x[q][tile];
        const T rest = kColumns ? add(own, sum) : subtract(own, sum);
        own = select(r == owner, scale(rest, inverse[tile]), own);
      }
    }
  }
  /// The sign of the sum affects the generated code: for lines along rows the opposite sign is
  /// faster.
  __device__ static __forceinline__ T add_of(T sum, T element, T unknown) {
    return kColumns ? subtract_product(sum, element, unknown)
                    : add_conj_product(sum, element, unknown);
  }

  // A fold expression, since the compiler does not unroll loops of so many statements.
  template <bool kMasked, int... j>
  __device__ __forceinline__ void eliminate_columns(T* shared, int n, int bound, int r, int& info,
                                                    std::integer_sequence<int, j...>) {
    (take_column<j, kMasked>(shared, n, bound, r, info), ...);
  }
  template <int j, bool kMasked>
  __device__ __forceinline__ void take_column(T* shared, int n, int bound, int r, int& info) {
    if (j >= bound) return;
    __syncwarp();
    const T* const column = shared + (j % 2) * kColumn;
    const Real<T> pivot = real(column[j]);
    if (info == 0 && j < n && !is_pivot(pivot)) info = j + 1;
    static_cast<Lines*>(this)->template eliminate_column<j, kMasked>(
        column, shared + (j + 1) % 2 * kColumn, pivot, r);
  }
};

}  // namespace chol::cuda
