// A small lower triangle in the registers of a group of lanes: lane r holds
// rows r, r + lanes, ... cut off at the diagonal tile, so that few registers
// hold elements above it.
#pragma once

#include <utility>

#include "common/scalar.cuh"
#include "common/view.cuh"

namespace chol::cuda {

/// @tparam N largest order, a multiple of kLanes.
template <class T, int N, int kLanes>
struct RegisterRows {
  static constexpr int kLaneCount = kLanes;
  static constexpr int kTiles = N / kLanes;
  static constexpr int kGroups = 32 / kLanes;             ///< matrices of a warp
  static constexpr int kWide = 16 / sizeof(T);            ///< elements of one shared-memory access
  static constexpr int kColumn = N;                       ///< a column in shared memory
  static constexpr int kRound = kLanes < 8 ? kLanes : 8;  ///< tile columns transposed at once
  /// Two columns or a transposed round; an odd number of accesses keeps groups
  /// in different banks.
  static constexpr int kElements = 2 * kColumn > kLanes*(kRound + 1) ? 2 * kColumn
                                                                     : kLanes*(kRound + 1);
  static constexpr int kGroupShared = ((kElements + kWide - 1) / kWide | 1) * kWide;
  static constexpr int kShared = kGroupShared * kGroups;  ///< elements a warp
  static_assert(N % kLanes == 0 && N % kWide == 0);

  T a[kTiles][N];

  /// Moves the triangle between memory and registers, line by line of memory, a column or of upper
  /// storage a row: pieces of a line that follow each other are what memory is fast at. Upper tiles
  /// then lie transposed across the lanes, which transpose() mends.
  template <bool kStore>
  __device__ __forceinline__ void move(LowerView<T> A, int n, int r) {
    // Hides that loads and stores have the same addresses: kept from one to the
    // other, they would take as many registers as the matrix.
    asm volatile("" : "+l"(A.a));
    if (A.swapped)
      move_lines<kStore, true>(A, n, r);
    else
      move_lines<kStore, false>(A, n, r);
  }
  template <bool kStore, bool kSwapped>
  __device__ __forceinline__ void move_lines(const LowerView<T>& A, int n, int r) {
    T* p = A.a + r;
#pragma unroll
    for (int u = 0; u < kTiles; ++u)
#pragma unroll
      for (int c = 0; c < kLanes; ++c, p += A.ld)
#pragma unroll
        for (int v = 0; v < kTiles; ++v) {
          if (kSwapped ? v > u : v < u) continue;
          const int g = kSwapped ? u : v, h = kSwapped ? v : u;
          const int i = g * kLanes + (kSwapped ? c : r), j = h * kLanes + (kSwapped ? r : c);
          const bool inside = i < n && j <= i;
          T& x = a[g][h * kLanes + c];
          if constexpr (kStore) {
            if (inside) p[v * kLanes] = x;
          } else {
            // Beyond n the identity, which factors and solves harmlessly.
            x = inside ? p[v * kLanes] : from_real<T>(i == j ? 1 : 0);
          }
        }
  }

  /// Transposes each tile across the lanes of the group through `shared`, the
  /// group's columns.
  __device__ __forceinline__ void transpose(T* shared, int r) {
    constexpr int kPitch = kRound + 1;
#pragma unroll
    for (int g = 0; g < kTiles; ++g)
#pragma unroll
      for (int h = 0; h <= g; ++h) {
        T moved[kLanes];
#pragma unroll
        for (int c0 = 0; c0 < kLanes; c0 += kRound) {
          __syncwarp();
#pragma unroll
          for (int c = 0; c < kRound; ++c) shared[r * kPitch + c] = a[g][h * kLanes + c0 + c];
          __syncwarp();
          if (r >= c0 && r < c0 + kRound) {
#pragma unroll
            for (int c = 0; c < kLanes; ++c) moved[c] = shared[c * kPitch + r - c0];
          }
        }
#pragma unroll
        for (int c = 0; c < kLanes; ++c) a[g][h * kLanes + c] = moved[c];
      }
    __syncwarp();
  }

  __device__ __forceinline__ void load(const LowerView<T>& A, int n, int r, T* shared) {
    move<false>(A, n, r);
    if (A.swapped) transpose(shared, r);
  }
  __device__ __forceinline__ void store(const LowerView<T>& A, int n, int r, T* shared) {
    if (A.swapped) transpose(shared, r);
    move<true>(A, n, r);
  }

