// L L^H X = B with few right-hand sides by one kernel over all multiprocessors.
//
// A block has a strip of unknowns at a time: it subtracts the products of the strip's tiles with
// the solutions of the strips before, tile by tile as they appear, while the next tiles are on
// their way, and publishes the strip's own. What bounds a sweep beside the memory is the chain from
// strip to strip. It is shortened: with the diagonal tile's inverse X and the product P of X and
// the tile next to it, both formed before they are needed, x = X (b - sum) - P y, in which only the
// product with y, the solution of the strip just before, is left to do when that appears.
#pragma once

#include "native/solve/call.hpp"
#include "native/solve/published.cuh"
#include "native/solve/tile.cuh"

namespace chol::cuda::solve {

/// What one thread does.
template <class T, bool swapped, int kColumns>
class Solver {
  using C = Config<T>;
  using S = Columns<T, kColumns>;
  static constexpr int kOrder = C::kOrder, kThreads = C::kThreads;
  /// Right-hand sides of a row that a thread finishes, and elements of a strip's solutions that it
  /// fetches.
  static constexpr int kMine = (kColumns + kShares - 1) / kShares;
  static constexpr int kFetched = kMine;
  /// Solutions that are asked for at a time, since the answer takes as long as a few products.
  static constexpr int kAsked = kColumns == 1 ? 4 : kColumns <= 4 ? 2 : 1;
  using Fetched = T[kFetched];
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
      if (strip.forward)
        sweep<true>(order, strip);
      else
        sweep<false>(order, strip);
    }
  }

 private:
  template <bool kForward>
  __device__ __forceinline__ void sweep(Order order, Strip strip) const {
    constexpr bool kAcross = kForward != swapped;
    using Tiles = Tile<T, swapped, kAcross>;
    const int s = strip.index, before = order.before(strip), streamed = larger(before - 1, 0);
    const auto copy = [&](T* to, int k) {
      const int other = order.in_sweep(kForward, k);
      Tiles::copy(to, call_.factor, kForward ? s : other, kForward ? other : s, thread_);
    };
    const auto stage = [&](int k) { return stages_ + k % S::kStages * C::kTile; };

    if (before > 0) copy(beside_, before - 1);
    close_copy_group();
    for (int k = 0; k + 1 < S::kStages; ++k) {
      if (k < streamed) copy(stage(k), k);
      close_copy_group();
    }
    Tiles::read_diagonal(inverse_, call_.factor, s, thread_);
    wait_for_copy_groups<S::kStages - 1>();
    __syncthreads();
    Tiles::invert(inverse_, thread_);
    if (before > 0)
      Tiles::multiply(kForward ? inverse_ : beside_, kForward ? beside_ : inverse_, beside_,
                      thread_);
    T b[kMine];
    read_rhs<kForward>(b, s);

    T sum[kColumns] = {};
    subtract_streamed<kForward>(sum, order, streamed, stage, copy);
    Fetched last;
    if (before > 0) ask<kForward>(last, order.in_sweep(kForward, before - 1));
    add_shares(sum);
#pragma unroll
    for (int m = 0; m < kMine; ++m)
      for_mine(m, [&](int q) { rhs_[row_ * S::kPitch + q] = add(b[m], mine(sum, m)); });
    __syncthreads();
    T x[kColumns] = {};
    Tiles::template subtract_product_of<!kForward>(x, Tiles::row_of(inverse_, thread_), rhs_,
                                                   thread_);
#pragma unroll
    for (int q = 0; q < kColumns; ++q) x[q] = negative(x[q]);
    if (before > 0) {
      T* const solved = solved_ + streamed % 2 * S::kVector;
      const auto row = Tiles::template row_of<kColumns <= 4>(beside_, thread_);
      receive<kForward>(solved, last, order.in_sweep(kForward, before - 1));
      __syncthreads();
      Tiles::template subtract_product_of<!kForward>(x, row, solved, thread_);
    }
    add_shares(x);
#pragma unroll
    for (int m = 0; m < kMine; ++m) for_mine(m, [&](int q) { write<kForward>(s, q, mine(x, m)); });
  }

  /// sum -= the products of tiles 0, 1, ... of a strip, but the last one, and their solutions.
  template <bool kForward, class Stage, class Copy>
  __device__ __forceinline__ void subtract_streamed(T (&sum)[kColumns], Order order, int streamed,
                                                    const Stage& stage, const Copy& copy) const {
    using Tiles = Tile<T, swapped, kForward != swapped>;
    Fetched asked[kAsked];
#pragma unroll
    for (int u = 0; u < kAsked; ++u)
      if (u < streamed) ask<kForward>(asked[u], order.in_sweep(kForward, u));
    for (int first = 0; first < streamed; first += kAsked) {
#pragma unroll
      for (int u = 0; u < kAsked; ++u) {
        const int k = first + u;
        if (k >= streamed) break;
        T* const solved = solved_ + k % 2 * S::kVector;
        wait_for_copy_groups<S::kStages - 2>();
        receive<kForward>(solved, asked[u], order.in_sweep(kForward, k));
        __syncthreads();
        if (k + kAsked < streamed) ask<kForward>(asked[u], order.in_sweep(kForward, k + kAsked));
        if (k + S::kStages - 1 < streamed) copy(stage(k + S::kStages - 1), k + S::kStages - 1);
        close_copy_group();
        Tiles::template subtract_product_of<!kForward>(sum, Tiles::row_of(stage(k), thread_),
                                                       solved, thread_);
      }
    }
  }

  /// Calls body(q) for the mth right-hand side of this row that is this thread's.
  template <class Body>
  __device__ __forceinline__ void for_mine(int m, Body&& body) const {
    const int q = kShares * m + share_;
    if (q < kColumns) body(q);
  }
  /// The element of `all` at that right-hand side.
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

  /// Of the solutions of a sweep, a strip's ones; column by column.
  template <bool kForward>
  __device__ __forceinline__ T* published(int strip) const {
    return (kForward ? call_.forward : call_.backward) + int64_t(strip) * kOrder * kColumns;
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
  /// Asks for them, whether they are there or not.
  template <bool kForward>
  __device__ __forceinline__ void ask(Fetched& x, int strip) const {
    const T* const from = published<kForward>(strip);
#pragma unroll
    for (int k = 0; k < kFetched; ++k) {
      const int e = thread_ + kThreads * k;
      if (e < kOrder * kColumns) x[k] = load(from + e);
    }
  }
  /// Waits for what was not there and puts all into shared memory.
  template <bool kForward>
  __device__ __forceinline__ void receive(T* to, Fetched& x, int strip) const {
    const T* const from = published<kForward>(strip);
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
    T* const to = published<kForward>(strip) + q * kOrder + row_;
    Real<T>* const parts = reinterpret_cast<Real<T>*>(to);
    if constexpr (Traits<T>::is_complex) {
      store_relaxed(parts, storable(x.re));
      store_relaxed(parts + 1, storable(x.im));
    } else {
      store_relaxed(parts, storable(x));
    }
    const int row = strip * kOrder + row_;
    if (!kForward && row < call_.factor.n && q < call_.nrhs)
      call_.B[q * call_.ldb + row] = conj_if(swapped, x);
  }
  /// x, or another NaN in place of that which stands for what is missing.
  __device__ static __forceinline__ Real<T> storable(Real<T> x) {
    return is_missing(x) ? Real<T>(0) * (largest(x) * largest(x)) : x;
  }
  __device__ static __forceinline__ T load(const T* p) {
    const Real<T>* const parts = reinterpret_cast<const Real<T>*>(p);
    if constexpr (Traits<T>::is_complex)
      return {load_relaxed(parts), load_relaxed(parts + 1)};
    else
      return load_relaxed(parts);
  }
  __device__ static __forceinline__ bool is_incomplete(T x) {
    if constexpr (Traits<T>::is_complex)
      return is_missing(x.re) || is_missing(x.im);
    else
      return is_missing(x);
  }
  __device__ static __forceinline__ T await(const T* p) {
    Patience patience;
    T x = load(p);
    while (is_incomplete(x)) {
      patience.lose(reinterpret_cast<unsigned long long>(p), 0);
      x = load(p);
    }
    return x;
  }

  const Call<T>& call_;
  int* position_;
  T *inverse_, *beside_, *stages_, *rhs_, *solved_;
  int thread_, row_, share_;
};

/// Any number of blocks; `begun` is -1 and the published solutions are missing when it begins.
template <class T, bool swapped, int kColumns>
__global__ void __launch_bounds__(Config<T>::kThreads, 1)
    solve_kernel(const __grid_constant__ Call<T> call) {
  if (call.info && *call.info != 0) return;
  extern __shared__ __align__(128) unsigned char memory[];
  Solver<T, swapped, kColumns>(call, memory, static_cast<int>(threadIdx.x)).run();
}

}  // namespace chol::cuda::solve
