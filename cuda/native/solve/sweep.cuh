// Solving strips one at a time.
#pragma once

#include "native/solve/solver.cuh"

namespace chol::cuda::solve {

template <class T, bool swapped, int kColumns, int kLink>
template <bool kForward>
__device__ __forceinline__ void Solver<T, swapped, kColumns, kLink>::sweep(Order order,
                                                                           Strip strip) const {
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
  if (!invert_diagonal<Tiles>(true, [&] { Tiles::invert(inverse_, thread_); })) {
    const Solver copied(*this);  // only its own state is passed in memory
    return copied.template sweep_by_substitution<kForward>(order, strip);
  }
  if (before > 0)
    Tiles::multiply(kForward ? inverse_ : beside_, kForward ? beside_ : inverse_, beside_, thread_);
  T b[kMine];
  read_rhs<kForward>(b, s);

  T sum[kColumns] = {};
  subtract_streamed<kForward>(sum, order, streamed, stage, copy);
  Fetched last;
  if (before > 0) ask(last, published<kForward>(order.in_sweep(kForward, before - 1)));
  add_shares(sum);
#pragma unroll
  for (int m = 0; m < kMine; ++m)
    for_mine(m, [&](int q) { rhs_[row_ * S::kPitch + q] = add(b[m], mine(sum, m)); });
  __syncthreads();
  T x[kColumns] = {};
  multiply_by_inverse<kForward>(x);
  if (before > 0) {
    T* const solved = solved_ + streamed % 2 * S::kVector;
    const auto row = Tiles::template row_of<kColumns <= 4>(beside_, thread_);
    receive(solved, last, published<kForward>(order.in_sweep(kForward, before - 1)));
    __syncthreads();
    Tiles::template subtract_product_of<!kForward>(x, row, solved, thread_);
  }
  add_shares(x);
#pragma unroll
  for (int m = 0; m < kMine; ++m) for_mine(m, [&](int q) { write<kForward>(s, q, mine(x, m)); });
}

template <class T, bool swapped, int kColumns, int kLink>
template <bool kForward>
__device__ __noinline__ void Solver<T, swapped, kColumns, kLink>::sweep_by_substitution(
    Order order, Strip strip) const {
  using Tiles = Tile<T, swapped, kForward != swapped>;
  const int before = order.before(strip);
  wait_for_copy_groups<0>();  // tiles that were requested for the usual way
  __syncthreads();
  T sum[kColumns] = {};
#pragma unroll 1
  for (int k = 0; k < before; ++k) {
    copy_tile<kForward>(stages_, order, before, k);
    close_copy_group();
    const T* const solutions = published<kForward>(order.in_sweep(kForward, k));
    for (int e = thread_; e < kOrder * kColumns; e += kThreads)
      solved_[e % kOrder * S::kPitch + e / kOrder] = await(solutions + e);
    wait_for_copy_groups<0>();
    __syncthreads();
    Tiles::template subtract_product_of<!kForward>(sum, Tiles::row_of(stages_, thread_), solved_,
                                                   thread_);
    __syncthreads();
  }
  Tiles::read_diagonal(inverse_, call_.factor, strip.index, thread_);
  T b[kMine];
  read_rhs<kForward>(b, strip.index);
  add_shares(sum);
#pragma unroll
  for (int m = 0; m < kMine; ++m)
    for_mine(m, [&](int q) { rhs_[row_ * S::kPitch + q] = add(b[m], mine(sum, m)); });
  __syncthreads();
  Substitution<T, Tiles>::template solve<!kForward, !kForward, kColumns>(inverse_, rhs_, thread_);
  __syncthreads();
#pragma unroll
  for (int m = 0; m < kMine; ++m)
    for_mine(m, [&](int q) { write<kForward>(strip.index, q, rhs_[row_ * S::kPitch + q]); });
}

template <class T, bool swapped, int kColumns, int kLink>
template <bool kForward, class Stage, class Copy>
__device__ __forceinline__ void Solver<T, swapped, kColumns, kLink>::subtract_streamed(
    T (&sum)[kColumns], Order order, int streamed, const Stage& stage, const Copy& copy) const {
  using Tiles = Tile<T, swapped, kForward != swapped>;
  Fetched asked[kAsked];
#pragma unroll
  for (int u = 0; u < kAsked; ++u)
    if (u < streamed) ask(asked[u], published<kForward>(order.in_sweep(kForward, u)));
  for (int first = 0; first < streamed; first += kAsked) {
#pragma unroll
    for (int u = 0; u < kAsked; ++u) {
      const int k = first + u;
      if (k >= streamed) break;
      T* const solved = solved_ + k % 2 * S::kVector;
      wait_for_copy_groups<S::kStages - 2>();
      receive(solved, asked[u], published<kForward>(order.in_sweep(kForward, k)));
      __syncthreads();
      if (k + kAsked < streamed)
        ask(asked[u], published<kForward>(order.in_sweep(kForward, k + kAsked)));
      if (k + S::kStages - 1 < streamed) copy(stage(k + S::kStages - 1), k + S::kStages - 1);
      close_copy_group();
      Tiles::template subtract_product_of<!kForward>(sum, Tiles::row_of(stage(k), thread_), solved,
                                                     thread_);
    }
  }
}

}  // namespace chol::cuda::solve
