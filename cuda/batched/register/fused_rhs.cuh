// One right-hand side of a matrix in a two-dimensional cyclic layout (register/cyclic_2d.cuh). A
// substitution solves for a tile of unknowns at a time: lanes sum the products with the previous
// unknowns and solve for those of the tile one after the other, broadcasting each. Fused with a
// factorization the forward substitution is one more row of the elimination.
#pragma once

#include <utility>

#include "common/scalar.cuh"

namespace chol::cuda {

/// Lanes exchange data in shared memory for columns below `bound` only.
template <class E>
__device__ __forceinline__ E shared_or(const E* shared, int column, int bound, E otherwise) {
  return column < bound ? shared[column] : otherwise;
}

/// For a grid that factors only.
struct NoGridSolve {
  static constexpr bool kSolves = false;
};

/// @tparam N largest order; the grid has P by Q lanes; the lane of row p and column q is p * Q + q
/// with kSwapped and q * P + p otherwise.
template <class T, int N, int P, int Q, bool kSwapped>
struct GridSolve {
  static constexpr bool kSolves = true;
  static constexpr int kRowTiles = N / P, kColumnTiles = N / Q;
  using Factor = T[kRowTiles][kColumnTiles];

  T* B = nullptr;     ///< the right-hand side in memory, null where there is none
  T rows[kRowTiles];  ///< the lane's rows of it, updated by known unknowns; then the solution

  __device__ __forceinline__ void load(int n, int p) {
#pragma unroll
    for (int it = 0; it < kRowTiles; ++it) {
      const int row = it * P + p;
      rows[it] = B && row < n ? conj_if(kSwapped, B[row]) : from_real<T>(0);
    }
  }
  __device__ __forceinline__ void store(int n, int p, int q) const {
#pragma unroll
    for (int it = 0; it < kRowTiles; ++it) {
      const int row = it * P + p;
      if (B && q == 0 && row < n) B[row] = conj_if(kSwapped, rows[it]);
    }
  }

  /// Together with the elimination of column j - 1: broadcasts the updated row j.
  template <int j>
  __device__ __forceinline__ void publish(T* left, int p, int q) const {
    if (p == j % P && q == 0) left[j] = rows[j / P];
  }
  /// @param column the rows of an unscaled column from tile `first` on. @param unknown the updated
  /// entry of its row, divided by its pivot unless `column` is.
  template <int first>
  __device__ __forceinline__ void subtract_column(const T (&column)[kRowTiles], T unknown) {
#pragma unroll
    for (int it = first; it < kRowTiles; ++it)
      rows[it] = subtract_product(rows[it], column[it], unknown);
  }

  /// The backward sweep after an elimination. @param left the published entries. @param inverses of
  /// the diagonal. @param bound largest n of the warp.
  __device__ __forceinline__ void solve_backward(const Factor& a, const T* left,
                                                 const Real<T>* inverses, int bound, int p, int q) {
    T columns[kColumnTiles];
#pragma unroll
    for (int jt = 0; jt < kColumnTiles; ++jt) {
      const int j = jt * Q + q;
      columns[jt] = scale(shared_or(left, j, bound, from_real<T>(0)),
                          shared_or(inverses, j, bound, Real<T>(1)));
    }
    sweep<false>(a, columns, rows, inverses, bound, p, q);
  }
  /// Both sweeps.
  __device__ __forceinline__ void solve_both(const Factor& a, const Real<T>* inverses, int bound,
                                             int p, int q) {
    T columns[kColumnTiles];
    sweep<true>(a, rows, columns, inverses, bound, p, q);
    sweep<false>(a, columns, rows, inverses, bound, p, q);
  }

