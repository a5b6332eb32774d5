// One thread of the kernel that solves L L^H X = B strip by strip: its state, and what solving
// strips one at a time (sweep.cuh) and in links of two (links.cuh) have in common.
#pragma once

#include "native/solve/call.hpp"
#include "native/solve/exchange.cuh"
#include "native/solve/substitution.cuh"
#include "native/solve/tensor_tile.cuh"

namespace chol::cuda::solve {

/// @tparam kLink strips that are solved at a time: 1 or 2.
template <class T, bool swapped, int kColumns, int kLink>
class Solver {
  using C = Config<T>;
  using S = Columns<T, kColumns, kLink>;
  static constexpr int kOrder = C::kOrder, kThreads = C::kThreads;
  /// Number of right-hand sides of a row that a thread finishes, and of elements of a strip's
  /// solutions that it fetches.
  static constexpr int kMine = (kColumns + kShares - 1) / kShares;
  static constexpr int kFetched = kMine;
  /// Number of solutions requested at a time, since the latency is that of a few products.
  static constexpr int kAsked = kColumns == 1 ? 4 : kColumns <= 4 ? 2 : 1;
  using Fetched = T[kFetched];
  /// The same for the solutions of a link, without and with the sums of a strip.
  static constexpr int kLinkElements = kLink * kOrder * kColumns;
  static constexpr int kLinkFetched = (kLinkElements + kThreads - 1) / kThreads;
  static constexpr int kLastFetched = (kLinkElements + kOrder * kColumns + kThreads - 1) / kThreads;
  static_assert(kOrder * kColumns <= kFetched * kThreads);

 public:
  __device__ Solver(const Call<T>& call, unsigned char* memory, int thread)
      : call_(call),
        position_(reinterpret_cast<int*>(memory)),
        inverse_(reinterpret_cast<T*>(memory + S::kBegin)),
        beside_(inverse_ + C::kTile),
        stages_(beside_ + C::kTile),
        rhs_(stages_ + S::kStages * C::kTile),
        solved_(rhs_ + S::kVector),
        sums_(solved_ + 2 * kLink * S::kVector),
        thread_(thread),
        row_(thread / kShares),
        share_(thread % kShares) {}

  __device__ void run() const {
    const Order order = call_.order();
    for (;;) {
      if (thread_ == 0) *position_ = atomicAdd(call_.begun, 1) + 1;  // it begins as -1
      __syncthreads();
      const int position = *position_;
      __syncthreads();
      if (position >= order.count()) return;
      const Strip strip = order.at(position);
      if constexpr (kLink == 1) {
        if (strip.forward)
          sweep<true>(order, strip);
        else
          sweep<false>(order, strip);
      } else {
        if (strip.forward)
          sweep_by_links<true>(order, strip);
        else
          sweep_by_links<false>(order, strip);
      }
    }
  }

 private:
  template <bool kForward>
  __device__ __forceinline__ void sweep(Order order, Strip strip) const;
  /// The same where products with the inverse of the diagonal tile are not accurate. A call, which
  /// is rare and costs less than the registers that this code would take from the usual way.
  template <bool kForward>
  __device__ __noinline__ void sweep_by_substitution(Order order, Strip strip) const;
  /// sum -= the products of tiles 0, 1, ... of a strip, except the last one, and their solutions.
  template <bool kForward, class Stage, class Copy>
  __device__ __forceinline__ void subtract_streamed(T (&sum)[kColumns], Order order, int streamed,
                                                    const Stage& stage, const Copy& copy) const;

  /// The same for a strip that is the first or the second of a link.
  template <bool kForward>
  __device__ __forceinline__ void sweep_by_links(Order order, Strip strip) const;
  /// The solution of strip u of link l in shared memory.
  __device__ __forceinline__ T* solved_of_link(int l, int u) const;
  /// Address of element e of the awaited data: the solutions of link l, then the sums.
  template <bool kForward>
  __device__ __forceinline__ const T* awaited_at(Order order, int l, int e, const T* sums) const;
  /// Requests them, published or not.
  template <bool kForward, int kCount>
  __device__ __forceinline__ void ask_for(T (&x)[kCount], Order order, int l, int elements,
                                          const T* sums) const;
  /// Polls the missing elements, all together, and stores the data in shared memory.
  template <bool kForward, int kCount>
  __device__ __forceinline__ void receive_from(T (&x)[kCount], Order order, int l, int elements,
                                               const T* sums) const;
  /// Forms the inverse of the diagonal tile, of a second strip X2 M X1, and the rows of P in
  /// device memory. @return whether products with them are accurate.
  template <bool kForward>
  __device__ __forceinline__ bool prepare_link(Order order, int before) const;
  /// Of this block.
  __device__ __forceinline__ T* near_tile(int u) const;
  __device__ __forceinline__ void copy_near(T* to, int u) const;