  __device__ __forceinline__ void publish(T* column, int j, int r) const {
#pragma unroll
    for (int g = j / kLanes; g < kTiles; ++g) column[g * kLanes + r] = a[g][j];
  }

  /// Right-looking elimination; a column goes to all lanes through shared
  /// memory unscaled, and its successor is published before the rest of the
  /// update, which hides that latency.
  /// @param bound largest n of the warp.
  /// @return 0, or the order of the first leading minor that is not positive
  /// definite.
  __device__ __forceinline__ int factor(T* shared, int n, int bound, int r) {
    int info = 0;
    publish(shared, 0, r);
    eliminate_columns(shared, n, bound, r, info, std::make_integer_sequence<int, N>{});
    return info;
  }
  // A fold, since the compiler gives up unrolling loops of so many statements.
  template <int... j>
  __device__ __forceinline__ void eliminate_columns(T* shared, int n, int bound, int r, int& info,
                                                    std::integer_sequence<int, j...>) {
    (eliminate_column<j>(shared, n, bound, r, info), ...);
  }
  template <int j>
  __device__ __forceinline__ void eliminate_column(T* shared, int n, int bound, int r, int& info) {
    using R = Real<T>;
    if (j >= bound) return;
    __syncwarp();
    const T* column = shared + (j % 2) * kColumn;
    const R pivot = real(column[j]);
    if (info == 0 && j < n && !is_pivot(pivot)) info = j + 1;
    const R inverse_root = reciprocal_sqrt(pivot);
    T m[kTiles];
#pragma unroll
    for (int g = j / kLanes; g < kTiles; ++g) {
      const T l = scale(a[g][j], inverse_root);
      m[g] = scale(l, inverse_root);
      a[g][j] = l;
    }
    if (r == j % kLanes) a[j / kLanes][j] = from_real<T>(sqrt_from(pivot, inverse_root));
#pragma unroll
    for (int v = (j + 1) / kWide * kWide; v < N; v += kWide) {
      T wide[kWide];
      *reinterpret_cast<float4*>(wide) = *reinterpret_cast<const float4*>(column + v);
#pragma unroll
      for (int k = v; k < v + kWide; ++k) {
        if (k <= j) continue;
#pragma unroll
        for (int g = k / kLanes; g < kTiles; ++g)
          a[g][k] = subtract_product_conj(a[g][k], m[g], wide[k - v]);
        if (k == j + 1) publish(shared + ((j + 1) % 2) * kColumn, k, r);
      }
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

  /// x := L^-H L^-1 x for kColumns right-hand sides; the lane holds the rows of
  /// x as those of L.
  template <int kColumns>
  __device__ __forceinline__ void solve(const Real<T> (&inverse)[kTiles], T (&x)[kColumns][kTiles],
                                        int bound, int r) const {
#pragma unroll
    for (int j = 0; j < N; ++j) {
      if (j >= bound) continue;
#pragma unroll
      for (int q = 0; q < kColumns; ++q) {
        const T xj = from_lane(scale(x[q][j / kLanes], inverse[j / kLanes]), j % kLanes, kLanes);
#pragma unroll
        for (int g = j / kLanes; g < kTiles; ++g) {
          const T updated = subtract_product(x[q][g], a[g][j], xj);
          if (g > j / kLanes)
            x[q][g] = updated;
          else
            x[q][g] = select(r > j % kLanes, updated, select(r == j % kLanes, xj, x[q][g]));
        }
      }
    }
#pragma unroll
    for (int j = N - 1; j >= 0; --j) {
      if (j >= bound) continue;
#pragma unroll
      for (int q = 0; q < kColumns; ++q) {
        T sum = from_real<T>(0);
        if (r > j % kLanes) sum = add_conj_product(sum, a[j / kLanes][j], x[q][j / kLanes]);
#pragma unroll
        for (int g = j / kLanes + 1; g < kTiles; ++g) sum = add_conj_product(sum, a[g][j], x[q][g]);
        sum = sum_lanes<kLanes>(sum);
        T& own = x[q][j / kLanes];
        own = select(r == j % kLanes, scale(subtract(own, sum), inverse[j / kLanes]), own);
      }
    }
  }
};

}  // namespace chol::cuda
