// Products and inverses of tiles in shared memory by double precision tensor cores, which represent
// single precision exactly. Executed by all threads of a block.
#pragma once

#include "common/mma_f64.cuh"
#include "native/solve/tile.cuh"

namespace chol::cuda::solve {

/// Accumulators of a warp: sixteen rows of several blocks of eight columns.
template <class T, class Tiles, int kBlocks>
struct TileRows {
  static constexpr int kParts = Traits<T>::is_complex ? 2 : 1;
  double c[kParts][kBlocks][2][2] = {};

  /// Calls body(element, its part) for all elements of this lane; (row, column) is the position of
  /// the first one.
  template <class E, class Body>
  __device__ __forceinline__ void each(E* tile, int row, int column, int lane, Body&& body) {
#pragma unroll
    for (int b = 0; b < kBlocks; ++b)
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int h = 0; h < 2; ++h)
          body(tile[Tiles::at(row + lane / 4 + 8 * r, column + 8 * b + 2 * (lane % 4) + h)], b, r,
               h);
  }
  __device__ __forceinline__ void load(const T* tile, int row, int column, int lane) {
    each(tile, row, column, lane, [&](const T& x, int b, int r, int h) {
      c[0][b][r][h] = part<0>(x);
      if constexpr (kParts == 2) c[1][b][r][h] = part<1>(x);
    });
  }
  __device__ __forceinline__ void store(T* tile, int row, int column, int lane) {
    each(tile, row, column, lane, [&](T& x, int b, int r, int h) {
      if constexpr (kParts == 2)
        x = {static_cast<Real<T>>(c[0][b][r][h]), static_cast<Real<T>>(c[1][b][r][h])};
      else
        x = static_cast<T>(c[0][b][r][h]);
    });
  }
  /// += or -= left(row ..., k ...) right(k ..., column ...), for a range of k with separate starts.
  template <bool kMinus>
  __device__ __forceinline__ void add_product(const T* left, int row, int left_k, const T* right,
                                              int right_k, int column, int depth, int lane) {
    const int g = lane / 4, t = lane % 4;
#pragma unroll 2
    for (int k = 0; k < depth; k += 4) {
      double a[kParts][2], minus_imaginary[2];
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const T x = left[Tiles::at(row + g + 8 * r, left_k + k + t)];
        a[0][r] = kMinus ? -part<0>(x) : part<0>(x);
        if constexpr (kParts == 2) {
          a[1][r] = kMinus ? -part<1>(x) : part<1>(x);
          minus_imaginary[r] = -a[1][r];
        }
      }
#pragma unroll
      for (int b = 0; b < kBlocks; ++b) {
        const T y = right[Tiles::at(right_k + k + t, column + 8 * b + g)];
        tensor_multiply(c[0][b], a[0], part<0>(y));
        if constexpr (kParts == 2) {
          tensor_multiply(c[0][b], minus_imaginary, part<1>(y));
          tensor_multiply(c[1][b], a[0], part<1>(y));
          tensor_multiply(c[1][b], a[1], part<0>(y));
        }
      }
    }
  }

 private:
  template <int kPart>
  __device__ static __forceinline__ double part(T x) {
    if constexpr (kParts == 2)
      return kPart == 0 ? x.re : x.im;
    else
      return x;
  }
};

/// Which factor of a product is lower triangular, with zeros above.
enum class Lower { none, left, right };

template <class T, class Tiles>
struct TensorTile {
  using C = Config<T>;
  static constexpr int kOrder = C::kOrder, kWarps = C::kThreads / 32, kRowBlocks = kOrder / 16;
  static constexpr int kAcross = kWarps / kRowBlocks, kColumns = kOrder / kAcross;
  static_assert(kWarps % kRowBlocks == 0 && kColumns % 8 == 0);

  /// product := start + left right, or start - left right, where start may be nullptr and product
  /// may be one of the operands.
  template <bool kMinus, Lower kLower>
  __device__ static __forceinline__ void multiply(const T* start, const T* left, const T* right,
                                                  T* product, int thread) {
    const int warp = thread / 32, lane = thread % 32, across = warp / kRowBlocks;
    // Distributes long and short rows evenly over the schedulers.
    const int place = warp % kRowBlocks, row = 16 * (across % 2 ? kRowBlocks - 1 - place : place);
    const int column = across * kColumns;
    const int first = kLower == Lower::right ? column : 0;
    const int end = kLower == Lower::left ? row + 16 : kOrder;
    TileRows<T, Tiles, kColumns / 8> sum;
    if (start) sum.load(start, row, column, lane);
    sum.template add_product<kMinus>(left, row, first, right, first, column, end - first, lane);
    __syncthreads();
    sum.store(product, row, column, lane);
    __syncthreads();
  }

  /// The tile, whose elements above the diagonal are zero, := its inverse: blocks of 16 columns by
  /// one warp each, then pairs of twice the order by products; the first product is stored
  /// temporarily above the diagonal.
  __device__ static __forceinline__ void invert(T* tile, int thread) {
    const int warp = thread / 32, lane = thread % 32;
    if (warp < kOrder / kSmall)
      Tiles::invert_small(tile + Tiles::at(kSmall * warp, kSmall * warp), lane);
    __syncthreads();
#pragma unroll
    for (int w = kSmall; w < kOrder; w *= 2) {
      // A warp computes sixteen rows and eight columns of a pair.
      const int of_pair = w * w / 128, count = kOrder / (2 * w) * of_pair;
      const bool works = warp < count;
      const int first = warp / of_pair * 2 * w, second = first + w;
      const int row = warp % of_pair % (w / 16) * 16, column = warp % of_pair / (w / 16) * 8;
      if (works) {
        TileRows<T, Tiles, 1> product;
        product.template add_product<false>(tile, second + row, first, tile, first, first + column,
                                            w, lane);
        product.store(tile, first + row, second + column, lane);
      }
      __syncthreads();
      TileRows<T, Tiles, 1> below;
      if (works)
        below.template add_product<true>(tile, second + row, second, tile, first, second + column,
                                         w, lane);
      __syncthreads();
      if (works) {
        below.store(tile, second + row, first + column, lane);
        TileRows<T, Tiles, 1> zero;
        zero.store(tile, first + row, second + column, lane);
      }
      __syncthreads();
    }
  }
};

}  // namespace chol::cuda::solve