  /// Starts the copy of the tile by which strip number `row` of a sweep multiplies the solution of
  /// number `column`.
  template <bool kForward>
  __device__ __forceinline__ void copy_tile(T* to, Order order, int row, int column) const {
    const int its = order.in_sweep(kForward, row), other = order.in_sweep(kForward, column);
    Tile<T, swapped, kForward != swapped>::copy(to, call_.factor, kForward ? its : other,
                                                kForward ? other : its, thread_);
  }

  /// x := the part of this thread in the product of X and rhs_. @param x zeros
  template <bool kForward>
  __device__ __forceinline__ void multiply_by_inverse(T (&x)[kColumns]) const {
    using Tiles = Tile<T, swapped, kForward != swapped>;
    Tiles::template subtract_product_of<!kForward>(x, Tiles::row_of(inverse_, thread_), rhs_,
                                                   thread_);
#pragma unroll
    for (int q = 0; q < kColumns; ++q) x[q] = negative(x[q]);
  }

  /// Inverts the diagonal tile. @param limited whether other conditions of this thread hold.
  /// @return whether they do in all threads, and products with the inverse are accurate.
  template <class Tiles, class Invert>
  __device__ __forceinline__ bool invert_diagonal(bool limited, Invert&& invert) const {
    using Its = Substitution<T, Tiles>;
    Real<T>* const sums = reinterpret_cast<Real<T>*>(rhs_);
    const Real<T> sum = Its::sum_of_row(inverse_, thread_, [](int) { return Real<T>(1); });
    if (share_ == 0) sums[row_] = sum;
    __syncthreads();
    invert();
    const Real<T> condition = Its::sum_of_row(inverse_, thread_, [&](int j) { return sums[j]; });
    return !__syncthreads_or(!(limited && condition <= kMostCondition));
  }

  /// Calls body(q) for the mth right-hand side of this row that belongs to this thread.
  template <class Body>
  __device__ __forceinline__ void for_mine(int m, Body&& body) const {
    const int q = kShares * m + share_;
    if (q < kColumns) body(q);
  }
  /// The element of `all` for that right-hand side.
  __device__ __forceinline__ T mine(const T (&all)[kColumns], int m) const {
    T x = all[smaller(kShares * m, kColumns - 1)];
#pragma unroll
    for (int k = 1; k < kShares; ++k)
      x = select(share_ == k, all[smaller(kShares * m + k, kColumns - 1)], x);
    return x;
  }
  __device__ __forceinline__ void add_shares(T (&x)[kColumns]) const {
#pragma unroll
    for (int q = 0; q < kColumns; ++q) x[q] = sum_lanes<kShares>(x[q]);
  }

  /// A strip's part of the solutions of a sweep; column by column.
  template <bool kForward>
  __device__ __forceinline__ T* published(int strip) const {
    return (kForward ? call_.forward : call_.backward) + int64_t(strip) * kOrder * kColumns;
  }
  /// The published sums of this strip.
  template <bool kForward>
  __device__ __forceinline__ T* sums_of(int strip) const {
    return call_.sums + (int64_t(kForward ? 0 : call_.order().strips) + strip) * kOrder * kColumns;
  }
  /// The right-hand sides of the strip in this sweep.
  template <bool kForward>
  __device__ __forceinline__ void read_rhs(T (&b)[kMine], int strip) const {
    const int row = strip * kOrder + row_;
#pragma unroll
    for (int m = 0; m < kMine; ++m) {
      b[m] = T{};
      for_mine(m, [&](int q) {
        if (kForward && row < call_.factor.n && q < call_.nrhs)
          b[m] = conj_if(swapped, call_.B[q * call_.ldb + row]);
        if (!kForward) b[m] = await(published<true>(strip) + q * kOrder + row_);
      });
    }
  }
  /// Requests the data of a strip, published or not.
  __device__ __forceinline__ void ask(Fetched& x, const T* from) const {
#pragma unroll
    for (int k = 0; k < kFetched; ++k) {
      const int e = thread_ + kThreads * k;
      if (e < kOrder * kColumns) x[k] = load(from + e);
    }
  }
  /// Polls the missing elements and stores all in shared memory.
  __device__ __forceinline__ void receive(T* to, Fetched& x, const T* from) const {
#pragma unroll
    for (int k = 0; k < kFetched; ++k) {
      const int e = thread_ + kThreads * k;
      if (e < kOrder * kColumns) {
        if (is_incomplete(x[k])) x[k] = await(from + e);
        to[e % kOrder * S::kPitch + e / kOrder] = x[k];
      }
    }
  }
  template <bool kForward>
  __device__ __forceinline__ void write(int strip, int q, T x) const {
    publish(published<kForward>(strip) + q * kOrder + row_, x);
    const int row = strip * kOrder + row_;
    if (!kForward && row < call_.factor.n && q < call_.nrhs)
      call_.B[q * call_.ldb + row] = conj_if(swapped, x);
  }

  const Call<T>& call_;
  int* position_;
  T *inverse_, *beside_, *stages_, *rhs_, *solved_, *sums_;
  int thread_, row_, share_;
};

}  // namespace chol::cuda::solve
