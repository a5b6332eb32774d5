// Products of 32 rows of a block column with rows of the diagonal block, conjugated, from shared
// memory. A lane's sums are as many as a row of it has columns, so that they lie in a RowBlock
// until they are put where its rows are read from. A product begins with A or is added to it in the
// end, whichever keeps its reads whole. Strips of narrower block columns may end with 16 rows, for
// which half of the sums are left out.
#pragma once

#include <type_traits>

#include "batched/row_block.cuh"
#include "batched/staged_rows.cuh"
#include "batched/tile_types.cuh"

namespace chol::cuda {

/// The sums of a lane, element i * kOfLane + j at (Lane::row(i), Lane::column(j)) of the rows.
/// @tparam Product what derives from this: multiply_rows() is of rows with i < kRows.
template <class Product, class T, int kColumns, class Lane>
struct ProductSums {
  using Sums = RowBlock<T, kColumns>;
  static constexpr int kOfLane = kColumns / 4;

  /// What multiply_rows() does. @param rows of `own` that there are, where they may be few.
  template <int kParts, class Own, class Block>
  __device__ static __forceinline__ void multiply(Sums* sums, const Own& own, const Block& block,
                                                  int lane, int rows = 32) {
    if constexpr (kColumns % 32 != 0)
      if (rows <= 16) return Product::template multiply_rows<kParts, 2>(sums, own, block, lane);
    Product::template multiply_rows<kParts, 4>(sums, own, block, lane);
  }

  /// To rows of Sums::kPitch elements.
  __device__ static __forceinline__ void put(const Sums& sums, T* to, int lane) {
    constexpr int kRun = Lane::kRun;
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < kOfLane; j += kRun) {
        T* const p = to + Lane::row(i, lane) * Sums::kPitch + Lane::column(j, lane);
        T values[kRun];
#pragma unroll
        for (int k = 0; k < kRun; ++k) values[k] = sums.a[i * kOfLane + j + k];
        if constexpr (kRun == 1)
          *p = values[0];
        else
          *reinterpret_cast<float4*>(p) = *reinterpret_cast<const float4*>(values);
      }
  }
};

/// The sums of plain multiply-adds: of column storage 16 bytes of neighbouring rows and columns, of
/// row storage every eighth row and every fourth column, so that an operand read is of 16 bytes
/// without bank conflicts either way.
template <class T, bool kSwapped>
struct PlainLane {
  static constexpr int kWide = 16 / sizeof(T);
  static constexpr int kRun = kSwapped ? 1 : kWide;  ///< neighbouring columns
  __device__ static int row(int i, int lane) {
    return kSwapped ? lane % 8 + 8 * i : (i / kWide * 8 + lane % 8) * kWide + i % kWide;
  }
  __device__ static int column(int j, int lane) {
    return kSwapped ? lane / 8 + 4 * j : (j / kWide * 4 + lane / 8) * kWide + j % kWide;
  }
};

