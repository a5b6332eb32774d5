// Substitution with a triangle in shared memory, by block columns: one warp solves for a block's
// unknowns, a few at a time, and updates the others, alone or with other warps.
#pragma once

#include "common/vector_access.cuh"
#include "interleaved/warp/smem_triangle.cuh"

namespace chol::cuda {

/// @tparam kHasInverses whether the inverses of the diagonal are stored at inverse_of_diagonal().
template <class Triangle, bool kHasInverses = false>
struct ResidentSolve {
  using T = typename Triangle::Element;
  using R = Real<T>;
  static constexpr int kColumns = Triangle::kColumns;
  static constexpr int kStep = 4;  ///< unknowns solved for together

  Triangle L;
  T* x;  ///< in shared memory: the right-hand side, finally the solution
  int lane;

  /// Solves for the unknowns of block J of inverse(L) x, after those before it.
  __device__ __forceinline__ void forward(int J) const {
    if (J == 0)
      find_forward<true>(J);
    else
      find_forward<false>(J);
  }
  /// x := inverse(L^H) x, by kWarps synchronized warps.
  template <int kWarps = 1, class Meet>
  __device__ __forceinline__ void backward(int warp, const Meet& meet) const {
#pragma unroll 1
    for (int J = Triangle::blocks(L.n) - 1; J > 0; --J) {
      T known[kColumns];
      if (warp == 0) find_backward<false>(J, known);
      if constexpr (kWarps > 1) {
        meet();
#pragma unroll
        for (int k = 0; k < kColumns; ++k) known[k] = x[Triangle::start(L.n, J) + k];
      }
      take_from_those_before<kWarps>(J, known, warp);
    }
    T known[kColumns];
    if (warp == 0) find_backward<true>(0, known);
  }

 private:
  /// A lane's part of its unknown of a block, number lane % kColumns.
  struct Own {
    int j, columns, c;  ///< the block's first column, how many it has, and the lane's
    LowerView<T> block;
    bool is_there;
    __device__ __forceinline__ Own(const Triangle& L, int J, int lane)
        : j(Triangle::start(L.n, J)),
          columns(Triangle::width(L.n, J)),
          c(lane % kColumns),
          block(L.rows(J, j)),
          is_there(c < columns) {}
    __device__ __forceinline__ int pitch() const { return static_cast<int>(block.ld); }
    /// Inverse of the diagonal element, zero if there is none.
    __device__ __forceinline__ R inverse() const {
      if (!is_there) return R(0);
      if constexpr (kHasInverses) return *inverse_of_diagonal(block, columns, c);
      return R(1) / real(block.a[c * (pitch() + 1)]);
    }
  };
  /// Address of column k of a block; for columns beyond a narrow one that of its last column.
  template <bool kNarrow>
  __device__ __forceinline__ static int begin(int k, const Own& own) {
    return (kNarrow ? min(k, own.columns - 1) : k) * own.pitch();
  }
  /// Unknowns first, ..., first + kStep - 1 of a block, which every lane solves for redundantly
  /// from their updated right-hand sides, and then updates its own. This needs only one exchange,
  /// which takes longest, for all of them. @param factors of the lane's unknown, divided by its
  /// diagonal element. @param known the unknowns.
  template <bool kNarrow, bool kBackward>
  __device__ __forceinline__ void find_next(const Own& own, int first, R inverse,
                                            const T (&factors)[kColumns], T& left, T* known) const {
    alignas(16) T among[kStep][kStep];  // [column of L][row]
    R inverses[kStep];
#pragma unroll
    for (int k = 0; k < kStep; ++k) {
      known[k] = from_lane(left, first + k);
      inverses[k] = from_lane(inverse, first + k);
      copy_wide<kStep>(among[k], own.block.a + begin<kNarrow>(first + k, own) + first);
    }
    const auto is_there = [&](int k) { return !kNarrow || first + k < own.columns; };
    const auto take_out = [&](int of, int k) {
      const T factor = kBackward ? conj(among[of][k]) : among[k][of];
      const T next = subtract_product(known[of], scale(factor, inverses[of]), known[k]);
      known[of] = is_there(larger(of, k)) ? next : known[of];
    };
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      const int k = kBackward ? kStep - 1 - i : i;
#pragma unroll
      for (int of = 0; of < kStep; ++of)
        if (kBackward ? of < k : of > k) take_out(of, k);
      const T next = subtract_product(left, factors[first + k], known[k]);
      left = is_there(k) ? next : left;
    }
#pragma unroll
    for (int k = 0; k < kStep; ++k)
      if (lane == 0 && is_there(k)) x[own.j + first + k] = known[k];
  }

