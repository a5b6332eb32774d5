// Products of 32 rows of a block column with the conjugated rows of the diagonal block, operands in
// shared memory. A lane accumulates as many elements as a row has columns, and the warp then
// transposes them to rows. A product starts from A or is added to A at the end, whichever keeps its
// loads contiguous. Panels of narrower block columns may end with 16 rows; half of the products are
// skipped for these.
#pragma once

#include <type_traits>

#include "batched/left_looking/panel_rows.cuh"
#include "batched/left_looking/smem_stage.cuh"
#include "common/warp_tile.cuh"

namespace chol::cuda {

/// The sums of a lane, element i * kOfLane + j at (Lane::row(i), Lane::column(j)) of the rows.
/// @tparam Product the derived class, whose multiply_rows() multiplies rows with i < kRows. @tparam
/// Sum accumulator type for T.
template <class Product, class T, class Sum, int kColumns, class Lane>
struct ProductSums {
  using Rows = RowBlock<T, kColumns>;
  using Sums = RowBlock<Sum, kColumns>;  ///< only its elements are used
  static constexpr int kOfLane = kColumns / 4;

  /// Calls multiply_rows(). @param rows number of rows of `own`, where there may be few.
  template <int kParts, class Own, class Block>
  __device__ static __forceinline__ void multiply(Sums* sums, const Own& own, const Block& block,
                                                  int lane, int rows = 32) {
    if constexpr (kColumns % 32 != 0 && Lane::kHalves)
      if (rows <= 16) return Product::template multiply_rows<kParts, 2>(sums, own, block, lane);
    Product::template multiply_rows<kParts, 4>(sums, own, block, lane);
  }

  /// To rows of Rows::kPitch elements.
  __device__ static __forceinline__ void put(const Sums& sums, T* to, int lane) {
    constexpr int kRun = Lane::kRun;
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < kOfLane; j += kRun) {
        T values[kRun];
#pragma unroll
        for (int k = 0; k < kRun; ++k) values[k] = convert<T>(sums.a[i * kOfLane + j + k]);
        copy_wide<kRun>(to + Lane::row(i, lane) * Rows::kPitch + Lane::column(j, lane), values);
      }
  }
};