/// 32 x kColumns products by plain multiply-adds, 4 x kColumns / 4 a lane.
template <class T, int kColumns, bool kSwapped>
struct PlainProduct
    : ProductSums<PlainProduct<T, kColumns, kSwapped>, T, kColumns, PlainLane<T, kSwapped>> {
  using Lane = PlainLane<T, kSwapped>;
  using Sums = RowBlock<T, kColumns>;
  static constexpr int kWide = Lane::kWide, kOfLane = kColumns / 4;
  /// Complex products are so many instructions that more of them would not stay in the cache.
  static constexpr int kUnroll = Traits<T>::is_complex ? 2 : 16;
  /// A is read once the products are there: neighbouring lanes then read neighbouring elements.
  static constexpr bool kBeginsWithA = false;

  __device__ static __forceinline__ void begin(Sums& sums, const LowerView<T>&,
                                               const RowBlockPlace&, int) {
    sums = {};
  }
  /// The sums, then the rows, in the same registers: both go through `scratch`.
  __device__ static __forceinline__ void finish(Sums& rows, const LowerView<T>& A,
                                                const RowBlockPlace& place, T* scratch, int lane) {
    using Read = typename Sums::Read;
    PlainProduct::put(rows, scratch, lane);
    if constexpr (kSwapped) {
      // The rows pass through the same shared memory as the sums.
      rows = {};
      rows.template read_row<kColumns, Read::subtract>(scratch, lane);
      rows.template copy_rows<kColumns>(A, place, scratch, lane);
      rows.template read_row<kColumns, Read::add>(scratch, lane);
    } else {
      rows.template load<kColumns>(A, place, scratch, lane);
      rows.template read_row<kColumns, Read::subtract>(scratch, lane);
    }
  }

  /// sums[p], p < kParts, += of the rows of `own` and those of `block` from p * kColumns on.
  template <int kParts, int kRows, class Own, class Block>
  __device__ static __forceinline__ void multiply_rows(Sums* sums, const Own& own,
                                                       const Block& block, int lane) {
    if constexpr (kSwapped) {
#pragma unroll 1
      for (int k = 0; k < Own::kDepth; k += kWide) {
        T a[kRows][kWide];
#pragma unroll
        for (int i = 0; i < kRows; ++i) read(a[i], own.at(Lane::row(i, lane), k));
#pragma unroll
        for (int p = 0; p < kParts; ++p)
#pragma unroll
          for (int j = 0; j < kOfLane; ++j) {
            T b[kWide];
            read(b, block.at(p * kColumns + Lane::column(j, lane), k));
#pragma unroll
            for (int w = 0; w < kWide; ++w)
#pragma unroll
              for (int i = 0; i < kRows; ++i) accumulate(sums[p], i, j, a[i][w], b[w]);
          }
      }
    } else {
#pragma unroll(kUnroll < Own::kDepth ? kUnroll : Own::kDepth)
      for (int k = 0; k < Own::kDepth; ++k) {
        T a[kRows];
#pragma unroll
        for (int i = 0; i < kRows; i += kWide)
          read(*reinterpret_cast<T(*)[kWide]>(a + i), own.at(Lane::row(i, lane), k));
#pragma unroll
        for (int p = 0; p < kParts; ++p) {
          T b[kOfLane];
#pragma unroll
          for (int j = 0; j < kOfLane; j += kWide)
            read(*reinterpret_cast<T(*)[kWide]>(b + j),
                 block.at(p * kColumns + Lane::column(j, lane), k));
#pragma unroll
          for (int j = 0; j < kOfLane; ++j)
#pragma unroll
            for (int i = 0; i < kRows; ++i) accumulate(sums[p], i, j, a[i], b[j]);
        }
      }
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
};

/// The sums of tensor cores, as they lie in their tiles.
template <class T>
struct TensorLane {
  static constexpr int kRun = 16 / sizeof(T);
  __device__ static int row(int i, int lane) { return 8 * i + TensorTile<T>::row(0, lane); }
  __device__ static int column(int j, int lane) {
    return j / 2 * 8 + TensorTile<T>::column(j % 2, lane);
  }
};

/// 32 x kColumns products by double precision tensor cores.
template <class T, int kColumns>
struct TensorProduct : ProductSums<TensorProduct<T, kColumns>, T, kColumns, TensorLane<T>> {
  using Sums = RowBlock<T, kColumns>;
  using TileT = TensorTile<T>;
  using Lane = TensorLane<T>;
  static constexpr int kTiles = kColumns / 8;
  static constexpr bool kBeginsWithA = true;

  /// sums := the elements of A, zero where there are none: they arrive while operands are fetched.
  __device__ static __forceinline__ void begin(Sums& sums, const LowerView<T>& A,
                                               const RowBlockPlace& place, int lane) {
    const T* const first = A.at(Lane::row(0, lane), Lane::column(0, lane));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int elements = Sums::limit(place, Lane::row(i, lane)) - Lane::column(0, lane);
#pragma unroll
      for (int j = 0; j < kColumns / 4; ++j) {
        const int down = Lane::row(i, 0), right = Lane::column(j, 0);
        const T* const p = first + (A.swapped ? down * A.ld + right : right * A.ld + down);
        sums.a[i * (kColumns / 4) + j] = right < elements ? *p : from_real<T>(0);
      }
    }
  }
  /// The sums, then the rows, in the same registers.
  __device__ static __forceinline__ void finish(Sums& rows, const LowerView<T>&,
                                                const RowBlockPlace&, T* scratch, int lane) {
    TensorProduct::put(rows, scratch, lane);
    rows.template read_row<kColumns, Sums::Read::assign>(scratch, lane);
  }

  /// sums[p], p < kParts, -= of the rows of `own` and those of `block` from p * kColumns on.
  template <int kParts, int kRows, class Own, class Block>
  __device__ static __forceinline__ void multiply_rows(Sums* sums, const Own& own,
                                                       const Block& block, int lane) {
#pragma unroll
    for (int k = 0; k < Own::kDepth; k += 4) {
      T a[kRows / 2][2];
#pragma unroll
      for (int i = 0; i < kRows; ++i)
        a[i / 2][i % 2] = minus(*own.at(8 * i + lane / 4, k + lane % 4));
#pragma unroll
      for (int p = 0; p < kParts; ++p) {
        T b[kTiles];
#pragma unroll
        for (int j = 0; j < kTiles; ++j)
          b[j] = *block.at(p * kColumns + 8 * j + lane / 4, k + lane % 4);
#pragma unroll
        for (int j = 0; j < kTiles; ++j)
#pragma unroll
          for (int i = 0; i < kRows / 2; ++i)
            TileT::accumulate(tile(sums[p], 2 * i, j), tile(sums[p], 2 * i + 1, j), a[i], b[j]);
      }
    }
  }

 private:
  __device__ static __forceinline__ T minus(T x) {
    if constexpr (Traits<T>::is_complex)
      return {-x.re, -x.im};
    else
      return -x;
  }
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
