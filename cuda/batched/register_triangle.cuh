// A small lower triangle in the registers of a group of lanes: lane r holds lines r, r + lanes, ...
// of it, rows or, of swapped storage, columns, so that neighbouring lanes' elements are neighbours
// in memory. Lines are cut off at the diagonal tile: few registers hold elements above it.
#pragma once

#include <utility>

#include "common/scalar.cuh"
#include "common/view.cuh"

namespace chol::cuda {

/// @tparam Lines what derives from this, register_rows.cuh or register_columns.cuh.
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

  /// a[g][k]: where line g * kLanes + r meets line k of the other direction.
  T a[kTiles][N];

  __device__ __forceinline__ void load(const LowerView<T>& A, int n, int r) {
    move<false>(A, n, r);
  }
  __device__ __forceinline__ void store(const LowerView<T>& A, int n, int r) {
    move<true>(A, n, r);
  }

  /// Moves the triangle between memory and registers, line by line of memory: pieces of a line that
  /// follow each other are what memory is fast at.
  template <bool kStore>
  __device__ __forceinline__ void move(LowerView<T> A, int n, int r) {
    // Hides that loads and stores have the same addresses and conditions: kept
    // from one to the other, they would take as many registers as the matrix.
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
            // Beyond n the identity, which factors and solves harmlessly.
            T x = from_real<T>(i == j ? 1 : 0);
            if (inside) x = p[v * kLanes];
            a[v][line] = x;
          }
        }
  }

  /// Right-looking elimination; a column goes to all lanes through shared
  /// memory unscaled, and its successor is published before the end of the
  /// update, which hides that latency.
  /// @tparam kCareful passed on to Lines.
  /// @param bound largest n of the warp.
  /// @return 0, or the order of the first leading minor that is not positive
  /// definite.
  template <bool kCareful>
  __device__ __forceinline__ int eliminate(T* shared, int n, int bound, int r) {
    int info = 0;
    eliminate_columns<kCareful>(shared, n, bound, r, info, std::make_integer_sequence<int, N>{});
    return info;
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
  // A fold, since the compiler gives up unrolling loops of so many statements.
  template <bool kCareful, int... j>
  __device__ __forceinline__ void eliminate_columns(T* shared, int n, int bound, int r, int& info,
                                                    std::integer_sequence<int, j...>) {
    (take_column<j, kCareful>(shared, n, bound, r, info), ...);
  }
  template <int j, bool kCareful>
  __device__ __forceinline__ void take_column(T* shared, int n, int bound, int r, int& info) {
    if (j >= bound) return;
    __syncwarp();
    const T* const column = shared + (j % 2) * kColumn;
    const Real<T> pivot = real(column[j]);
    if (info == 0 && j < n && !is_pivot(pivot)) info = j + 1;
    static_cast<Lines*>(this)->template eliminate_column<j, kCareful>(
        column, shared + (j + 1) % 2 * kColumn, pivot, r);
  }
};

}  // namespace chol::cuda