  template <bool kNarrow>
  __device__ __forceinline__ void find_forward(int J) const {
    const Own own(L, J, lane);
    const int row = own.is_there ? own.c : 0;
    const R inverse = own.inverse();
    alignas(16) T factors[kColumns];
    T known[kStep];
#pragma unroll
    for (int k = 0; k < kColumns; ++k)
      factors[k] = scale(own.block.a[begin<kNarrow>(k, own) + row], inverse);
    T left = scale(own.is_there ? x[own.j + own.c] : from_real<T>(0), inverse);
    __syncwarp();
#pragma unroll
    for (int first = 0; first < kColumns; first += kStep)
      find_next<kNarrow, false>(own, first, inverse, factors, left, known);
    __syncwarp();
    if (own.j + own.columns < L.n) take_from_those_below<kNarrow>(own);
  }
  template <bool kNarrow>
  __device__ __forceinline__ void take_from_those_below(const Own& own) const {
    T known[kColumns];
#pragma unroll
    for (int k = 0; k < kColumns; ++k)
      known[k] = !kNarrow || k < own.columns ? x[own.j + k] : from_real<T>(0);
#pragma unroll 1
    for (int i = own.columns + lane; i < L.n - own.j; i += 32) {
      T left = x[own.j + i];
#pragma unroll
      for (int k = 0; k < kColumns; ++k)
        left = subtract_product(left, own.block.a[begin<kNarrow>(k, own) + i], known[k]);
      x[own.j + i] = left;
    }
    __syncwarp();
  }

  template <bool kNarrow>
  __device__ __forceinline__ void find_backward(int J, T (&known)[kColumns]) const {
    const Own own(L, J, lane);
    const int row = own.is_there ? own.c : 0;
    const R inverse = own.inverse();
    alignas(16) T factors[kColumns];
    copy_wide<kColumns>(factors, own.block.a + row * own.pitch());
    T left = scale(own.is_there ? x[own.j + own.c] : from_real<T>(0), inverse);
#pragma unroll
    for (int k = 0; k < kColumns; ++k) factors[k] = scale(conj(factors[k]), inverse);
    __syncwarp();
#pragma unroll
    for (int first = kColumns - kStep; first >= 0; first -= kStep)
      find_next<kNarrow, true>(own, first, inverse, factors, left, known + first);
    __syncwarp();
  }
  /// Updates the unknowns before block J > 0 by those of the block: one column a lane.
  template <int kWarps>
  __device__ __forceinline__ void take_from_those_before(int J, const T (&known)[kColumns],
                                                         int warp) const {
    const int j = Triangle::start(L.n, J);
#pragma unroll 1
    for (int c = j - 1 - lane - 32 * warp; c >= 0; c -= 32 * kWarps) {
      const int first = Triangle::width(L.n, 0);
      const int K = c < first ? 0 : 1 + (c - first) / kColumns;
      const LowerView<T> its = L.rows(K, j);
      alignas(16) T rows[kColumns];
      const T* const from = its.a + (c - Triangle::start(L.n, K)) * static_cast<int>(its.ld);
      // Rows of the narrow block are counted from its first one.
      if (c >= first || first % 4 == 0) {
        copy_wide<kColumns>(rows, from);
      } else {
#pragma unroll
        for (int k = 0; k < kColumns; ++k) rows[k] = from[k];
      }
      T sums[2] = {x[c], from_real<T>(0)};
#pragma unroll
      for (int k = 0; k < kColumns; ++k)
        sums[k % 2] = subtract_product(sums[k % 2], conj(rows[k]), known[k]);
      x[c] = add(sums[0], sums[1]);
    }
    __syncwarp();
  }
};

}  // namespace chol::cuda
