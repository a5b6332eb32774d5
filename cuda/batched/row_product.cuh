// Products of 32 rows of a block column with rows of the diagonal block, conjugated, from shared
// memory. A lane's sums are as many as a row of it has columns, so that they lie in a RowBlock
// until they are put where its rows are read from.
#pragma once

#include "batched/row_block.cuh"
#include "batched/staged_rows.cuh"
#include "batched/tile_types.cuh"

namespace chol::cuda {

/// 32 x kColumns products by plain multiply-adds, 4 x kColumns / 4 a lane: of column storage 16
/// bytes of neighbouring rows and columns, of row storage every eighth row and every fourth column,
/// so that an operand read is of 16 bytes without bank conflicts either way.
template <class T, int kColumns, bool kSwapped>
struct PlainProduct {
  using Sums = RowBlock<T, kColumns>;
  static constexpr int kWide = 16 / sizeof(T), kOfLane = kColumns / 4;
  /// Complex products are so many instructions that more of them would not stay in the cache.
  static constexpr int kUnroll = Traits<T>::is_complex ? 2 : 16;

  __device__ static int row(int i, int lane) {
    return kSwapped ? lane % 8 + 8 * i : (i / kWide * 8 + lane % 8) * kWide + i % kWide;
  }
  __device__ static int column(int j, int lane) {
    return kSwapped ? lane / 8 + 4 * j : (j / kWide * 4 + lane / 8) * kWide + j % kWide;
  }

  /// sums[p], p < kParts, += of the rows of `own` and those of `block` from p * kColumns on.
  template <int kParts, class Own, class Block>
  __device__ static __forceinline__ void add(Sums* sums, const Own& own, const Block& block,
                                             int lane) {
    if constexpr (kSwapped) {
#pragma unroll 1
      for (int k = 0; k < Own::kDepth; k += kWide) {
        T a[4][kWide];
#pragma unroll
        for (int i = 0; i < 4; ++i) read(a[i], own.at(row(i, lane), k));
#pragma unroll
        for (int p = 0; p < kParts; ++p)
#pragma unroll
          for (int j = 0; j < kOfLane; ++j) {
            T b[kWide];
            read(b, block.at(p * kColumns + column(j, lane), k));
#pragma unroll
            for (int w = 0; w < kWide; ++w)
#pragma unroll
              for (int i = 0; i < 4; ++i) accumulate(sums[p], i, j, a[i][w], b[w]);
          }
      }
    } else {
#pragma unroll(kUnroll < Own::kDepth ? kUnroll : Own::kDepth)
      for (int k = 0; k < Own::kDepth; ++k) {
        T a[4];
#pragma unroll
        for (int i = 0; i < 4; i += kWide)
          read(*reinterpret_cast<T(*)[kWide]>(a + i), own.at(row(i, lane), k));
#pragma unroll
        for (int p = 0; p < kParts; ++p) {
          T b[kOfLane];
#pragma unroll
          for (int j = 0; j < kOfLane; j += kWide)
            read(*reinterpret_cast<T(*)[kWide]>(b + j),
                 block.at(p * kColumns + column(j, lane), k));
#pragma unroll
          for (int j = 0; j < kOfLane; ++j)
#pragma unroll
            for (int i = 0; i < 4; ++i) accumulate(sums[p], i, j, a[i], b[j]);
        }
      }
    }
  }
  /// To rows of kPitch elements.
  template <int kPitch>
  __device__ static __forceinline__ void put(const Sums& sums, T* to, int lane) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < kOfLane; j += kSwapped ? 1 : kWide) {
        T* const p = to + row(i, lane) * kPitch + column(j, lane);
        if constexpr (kSwapped)
          *p = sums.a[i * kOfLane + j];
        else
          write(p, *reinterpret_cast<const T(*)[kWide]>(&sums.a[i * kOfLane + j]));
      }
  }

 private:
  __device__ static __forceinline__ void accumulate(Sums& sums, int i, int j, T a, T b) {
    T& sum = sums.a[i * kOfLane + j];
    sum = add_product_conj(sum, a, b);
  }
  __device__ static __forceinline__ void read(T (&values)[kWide], const T* from) {
    *reinterpret_cast<float4*>(values) = *reinterpret_cast<const float4*>(from);
  }
  __device__ static __forceinline__ void write(T* to, const T (&values)[kWide]) {
    *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(values);
  }
};

/// 32 x kColumns products by double precision tensor cores.
template <class T, int kColumns>
struct TensorProduct {
  using Sums = RowBlock<T, kColumns>;
  using TileT = TensorTile<T>;
  static constexpr int kTiles = kColumns / 8;

  template <int kParts, class Own, class Block>
  __device__ static __forceinline__ void add(Sums* sums, const Own& own, const Block& block,
                                             int lane) {
#pragma unroll
    for (int k = 0; k < Own::kDepth; k += 4) {
      T a[2][2];
#pragma unroll
      for (int i = 0; i < 4; ++i) a[i / 2][i % 2] = *own.at(8 * i + lane / 4, k + lane % 4);
#pragma unroll
      for (int p = 0; p < kParts; ++p) {
        T b[kTiles];
#pragma unroll
        for (int j = 0; j < kTiles; ++j)
          b[j] = *block.at(p * kColumns + 8 * j + lane / 4, k + lane % 4);
#pragma unroll
        for (int j = 0; j < kTiles; ++j)
#pragma unroll
          for (int i = 0; i < 2; ++i)
            TileT::accumulate(tile(sums[p], 2 * i, j), tile(sums[p], 2 * i + 1, j), a[i], b[j]);
      }
    }
  }
  template <int kPitch>
  __device__ static __forceinline__ void put(const Sums& sums, T* to, int lane) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < kTiles; ++j) {
        const T* const c = sums.a + 2 * (i * kTiles + j);
        T* const p = to + (8 * i + TileT::row(0, lane)) * kPitch + 8 * j + TileT::column(0, lane);
        if constexpr (sizeof(T) == 8)
          *reinterpret_cast<double2*>(p) = {c[0], c[1]};
        else
          p[0] = c[0], p[1] = c[1];
      }
  }

 private:
  __device__ static __forceinline__ T (&tile(Sums& sums, int i, int j))[2] {
    return *reinterpret_cast<T(*)[2]>(sums.a + 2 * (i * kTiles + j));
  }
};

template <class T, int kColumns, bool kSwapped>
struct ProductChoice {
  using Type = PlainProduct<T, kColumns, kSwapped>;
};
template <int kColumns, bool kSwapped>
struct ProductChoice<double, kColumns, kSwapped> {
  using Type = TensorProduct<double, kColumns>;
};
template <int kColumns, bool kSwapped>
struct ProductChoice<Complex<double>, kColumns, kSwapped> {
  using Type = TensorProduct<Complex<double>, kColumns>;
};

}  // namespace chol::cuda