 private:
  /// The grid as the forward sweep uses it; the backward sweep uses its mirror image. Unknowns are
  /// solved by the lanes of their lines in direction `own` and multiplied by those in direction
  /// `other`.
  template <bool kForward>
  struct Way {
    static constexpr int kOwn = kForward ? P : Q, kOther = kForward ? Q : P;
    /// Whether adjacent lanes differ in `other`; distance and number of the lanes of one `own`, for
    /// sum_lanes().
    static constexpr bool kOtherIsInner = kForward == kSwapped;
    static constexpr int kWidth = kOtherIsInner ? kOther : kOwn * kOther;
    static constexpr int kStep = kOtherIsInner ? 1 : kOwn;
    template <int step>
    static constexpr int kTile = kForward ? step : N / kOwn - 1 - step;
    __device__ static __forceinline__ int place(int own, int other) {
      return kOtherIsInner ? own * kOther + other : other * kOwn + own;
    }
    __device__ static __forceinline__ T element(const Factor& a, int own, int other) {
      return kForward ? a[own][other] : conj(a[other][own]);
    }
    /// Whether an unknown is solved after another.
    __device__ static __forceinline__ bool is_after(int unknown, int another) {
      return kForward ? unknown > another : unknown < another;
    }
  };

  /// @param given right-hand side of the lane's lines in direction `own`. @param found unknowns of
  /// those in direction `other`.
  template <bool kForward, int kGiven, int kFound>
  __device__ __forceinline__ static void sweep(const Factor& a, const T (&given)[kGiven],
                                               T (&found)[kFound], const Real<T>* inverses,
                                               int bound, int p, int q) {
#pragma unroll
    for (int tile = 0; tile < kFound; ++tile) found[tile] = from_real<T>(0);
    const int own = kForward ? p : q, other = kForward ? q : p;
    find_tiles<kForward>(a, given, found, inverses, bound, own, other,
                         std::make_integer_sequence<int, kGiven>{});
  }
  // A fold expression, since the compiler does not unroll loops of so many statements.
  template <bool kForward, int kGiven, int kFound, int... step>
  __device__ __forceinline__ static void find_tiles(const Factor& a, const T (&given)[kGiven],
                                                    T (&found)[kFound], const Real<T>* inverses,
                                                    int bound, int own, int other,
                                                    std::integer_sequence<int, step...>) {
    using Its = Way<kForward>;
    (find_tile<kForward, Its::template kTile<step>>(a, given[Its::template kTile<step>], found,
                                                    inverses, bound, own, other),
     ...);
  }
  template <bool kForward, int tile, int kFound>
  __device__ __forceinline__ static void find_tile(const Factor& a, T given, T (&found)[kFound],
                                                   const Real<T>* inverses, int bound, int own,
                                                   int other) {
    using Its = Way<kForward>;
    constexpr int kOwn = Its::kOwn, kOther = Its::kOther, kFirst = tile * kOwn;
    if (kFirst >= bound) return;
    const int line = kFirst + own;
    T sum = from_real<T>(0);
#pragma unroll
    for (int u = 0; u < kFound; ++u) {
      if (kForward ? u * kOther >= kFirst + kOwn : (u + 1) * kOther <= kFirst) continue;
      T element = Its::element(a, tile, u);
      // Elements above the diagonal in diagonal tiles are undefined.
      if (kForward ? (u + 1) * kOther > kFirst : u * kOther < kFirst + kOwn)
        element = select(Its::is_after(line, u * kOther + other), element, from_real<T>(0));
      sum = subtract_product(sum, element, found[u]);
    }
    T rest = add(given, sum_lanes<Its::kWidth, Its::kStep>(sum));
    const Real<T> inverse = shared_or(inverses, line, bound, Real<T>(1));
#pragma unroll
    for (int step = 0; step < kOwn; ++step) {
      const int at = kForward ? step : kOwn - 1 - step, unknown = kFirst + at;
      const int its_tile = unknown / kOther, its_place = unknown % kOther;
      const T x = from_lane(scale(rest, inverse), Its::place(at, other), kOwn * kOther);
      found[its_tile] = select(other == its_place, x, found[its_tile]);
      if (step + 1 < kOwn) {
        const T element =
            from_lane(Its::element(a, tile, its_tile), Its::place(own, its_place), kOwn * kOther);
        rest = select(Its::is_after(own, at), subtract_product(rest, element, x), rest);
      }
    }
  }
};

}  // namespace chol::cuda
