// L L^H X = B with few right-hand sides by one kernel over all multiprocessors.
//
// A block works on one strip of unknowns at a time: it subtracts the products of the strip's tiles
// with the solutions of earlier strips, tile by tile as these are published, while the next tiles
// are being copied, and publishes its own solution. Besides memory bandwidth, the chain from strip
// to strip bounds a sweep. It is shortened with the diagonal tile's inverse X and the product P of
// X and the tile next to it, both computed in advance: x = X (b - sum) - P y, so that only the
// product with y, the solution of the previous strip, remains when that is published.
//
// With links of two strips the same holds for both together: X is the inverse of the diagonal block
// [L1 0; M L2], [X1 0; -X2 M X1 X2], P the product with all four tiles next to it. The second strip
// waits for the sum of the first, which is published a link before it is needed.
#pragma once

#include "native/solve/call.hpp"
#include "native/solve/published.cuh"
#include "native/solve/tensor_tile.cuh"

namespace chol::cuda::solve {

/// The work of one thread. @tparam kLink strips that are solved together: 1 or 2.
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

  /// The same for a strip that is the first or the second of a link.
  template <bool kForward>
  __device__ __forceinline__ void sweep_by_links(Order order, Strip strip) const {
    using Tiles = Tile<T, swapped, kForward != swapped>;
    const int s = strip.index, before = order.before(strip), second = before % kLink;
    const int link = before / kLink, streamed = larger(link - 1, 0);
    const auto stage = [&](int l, int u) {
      return stages_ + (l % S::kLinkStages * kLink + u) * C::kTile;
    };
    // Prevents values derived from the thread's number from being kept in registers.
    Solver apart(*this);
    asm volatile("" : "+r"(apart.thread_));
    apart.template prepare_link<kForward>(order, before);
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

  /// The solution of strip u of link l in shared memory.
  __device__ __forceinline__ T* solved_of_link(int l, int u) const {
    return solved_ + ((l & 1) * kLink + u) * S::kVector;
  }
  /// Address of element e of the awaited data: the solutions of link l, then the sums.
  template <bool kForward>
  __device__ __forceinline__ const T* awaited_at(Order order, int l, int e, const T* sums) const {
    if (e >= kLinkElements || l < 0) return sums + e;
    return published<kForward>(order.in_sweep(kForward, l * kLink + (kForward ? 0 : kLink - 1))) +
           e;
  }
  /// Requests them, published or not.
  template <bool kForward, int kCount>
  __device__ __forceinline__ void ask_for(T (&x)[kCount], Order order, int l, int elements,
                                          const T* sums) const {
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      const int e = thread_ + kThreads * k;
      if (e < elements) x[k] = load(awaited_at<kForward>(order, l, e, sums));
    }
  }
  /// Polls the missing elements, all together, and stores the data in shared memory.
  template <bool kForward, int kCount>
  __device__ __forceinline__ void receive_from(T (&x)[kCount], Order order, int l, int elements,
                                               const T* sums) const {
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
        if (e < elements && is_incomplete(x[k]))
          x[k] = load(awaited_at<kForward>(order, l, e, sums));
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

  /// Forms the inverse of the diagonal tile, of a second strip X2 M X1, and the rows of P in
  /// device memory.
  template <bool kForward>
  __device__ __forceinline__ void prepare_link(Order order, int before) const {
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
    const auto invert = [&](int k) {
      Tiles::read_diagonal(inverse_, call_.factor, order.in_sweep(kForward, k), thread_);
      wait_for_copy_groups<0>();
      __syncthreads();
      Tensor::invert(inverse_, thread_);
    };
    if (second) {
      Tiles::prefetch_diagonal(call_.factor, order.in_sweep(kForward, before), thread_);
      copy_tile<kForward>(beside_, order, before, link);
    }
    if (link > 0) {
      for (int u = 0; u < kLink; ++u)
        copy_tile<kForward>(stage(u), order, before, link - kLink + u);
      if (second)
        for (int u = 0; u < kLink; ++u)
          copy_tile<kForward>(stage(kLink + u), order, link, link - kLink + u);
    }
    close_copy_group();
    invert(link);
    if (second) {
      before_inverse(beside_);
      invert(before);
      for (int u = 0; u < kLink && link > 0; ++u) subtract(stage(u), beside_, stage(kLink + u));
      after_inverse(beside_, beside_);
    }
    for (int u = 0; u < kLink && link > 0; ++u) after_inverse(stage(u), near_tile(u));
  }
  /// Of this block.
  __device__ __forceinline__ T* near_tile(int u) const {
    return call_.near_tiles + int64_t(blockIdx.x * kLink + unsigned(u)) * C::kTile;
  }
  __device__ __forceinline__ void copy_near(T* to, int u) const {
    constexpr int kChunk = 16 / int(sizeof(T));
    const T* const from = near_tile(u);
    for (int e = thread_ * kChunk; e < C::kTile; e += kThreads * kChunk)
      copy_async<16>(shared_address(to + e), from + e);
  }

  /// Starts the copy of the tile by which strip number `row` of a sweep multiplies the solution of
  /// number `column`.
  template <bool kForward>
  __device__ __forceinline__ void copy_tile(T* to, Order order, int row, int column) const {
    const int its = order.in_sweep(kForward, row), other = order.in_sweep(kForward, column);
    Tile<T, swapped, kForward != swapped>::copy(to, call_.factor, kForward ? its : other,
                                                kForward ? other : its, thread_);
  }

  /// sum -= the products of tiles 0, 1, ... of a strip, except the last one, and their solutions.
  template <bool kForward, class Stage, class Copy>
  __device__ __forceinline__ void subtract_streamed(T (&sum)[kColumns], Order order, int streamed,
                                                    const Stage& stage, const Copy& copy) const {
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
        Tiles::template subtract_product_of<!kForward>(sum, Tiles::row_of(stage(k), thread_),
                                                       solved, thread_);
      }
    }
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
  __device__ static __forceinline__ void publish(T* to, T x) {
    Real<T>* const parts = reinterpret_cast<Real<T>*>(to);
    if constexpr (Traits<T>::is_complex) {
      store_relaxed(parts, storable(x.re));
      store_relaxed(parts + 1, storable(x.im));
    } else {
      store_relaxed(parts, storable(x));
    }
  }
  /// x; if it is the NaN that marks missing values, another NaN.
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
  T *inverse_, *beside_, *stages_, *rhs_, *solved_, *sums_;
  int thread_, row_, share_;
};

/// Any number of blocks; initially `begun` is -1 and the published solutions are marked as missing.
template <class T, bool swapped, int kColumns, int kLink>
__global__ void __launch_bounds__(Config<T>::kThreads, 1)
    solve_kernel(const __grid_constant__ Call<T> call) {
  if (call.info && *call.info != 0) return;
  extern __shared__ __align__(128) unsigned char memory[];
  Solver<T, swapped, kColumns, kLink>(call, memory, static_cast<int>(threadIdx.x)).run();
}

}  // namespace chol::cuda::solve
