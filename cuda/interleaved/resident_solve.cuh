// Substitution with a triangle in shared memory by one warp, a block column after the other: a
// block's unknowns are found one by one in its lanes, which then add up what they take out of the
// others.
#pragma once

#include "batched/copy_wide.cuh"
#include "interleaved/resident_triangle.cuh"

namespace chol::cuda {

template <class T, int kColumns>
struct ResidentSolve {
  using R = Real<T>;
  using Triangle = ResidentTriangle<T, kColumns>;

  Triangle L;
  T* x;  ///< in shared memory: the right-hand side, in the end the solution
  int lane;

  /// The unknowns of block J of inverse(L) x, when those before it are known.
  __device__ __forceinline__ void forward(int J) const {
    if (J == 0)
      find_forward<true>(J);
    else
      find_forward<false>(J);
  }
  /// x := inverse(L^H) x.
  __device__ __forceinline__ void backward() const {
    const int last = Triangle::blocks(L.n) - 1;
    find_backward<false>(last);
#pragma unroll 1
    for (int J = last - 1; J > 0; --J) find_backward<false>(J);
    if (last > 0) find_backward<true>(0);
  }

 private:
  /// What a lane has to do with its unknown of a block, number lane % kColumns.
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
    /// Of the diagonal, zero where there is none.
    __device__ __forceinline__ R inverse() const {
      return is_there ? R(1) / real(block.a[c * pitch() + c]) : R(0);
    }
  };
  /// Where column k of a block begins; of a narrow one, which has fewer, the last one's beginning
  /// again and again.
  template <bool kNarrow>
  __device__ __forceinline__ static int begin(int k, const Own& own) {
    return (kNarrow ? min(k, own.columns - 1) : k) * own.pitch();
  }

  // The diagonal is divided by beforehand, so that an unknown is an exchange and a product away
  // from the next.
  template <bool kNarrow>
  __device__ __forceinline__ void find_forward(int J) const {
    const Own own(L, J, lane);
    const int row = own.is_there ? own.c : 0;
    const R inverse = own.inverse();
    T factors[kColumns];
#pragma unroll
    for (int k = 0; k + 1 < kColumns; ++k)
      factors[k] = scale(own.block.a[begin<kNarrow>(k, own) + row], inverse);
    T left = scale(own.is_there ? x[own.j + own.c] : from_real<T>(0), inverse);
#pragma unroll
    for (int k = 0; k + 1 < kColumns; ++k) {
      const T next = subtract_product(left, factors[k], from_lane(left, k));
      left = select(own.c > k && own.is_there, next, left);
    }
    __syncwarp();
    if (lane < own.columns) x[own.j + lane] = left;
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
  __device__ __forceinline__ void find_backward(int J) const {
    const Own own(L, J, lane);
    T below[kColumns];
    copy_wide<kColumns>(below, own.block.a + (own.is_there ? own.c : 0) * own.pitch());
    const R inverse = own.inverse();
    T left = own.is_there ? x[own.j + own.c] : from_real<T>(0);
    if (own.j + own.columns < L.n) left = subtract(left, taken_by_those_below<kNarrow>(own));
    left = scale(left, inverse);
#pragma unroll
    for (int k = kColumns - 1; k > 0; --k) {
      const T factor = scale(conj(below[k]), inverse);
      const T next = subtract_product(left, factor, from_lane(left, k));
      left = select(own.c < k && k < own.columns, next, left);
    }
    __syncwarp();
    if (lane < own.columns) x[own.j + lane] = left;
    __syncwarp();
  }
  /// Out of the lane's unknown.
  template <bool kNarrow>
  __device__ __forceinline__ T taken_by_those_below(const Own& own) const {
    T sums[kColumns];
#pragma unroll
    for (int k = 0; k < kColumns; ++k) sums[k] = from_real<T>(0);
#pragma unroll 1
    for (int i = own.columns + lane; i < L.n - own.j; i += 32) {
      const T known = x[own.j + i];
#pragma unroll
      for (int k = 0; k < kColumns; ++k)
        sums[k] = add_conj_product(sums[k], own.block.a[begin<kNarrow>(k, own) + i], known);
    }
    return sum_of_own(sums);
  }
  /// Of kCount values of each lane the sum over all lanes: lane l gets that of value l % kCount.
  template <int kCount>
  __device__ __forceinline__ T sum_of_own(const T (&v)[kCount]) const {
    if constexpr (kCount == 1) {
      return sum_lanes<32, kColumns>(v[0]);
    } else {
      constexpr int kHalf = kCount / 2;
      const bool upper = lane & kHalf;
      T kept[kHalf];
#pragma unroll
      for (int k = 0; k < kHalf; ++k)
        kept[k] = add(select(upper, v[k + kHalf], v[k]),
                      from_lane(select(upper, v[k], v[k + kHalf]), lane ^ kHalf));
      return sum_of_own(kept);
    }
  }
};

}  // namespace chol::cuda
