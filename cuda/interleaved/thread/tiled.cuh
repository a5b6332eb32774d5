// One thread a matrix in device memory, by register tiles: the search space of Gates, Kurzak,
// Luszczek, Pei and Dongarra (2017). Parameters of an instance: tile edge, order of the tiles, with
// or without loops over them, threads of a block.
#pragma once

#include "interleaved/kernels.hpp"
#include "interleaved/thread/tiled_shape.hpp"
#include "lane/packed.hpp"

namespace chol::cuda {

/// A compile-time index, for code without loops.
template <int kValue>
struct Known {
  __device__ __forceinline__ constexpr operator int64_t() const { return kValue; }
};

template <int kTile>
__device__ __forceinline__ int64_t next_tile(int64_t i) {
  return i + kTile;
}
template <int kTile, int kIndex>
__device__ __forceinline__ Known<kIndex + kTile> next_tile(Known<kIndex>) {
  return {};
}

/// Calls body(i) for i = first, first + kTile, ... before `end`: in a loop,
template <int kTile, class Body>
__device__ __forceinline__ void each_tile(int64_t first, int64_t end, const Body& body) {
#pragma unroll 1
  for (int64_t i = first; i < end; i += kTile) body(i);
}
/// or unrolled.
template <int kTile, int kFirst, int kEnd, class Body>
__device__ __forceinline__ void each_tile(Known<kFirst> first, Known<kEnd> end, const Body& body) {
  if constexpr (kFirst < kEnd) {
    body(first);
    each_tile<kTile>(next_tile<kTile>(first), end, body);
  }
}
/// The same up to the end of the matrix, body(i, rows), where the last tile may have fewer rows.
template <int kTile, class Body>
__device__ __forceinline__ void each_block_row(int64_t first, int64_t n, const Body& body) {
  each_tile<kTile>(first, n, [&](int64_t i) {
    gpu_lane::with_count<kTile>(n - i, [&](auto rows) { body(i, rows); });
  });
}
template <int kTile, int kFirst, int kOrder, class Body>
__device__ __forceinline__ void each_block_row(Known<kFirst> first, Known<kOrder> n,
                                               const Body& body) {
  if constexpr (kFirst < kOrder) {
    body(first, gpu_lane::Count<smaller(kTile, kOrder - kFirst)>{});
    each_block_row<kTile>(next_tile<kTile>(first), n, body);
  }
}

/// The lower triangle of one matrix while it is factored.
/// @tparam N its order for code without loops over tiles: finished tiles then stay in registers, as
/// far as available. 0: any order, and tiles are read again.
template <class E, int kTile, int N>
class TiledTriangle {
 public:
  using V = gpu_lane::RealLaneOf<E>;
  template <int M>
  using Rows = gpu_lane::Count<M>;

  __device__ __forceinline__ explicit TiledTriangle(LaneMatrix<E> A) : A_(A) {}

  /// Subtracts the products with columns from, ..., from + depth - 1 from the diagonal tile, which
  /// has the updates by earlier columns, and factors it.
  template <int M, class From, class Depth>
  __device__ __forceinline__ void finish_diagonal(Rows<M>, int64_t j, From from, Depth depth,
                                                  V& info) {
    auto t = updated<true, M, M>(j, j, from, depth);
    V reciprocal[M];
    gpu_lane::factor_tile(t, reciprocal, info, j);
#pragma unroll
    for (int c = 0; c < M; ++c) reciprocals(j)[c] = reciprocal[c];
    gpu_lane::store_lower(t, A_.from(j, j));
    if constexpr (N > 0) gpu_lane::store_lower(t, done().from(j, j));
  }
  /// The same for a tile below, followed by its solve.
  template <int M, class From, class Depth>
  __device__ __forceinline__ void finish_below(Rows<M>, int64_t i, int64_t j, From from,
                                               Depth depth) {
    auto t = updated<false, M, kTile>(i, j, from, depth);
    gpu_lane::solve_from_right(t, done().from(j, j), reciprocals(j));
    gpu_lane::store_tile(t, A_.from(i, j));
    if constexpr (N > 0) gpu_lane::store_tile(t, done().from(i, j));
  }
  /// Subtract only the products with the block column at `from`.
  template <int M, class From>
  __device__ __forceinline__ void update_diagonal(Rows<M>, int64_t j, From from) {
    gpu_lane::store_lower(updated<true, M, M>(j, j, from, Known<kTile>{}), done().from(j, j));
  }
  template <int M, class From>
  __device__ __forceinline__ void update_below(Rows<M>, int64_t i, int64_t j, From from) {
    gpu_lane::store_tile(updated<false, M, kTile>(i, j, from, Known<kTile>{}), done().from(i, j));
  }
  /// For tiles below an earlier diagonal tile.
  __device__ __forceinline__ void recall_reciprocals(int64_t j) {
    if constexpr (N == 0) {
#pragma unroll
      for (int c = 0; c < kTile; ++c) {
        // As set by take_pivot(): 0 for a bad pivot, which is still in place.
        const V l = real_part(A_.at(j + c, j + c));
        const bool good = between(l, V::zero(), V::broadcast(gpu_lane::kLargest<typename V::Real>));
        reciprocal_[c] = select(good, invert(l), V::zero());
      }
    }
  }

 private:
  __device__ __forceinline__ V* reciprocals(int64_t j) { return reciprocal_ + (N > 0 ? j : 0); }
  /// Registers in which finished tiles are kept.
  __device__ __forceinline__ LaneMatrix<E> done() {
    if constexpr (N > 0)
      return {held_, N, 1};
    else
      return A_;
  }
  /// Where a tile is before it is updated by columns from `from` on.
  __device__ __forceinline__ LaneMatrix<E> before(Known<0>) { return A_; }
  __device__ __forceinline__ LaneMatrix<E> before(int64_t) { return done(); }