/// Layout of the sums of multiply-adds: with column storage 16 bytes of adjacent rows and columns,
/// with row storage every eighth row and every fourth column, so that operands are read by 16 bytes
/// without bank conflicts in both cases.
template <class T, bool kSwapped>
struct PlainLane {
  static constexpr int kWide = 16 / sizeof(T);
  static constexpr int kRun = kSwapped ? 1 : kWide;  ///< neighbouring columns
  /// Whether the first half of a lane's rows are of the first 16.
  static constexpr bool kHalves = kSwapped || kWide <= 2;
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
    : ProductSums<PlainProduct<T, kColumns, kSwapped>, T, T, kColumns, PlainLane<T, kSwapped>> {
  using Lane = PlainLane<T, kSwapped>;
  using Rows = RowBlock<T, kColumns>;
  using typename ProductSums<PlainProduct, T, T, kColumns, Lane>::Sums;
  static constexpr int kWide = Lane::kWide, kOfLane = kColumns / 4;
  /// Unrolled further, complex products would exceed the instruction cache.
  static constexpr int kUnroll = Traits<T>::is_complex ? 2 : 16;
  /// A is read after the products: adjacent lanes then read adjacent elements.
  static constexpr bool kBeginsWithA = false;

  __device__ static __forceinline__ void begin(Sums& sums, const LowerView<T>&,
                                               const RowBlockPlace&, int) {
    sums = {};
  }
  /// Both go through `scratch`.
  __device__ static __forceinline__ void finish(Rows& rows, const Sums& sums, const LowerView<T>& A,
                                                const RowBlockPlace& place, T* scratch, int lane) {
    using Read = typename Rows::Read;
    PlainProduct::put(sums, scratch, lane);
    if constexpr (kSwapped) {
      // The rows use the same shared-memory buffer as the sums.
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

/// The accumulators of the tensor cores.
template <class T>
struct TensorLane {
  static constexpr int kRun = sizeof(T) == 16 ? 1 : 2;
  static constexpr bool kHalves = true;
  __device__ static int row(int i, int lane) { return 8 * i + lane / 4; }
  __device__ static int column(int j, int lane) { return j / 2 * 8 + 2 * (lane % 4) + j % 2; }
};

/// 32 x kColumns products by double precision tensor cores, also in single precision: they
/// represent its elements exactly and have the rate of its multiply-adds on devices with full
/// double precision rate, in a fraction of the instructions.
/// @tparam kReadsAhead whether the operands of a step are read, and made double precision, while
/// those of the one before are multiplied: for shapes that have registers left.
template <class T, int kColumns, bool kReadsAhead>
struct TensorProduct
    : ProductSums<TensorProduct<T, kColumns, kReadsAhead>, T, Doubled<T>, kColumns, TensorLane<T>> {
  using Rows = RowBlock<T, kColumns>;
  using Lane = TensorLane<T>;
  using Sum = Doubled<T>;
  using TileT = TensorTile<Sum>;
  using typename ProductSums<TensorProduct, T, Sum, kColumns, Lane>::Sums;
  static constexpr int kTiles = kColumns / 8;
  /// Unrolling of the steps: one with sums of 64 registers, since more would reduce occupancy;
  /// except for double complex, whose occupancy is low anyway, and where registers are left.
  static constexpr bool kMixes = kColumns * sizeof(Sum) < 256 || sizeof(T) == 16;
  static constexpr int kUnroll = kReadsAhead ? (Traits<T>::is_complex ? 2 : 4) : (kMixes ? 4 : 1);
  static constexpr bool kBeginsWithA = true;

  /// sums := the elements of A, zero outside the matrix: they arrive while operands are fetched.
  __device__ static __forceinline__ void begin(Sums& sums, const LowerView<T>& A,
                                               const RowBlockPlace& place, int lane) {
    const T* const first = A.at(Lane::row(0, lane), Lane::column(0, lane));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int elements = Rows::limit(place, Lane::row(i, lane)) - Lane::column(0, lane);
#pragma unroll
      for (int j = 0; j < kColumns / 4; ++j) {
        const int down = Lane::row(i, 0), right = Lane::column(j, 0);
        const T* const p = first + (A.swapped ? down * A.ld + right : right * A.ld + down);
        sums.a[i * (kColumns / 4) + j] = convert<Sum>(right < elements ? *p : from_real<T>(0));
      }
    }
  }
  __device__ static __forceinline__ void finish(Rows& rows, const Sums& sums, const LowerView<T>&,
                                                const RowBlockPlace&, T* scratch, int lane) {
    TensorProduct::put(sums, scratch, lane);
    rows.template read_row<kColumns, Rows::Read::assign>(scratch, lane);
  }

  /// sums[p], p < kParts, -= of the rows of `own` and those of `block` from p * kColumns on.
  template <int kParts, int kRows, class Own, class Block>
  __device__ static __forceinline__ void multiply_rows(Sums* sums, const Own& own,
                                                       const Block& block, int lane) {
    constexpr int kSteps = kReadsAhead ? 2 : 1;  // this one and the next
    T a[kSteps][kRows], b[kSteps][kParts * kTiles];
    const auto read = [&](int k) {
      const int step = k / 4 % kSteps;
#pragma unroll
      for (int i = 0; i < kRows; ++i) a[step][i] = *own.at(8 * i + lane / 4, k + lane % 4);
#pragma unroll
      for (int j = 0; j < kParts * kTiles; ++j)
        b[step][j] = *block.at(8 * j + lane / 4, k + lane % 4);
    };
    if (kReadsAhead) read(0);
#pragma unroll(kUnroll)
    for (int k = 0; k < Own::kDepth; k += 4) {
      const int step = k / 4 % kSteps;
      if (!kReadsAhead)
        read(k);
      else if (k + 4 < Own::kDepth)
        read(k + 4);
      Sum left[kRows / 2][2];
#pragma unroll
      for (int i = 0; i < kRows; ++i) left[i / 2][i % 2] = negative(convert<Sum>(a[step][i]));
#pragma unroll
      for (int j = 0; j < kParts * kTiles; ++j) {
        const Sum right = convert<Sum>(b[step][j]);
        Sums& its = sums[j / kTiles];
#pragma unroll
        for (int i = 0; i < kRows / 2; ++i)
          TileT::accumulate(tile(its, 2 * i, j % kTiles), tile(its, 2 * i + 1, j % kTiles), left[i],
                            right);
      }
    }
  }

 private:
  __device__ static __forceinline__ Sum (&tile(Sums& sums, int i, int j))[2] {
    return *reinterpret_cast<Sum(*)[2]>(sums.a + 2 * (i * kTiles + j));
  }
};

template <class T, int kColumns, bool kSwapped, ProductBy kBy, bool kReadsAhead = false>
using ProductChoice =
    std::conditional_t<kBy == ProductBy::tensor, TensorProduct<T, kColumns, kReadsAhead>,
                       PlainProduct<T, kColumns, kSwapped>>;

}  // namespace chol::cuda
