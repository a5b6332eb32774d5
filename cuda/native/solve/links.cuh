// Solving links of two strips.
#pragma once

#include "native/solve/solver.cuh"

namespace chol::cuda::solve {

template <class T, bool swapped, int kColumns, int kLink>
template <bool kForward>
__device__ __forceinline__ void Solver<T, swapped, kColumns, kLink>::sweep_by_links(
    Order order, Strip strip) const {
  using Tiles = Tile<T, swapped, kForward != swapped>;
  const int s = strip.index, before = order.before(strip), second = before % kLink;
  const int link = before / kLink, streamed = larger(link - 1, 0);
  const auto stage = [&](int l, int u) {
    return stages_ + (l % S::kLinkStages * kLink + u) * C::kTile;
  };
  // Prevents values derived from the thread's number from being kept in registers.
  Solver apart(*this);
  asm volatile("" : "+r"(apart.thread_));
  if (!apart.template prepare_link<kForward>(order, before)) {
    const Solver copied(*this);  // only its own state is passed in memory
    return copied.template sweep_by_substitution<kForward>(order, strip);
  }
  // The tiles of P follow those of the factor.
  const auto copy = [&](int l) {
#pragma unroll 1
    for (int u = 0; u < kLink; ++u)
      if (l < streamed)
        copy_tile<kForward>(stage(l, u), order, before, l * kLink + u);
      else if (l < link)
        copy_near(stage(l, u), u);
    close_copy_group();
  };
#pragma unroll 1
  for (int l = 0; l < S::kLinkStages; ++l) copy(l);
  T b[kMine];
  read_rhs<kForward>(b, s);

  T sum[kColumns] = {};
  T asked[kLinkFetched];
  if (streamed > 0) ask_for<kForward>(asked, order, 0, kLinkElements, nullptr);
#pragma unroll 1
  for (int l = 0; l < streamed; ++l) {
    wait_for_copy_groups<S::kLinkStages - 1>();
    receive_from<kForward>(asked, order, l, kLinkElements, nullptr);
    __syncthreads();
    if (l + 1 < streamed) ask_for<kForward>(asked, order, l + 1, kLinkElements, nullptr);
#pragma unroll
    for (int u = 0; u < kLink; ++u)
      Tiles::template subtract_product_of<!kForward>(sum, Tiles::row_of(stage(l, u), thread_),
                                                     solved_of_link(l, u), thread_);
    __syncthreads();
    copy(l + S::kLinkStages);
  }

  add_shares(sum);
  const bool is_awaited = second == 0 && before + 1 < order.strips;
#pragma unroll
  for (int m = 0; m < kMine; ++m)
    for_mine(m, [&](int q) {
      const T total = add(b[m], mine(sum, m));
      if (is_awaited) publish(sums_of<kForward>(s) + q * kOrder + row_, total);
      rhs_[row_ * S::kPitch + q] = total;
    });
  // The solutions of the previous link, and the sums of the first strip.
  const T* const sums = sums_of<kForward>(order.in_sweep(kForward, link * kLink));
  const int of_link = link > 0 ? kLinkElements : 0;
  const int awaited = of_link + second * kOrder * kColumns;
  T last[kLastFetched];
  ask_for<kForward>(last, order, link - 1, awaited, sums - of_link);
  wait_for_copy_groups<0>();
  __syncthreads();
  T x[kColumns] = {};
  multiply_by_inverse<kForward>(x);
  typename Tiles::RowInRegisters near_rows[kLink];
  if (link > 0) {
#pragma unroll
    for (int u = 0; u < kLink; ++u)
      near_rows[u] = Tiles::template row_of<true>(stage(link - 1, u), thread_);
  }
  receive_from<kForward>(last, order, link - 1, awaited, sums - of_link);
  __syncthreads();
  if (link > 0) {
#pragma unroll
    for (int u = 0; u < kLink; ++u)
      Tiles::template subtract_product_of<!kForward>(x, near_rows[u], solved_of_link(link - 1, u),
                                                     thread_);
  }
  if (second)
    Tiles::template subtract_product_of<!kForward>(x, Tiles::row_of(beside_, thread_), sums_,
                                                   thread_);
  add_shares(x);
#pragma unroll
  for (int m = 0; m < kMine; ++m) for_mine(m, [&](int q) { write<kForward>(s, q, mine(x, m)); });
}

template <class T, bool swapped, int kColumns, int kLink>
__device__ __forceinline__ T* Solver<T, swapped, kColumns, kLink>::solved_of_link(int l,
                                                                                  int u) const {
  return solved_ + ((l & 1) * kLink + u) * S::kVector;
}

template <class T, bool swapped, int kColumns, int kLink>
template <bool kForward>
__device__ __forceinline__ const T* Solver<T, swapped, kColumns, kLink>::awaited_at(
    Order order, int l, int e, const T* sums) const {
  if (e >= kLinkElements || l < 0) return sums + e;
  return published<kForward>(order.in_sweep(kForward, l * kLink + (kForward ? 0 : kLink - 1))) + e;
}

template <class T, bool swapped, int kColumns, int kLink>
template <bool kForward, int kCount>
__device__ __forceinline__ void Solver<T, swapped, kColumns, kLink>::ask_for(T (&x)[kCount],
                                                                             Order order, int l,
                                                                             int elements,
                                                                             const T* sums) const {
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    const int e = thread_ + kThreads * k;
    if (e < elements) x[k] = load(awaited_at<kForward>(order, l, e, sums));
  }
}