  template <bool kLower, int R, int C, class From, class Depth>
  __device__ __forceinline__ gpu_lane::Tile<E, R, C> updated(int64_t i, int64_t j, From from,
                                                             Depth depth) {
    const LaneMatrix<E> at = before(from).from(i, j);
    gpu_lane::Tile<E, R, C> t;
    if constexpr (kLower)
      t = gpu_lane::load_lower<C>(at);
    else
      t = gpu_lane::load_tile<R, C>(at);
    subtract<kLower>(t, done().from(i, from), done().from(j, from), depth);
    return t;
  }
  template <bool kLower, int R, int C>
  static __device__ __forceinline__ void subtract(gpu_lane::Tile<E, R, C>& t, LaneMatrix<E> rows,
                                                  LaneMatrix<E> pivot_rows, int64_t depth) {
    gpu_lane::subtract_product<false, true, kLower>(t, rows, pivot_rows.transposed(), depth);
  }
  template <bool kLower, int R, int C, int kDepth>
  static __device__ __forceinline__ void subtract(gpu_lane::Tile<E, R, C>& t, LaneMatrix<E> rows,
                                                  LaneMatrix<E> pivot_rows, Known<kDepth>) {
    gpu_lane::subtract_square<kDepth, kLower>(t, rows, pivot_rows);
  }

  LaneMatrix<E> A_;
  V reciprocal_[N > 0 ? N : kTile];
  E held_[N == 0 ? 1 : N * N];
};

/// body(i, rows) for the tiles below the diagonal one at j. Only the last block column can be
/// partial.
template <int kTile, int kColumns, class Index, class Order, class Body>
__device__ __forceinline__ void each_below(gpu_lane::Count<kColumns>, Index j, Order n,
                                           const Body& body) {
  if constexpr (kColumns == kTile) each_block_row<kTile>(next_tile<kTile>(j), n, body);
}

/// A = L L^H; the products of every element are subtracted in the same order in all variants.
/// @param first 0, and n the order: both Known or neither.
template <Looking kLooking, int kTile, class Triangle, class Index, class Order, class V>
__device__ __forceinline__ void factor_tiled(Triangle& A, Index first, Order n, V& info) {
  constexpr Known<0> kNone;
  each_block_row<kTile>(first, n, [&](auto j, auto columns) {
    if constexpr (kLooking == Looking::left) {
      A.finish_diagonal(columns, j, kNone, j, info);
      each_below<kTile>(columns, j, n,
                        [&](auto i, auto rows) { A.finish_below(rows, i, j, kNone, j); });
    } else if constexpr (kLooking == Looking::right) {
      A.finish_diagonal(columns, j, j, kNone, info);
      each_below<kTile>(columns, j, n,
                        [&](auto i, auto rows) { A.finish_below(rows, i, j, j, kNone); });
      each_below<kTile>(columns, j, n, [&](auto c, auto width) {
        A.update_diagonal(width, c, j);
        each_below<kTile>(width, c, n, [&](auto i, auto rows) { A.update_below(rows, i, c, j); });
      });
    } else {
      each_tile<kTile>(first, j, [&](auto c) {
        A.recall_reciprocals(c);
        A.finish_below(columns, j, c, kNone, c);
      });
      A.finish_diagonal(columns, j, kNone, j, info);
    }
  });
}

/// Forward and backward substitution of one right-hand side, in place.
template <class E>
__device__ __forceinline__ void solve_streamed(LaneMatrix<E> L, LaneMatrix<E> x, int64_t n,
                                               bool conjugated) {
  for (int64_t i = 0; i < n; ++i) {
    E sum = conj_if(conjugated, x.at(i, 0));
    for (int64_t k = 0; k < i; ++k)
      sum = gpu_lane::subtract<false, false>(sum, L.at(i, k), x.at(k, 0));
    x.at(i, 0) = gpu_lane::scale(sum, invert(real_part(L.at(i, i))));
  }
  for (int64_t i = n - 1; i >= 0; --i) {
    E sum = x.at(i, 0);
    for (int64_t k = i + 1; k < n; ++k)
      sum = gpu_lane::subtract<true, false>(sum, L.at(k, i), x.at(k, 0));
    x.at(i, 0) = gpu_lane::scale(sum, invert(real_part(L.at(i, i))));
  }
  if (conjugated)
    for (int64_t i = 0; i < n; ++i) x.at(i, 0) = conj_if(true, x.at(i, 0));
}

/// @tparam kOrder the order for code without loops over tiles, or 0.
template <class T, InterleavedTask kTask, int kTile, Looking kLooking, int kOrder, int kThreads>
__global__ void __launch_bounds__(kThreads) tiled_kernel(InterleavedCall<T> call) {
  using V = gpu_lane::RealLaneOf<Lane<T>>;
  const int64_t b = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (b >= call.batch) return;
  const auto A = call.triangle(b);
  if constexpr (kTask != InterleavedTask::solve) {
    V info = V::zero();
    TiledTriangle<Lane<T>, kTile, kOrder> triangle(A);
    if constexpr (kOrder > 0)
      factor_tiled<kLooking, kTile>(triangle, Known<0>{}, Known<kOrder>{}, info);
    else
      factor_tiled<kLooking, kTile>(triangle, int64_t(0), int64_t(call.n), info);
    call.info[b] = static_cast<int>(info.v);
  }
  if constexpr (kTask != InterleavedTask::factor) {
    if (call.failed(b)) return;
    const auto B = call.right_hand_sides(b);
    for (int64_t c = 0; c < call.nrhs; ++c) solve_streamed(A, B.from(0, c), call.n, call.swapped);
  }
}

}  // namespace chol::cuda