template <class T, bool swapped, int kColumns, int kLink>
template <bool kForward, int kCount>
__device__ __forceinline__ void Solver<T, swapped, kColumns, kLink>::receive_from(
    T (&x)[kCount], Order order, int l, int elements, const T* sums) const {
  Patience patience;
  for (;;) {
    bool missing = false;
#pragma unroll
    for (int k = 0; k < kCount; ++k)
      missing = missing || (thread_ + kThreads * k < elements && is_incomplete(x[k]));
    if (!missing) break;
    patience.lose(reinterpret_cast<unsigned long long>(sums), l);
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      const int e = thread_ + kThreads * k;
      if (e < elements && is_incomplete(x[k])) x[k] = load(awaited_at<kForward>(order, l, e, sums));
    }
  }
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    const int e = thread_ + kThreads * k, strip = e / (kOrder * kColumns);
    if (e >= elements) break;
    T* const to = e >= kLinkElements || l < 0
                      ? sums_
                      : solved_of_link(l, kForward ? strip : kLink - 1 - strip);
    to[e % kOrder * S::kPitch + e % (kOrder * kColumns) / kOrder] = x[k];
  }
}

template <class T, bool swapped, int kColumns, int kLink>
template <bool kForward>
__device__ __forceinline__ bool Solver<T, swapped, kColumns, kLink>::prepare_link(
    Order order, int before) const {
  using Tiles = Tile<T, swapped, kForward != swapped>;
  const int second = before % kLink, link = before - second;
  const auto stage = [&](int k) { return stages_ + k * C::kTile; };
  using Tensor = TensorTile<T, Tiles>;
  // In the second sweep the stored tiles are those of the adjoint product.
  const auto after_inverse = [&](const T* tile, T* product) {
    if constexpr (kForward)
      Tensor::template multiply<false, Lower::left>(nullptr, inverse_, tile, product, thread_);
    else
      Tensor::template multiply<false, Lower::right>(nullptr, tile, inverse_, product, thread_);
  };
  const auto before_inverse = [&](T* tile) {
    if constexpr (kForward)
      Tensor::template multiply<false, Lower::right>(nullptr, tile, inverse_, tile, thread_);
    else
      Tensor::template multiply<false, Lower::left>(nullptr, inverse_, tile, tile, thread_);
  };
  const auto subtract = [&](T* tile, const T* left, const T* right) {
    Tensor::template multiply<true, Lower::none>(tile, kForward ? left : right,
                                                 kForward ? right : left, tile, thread_);
  };
  const auto invert = [&](int k, bool limited) {
    Tiles::read_diagonal(inverse_, call_.factor, order.in_sweep(kForward, k), thread_);
    wait_for_copy_groups<0>();
    __syncthreads();
    return invert_diagonal<Tiles>(limited, [&] { Tensor::invert(inverse_, thread_); });
  };
  // The sum of a row of M X1, or of a column in the second sweep.
  const auto growth = [&] {
    Real<T> sum = 0;
#pragma unroll 4
    for (int k = 0; k < kOrder / kShares; ++k) {
      const int other = share_ + kShares * k;
      sum += absolute_sum(beside_[kForward ? Tiles::at(row_, other) : Tiles::at(other, row_)]);
    }
    return sum_lanes<kShares>(sum);
  };
  if (second) {
    Tiles::prefetch_diagonal(call_.factor, order.in_sweep(kForward, before), thread_);
    copy_tile<kForward>(beside_, order, before, link);
  }
  if (link > 0) {
    for (int u = 0; u < kLink; ++u) copy_tile<kForward>(stage(u), order, before, link - kLink + u);
    if (second)
      for (int u = 0; u < kLink; ++u)
        copy_tile<kForward>(stage(kLink + u), order, link, link - kLink + u);
  }
  close_copy_group();
  if (!invert(link, true)) return false;
  if (second) {
    before_inverse(beside_);
    if (!invert(before, growth() <= kMostGrowth)) return false;
    for (int u = 0; u < kLink && link > 0; ++u) subtract(stage(u), beside_, stage(kLink + u));
    after_inverse(beside_, beside_);
  }
  for (int u = 0; u < kLink && link > 0; ++u) after_inverse(stage(u), near_tile(u));
  return true;
}

template <class T, bool swapped, int kColumns, int kLink>
__device__ __forceinline__ T* Solver<T, swapped, kColumns, kLink>::near_tile(int u) const {
  return call_.near_tiles + int64_t(blockIdx.x * kLink + unsigned(u)) * C::kTile;
}

template <class T, bool swapped, int kColumns, int kLink>
__device__ __forceinline__ void Solver<T, swapped, kColumns, kLink>::copy_near(T* to, int u) const {
  constexpr int kChunk = 16 / int(sizeof(T));
  const T* const from = near_tile(u);
  for (int e = thread_ * kChunk; e < C::kTile; e += kThreads * kChunk)
    copy_async<16>(shared_address(to + e), from + e);
}

}  // namespace chol::cuda::solve
