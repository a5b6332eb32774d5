// What a warp subtracts from its rows of a block column: the product of all columns to the left, of
// its own rows and of the diagonal block's. The warp stages both for itself, a few columns ahead of
// the multiplication, and nobody has to wait for anybody.
#pragma once

#include "batched/row_block.cuh"
#include "batched/tile_types.cuh"

namespace chol::cuda {

/// Rows of kDepth columns in shared memory, laid out as they lie in memory: a column's rows side by
/// side or, of swapped storage, a row's columns.
template <class T, int kRows, int kDepth, bool kSwapped>
struct StagedRows {
  static constexpr int kWide = 16 / sizeof(T);
  /// Spreads the operand reads below over all banks.
  static constexpr int kPad =
      sizeof(Real<T>) == 4 || !kSwapped ? kWide * int(sizeof(Real<T>) / 4) : 4;
  static constexpr int kPitch = (kSwapped ? kDepth : kRows) + kPad;
  static constexpr int kElements = kPitch * (kSwapped ? kRows : kDepth);

  __device__ __forceinline__ static constexpr int index(int row, int k) {
    return kSwapped ? row * kPitch + k : k * kPitch + row;
  }

  /// Copies one stage after the other, kRun elements at a time, which lie side by side in memory.
  /// @tparam kPartial there may be fewer rows than kRows.
  template <int kRun, bool kPartial>
  struct Copier {
    static constexpr int kLine = (kSwapped ? kDepth : kRows) / kRun;  ///< copies of a line
    static constexpr int kLines = kSwapped ? kRows : kDepth, kAtOnce = 32 / kLine;
    static_assert(kLine <= 32);
    const T* from;      ///< of this lane
    int64_t line_step;  ///< to its next copy
    int64_t stage_step;
    int first_line, at, offset;
    int lines;  ///< that this lane has copies of

    /// @param a the first row's element in column 0.
    __device__ __forceinline__ Copier(const T* a, int64_t ld, int rows, int lane)
        : line_step(kAtOnce * ld),
          stage_step(kSwapped ? kDepth : kDepth * ld),
          first_line(lane / kLine),
          at(lane % kLine * kRun),
          offset(first_line * kPitch + at),
          lines(kSwapped    ? min(rows, kRows)
                : at < rows ? kDepth
                            : 0) {
      from = a + first_line * ld + at;
    }
    /// The next kDepth columns.
    __device__ __forceinline__ void copy(T* to) {
      const T* p = from;
#pragma unroll
      for (int line = 0; line < kLines; line += kAtOnce, p += line_step)
        if (!kPartial || first_line + line < lines)
          copy_async<kRun * sizeof(T)>(to + offset + line * kPitch, p);
      from += stage_step;
    }
    /// The last `depth` columns; beyond them zero.
    __device__ __forceinline__ void copy_last(T* to, int depth, int lane) const {
      for (int e = lane * kWide; e < kElements; e += 32 * kWide)
        *reinterpret_cast<float4*>(to + e) = float4{};
      __syncwarp();
      const T* p = from;
#pragma unroll 1
      for (int line = 0; line < kLines; line += kAtOnce, p += line_step) {
        const int last = kSwapped ? lines : min(lines, depth);
        const int elements = kSwapped ? min(depth - at, kRun) : kRun;
        if (elements > 0 && first_line + line < last)
          copy_async<kRun * sizeof(T)>(to + offset + line * kPitch, p, elements * int(sizeof(T)));
      }
    }
  };
};

/// 32 x kColumns products by plain multiply-adds, 4 x kColumns / 4 a lane: of column storage 16
/// bytes of neighbouring rows and columns, of row storage every eighth row and every fourth column,
/// so that an operand read is of 16 bytes without bank conflicts either way.
template <class T, int kColumns, int kDepth, bool kSwapped>
struct PlainProduct {
  using Own = StagedRows<T, 32, kDepth, kSwapped>;
  using Block = StagedRows<T, kColumns, kDepth, kSwapped>;
  static constexpr int kWide = 16 / sizeof(T), kOfLane = kColumns / 4;
  /// Complex products are so many instructions that more of them would not stay in the cache.
  static constexpr int kUnroll = Traits<T>::is_complex ? 2 : kDepth;
  T c[4][kOfLane] = {};

  __device__ static int row(int i, int lane) {
    return kSwapped ? lane % 8 + 8 * i : (i / kWide * 8 + lane % 8) * kWide + i % kWide;
  }
  __device__ static int column(int j, int lane) {
    return kSwapped ? lane / 8 + 4 * j : (j / kWide * 4 + lane / 8) * kWide + j % kWide;
  }

  __device__ __forceinline__ void add(const T* own, const T* block, int lane) {
    if constexpr (kSwapped) {
#pragma unroll 1
      for (int k = 0; k < kDepth; k += kWide) {
        T a[4][kWide];
#pragma unroll
        for (int i = 0; i < 4; ++i) read(a[i], own + Own::index(row(i, lane), k));
#pragma unroll
        for (int j = 0; j < kOfLane; ++j) {
          T b[kWide];
          read(b, block + Block::index(column(j, lane), k));
#pragma unroll
          for (int w = 0; w < kWide; ++w)
#pragma unroll
            for (int i = 0; i < 4; ++i) c[i][j] = add_product_conj(c[i][j], a[i][w], b[w]);
        }
      }
    } else {
#pragma unroll kUnroll
      for (int k = 0; k < kDepth; ++k) {
        T a[4], b[kOfLane];
#pragma unroll
        for (int i = 0; i < 4; i += kWide)
          read(*reinterpret_cast<T(*)[kWide]>(a + i), own + Own::index(row(i, lane), k));
#pragma unroll
        for (int j = 0; j < kOfLane; j += kWide)
          read(*reinterpret_cast<T(*)[kWide]>(b + j), block + Block::index(column(j, lane), k));
#pragma unroll
        for (int j = 0; j < kOfLane; ++j)
#pragma unroll
          for (int i = 0; i < 4; ++i) c[i][j] = add_product_conj(c[i][j], a[i], b[j]);
      }
    }
  }
  __device__ static __forceinline__ void read(T (&values)[kWide], const T* from) {
    *reinterpret_cast<float4*>(values) = *reinterpret_cast<const float4*>(from);
  }
  /// To rows of kPitch elements.
  template <int kPitch>
  __device__ __forceinline__ void put(T* to, int lane) const {
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < kOfLane; j += kSwapped ? 1 : kWide) {
        T* const p = to + row(i, lane) * kPitch + column(j, lane);
        if constexpr (kSwapped)
          *p = c[i][j];
        else
          write(p, *reinterpret_cast<const T(*)[kWide]>(&c[i][j]));
      }
  }
  __device__ static __forceinline__ void write(T* to, const T (&values)[kWide]) {
    *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(values);
  }
};

/// 32 x kColumns products by double precision tensor cores.
template <class T, int kColumns, int kDepth, bool kSwapped>
struct TensorProduct {
  using Own = StagedRows<T, 32, kDepth, kSwapped>;
  using Block = StagedRows<T, kColumns, kDepth, kSwapped>;
  using TileT = TensorTile<T>;
  static constexpr int kTiles = kColumns / 8;
  TileT c[4][kTiles] = {};

  __device__ __forceinline__ void add(const T* own, const T* block, int lane) {
#pragma unroll
    for (int k = 0; k < kDepth; k += 4) {
      T a[2][2], b[kTiles];
#pragma unroll
      for (int i = 0; i < 4; ++i) a[i / 2][i % 2] = own[Own::index(8 * i + lane / 4, k + lane % 4)];
#pragma unroll
      for (int j = 0; j < kTiles; ++j) b[j] = block[Block::index(8 * j + lane / 4, k + lane % 4)];
#pragma unroll
      for (int j = 0; j < kTiles; ++j)
#pragma unroll
        for (int i = 0; i < 2; ++i) TileT::accumulate(c[2 * i][j], c[2 * i + 1][j], a[i], b[j]);
    }
  }
  template <int kPitch>
  __device__ __forceinline__ void put(T* to, int lane) const {
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < kTiles; ++j) {
        T* const p = to + (8 * i + TileT::row(0, lane)) * kPitch + 8 * j + TileT::column(0, lane);
        if constexpr (sizeof(T) == 8)
          *reinterpret_cast<double2*>(p) = {c[i][j].c[0], c[i][j].c[1]};
        else
          p[0] = c[i][j].c[0], p[1] = c[i][j].c[1];
      }
  }
};

template <class T, int kColumns, int kDepth, bool kSwapped>
struct ProductChoice {
  using Type = PlainProduct<T, kColumns, kDepth, kSwapped>;
};
template <int kColumns, int kDepth, bool kSwapped>
struct ProductChoice<double, kColumns, kDepth, kSwapped> {
  using Type = TensorProduct<double, kColumns, kDepth, kSwapped>;
};
template <int kColumns, int kDepth, bool kSwapped>
struct ProductChoice<Complex<double>, kColumns, kDepth, kSwapped> {
  using Type = TensorProduct<Complex<double>, kColumns, kDepth, kSwapped>;
};

/// Shared elements of a warp: two stages of operands, or a transpose.
template <class T, int kColumns, int kDepth>
__host__ __device__ constexpr int staging_elements(bool swapped) {
  const int staged = swapped ? StagedRows<T, 32, kDepth, true>::kElements +
                                   StagedRows<T, kColumns, kDepth, true>::kElements
                             : StagedRows<T, 32, kDepth, false>::kElements +
                                   StagedRows<T, kColumns, kDepth, false>::kElements;
  const int scratch = RowBlock<T, kColumns>::kScratch;
  return 2 * staged > scratch ? 2 * staged : scratch;
}

/// The product of the columns [0, before) of the warp's rows and the block's, into `staging` as
/// rows.
/// @param rows of the warp's strip that there are. @tparam kRun elements that may be moved at once.
template <int kDepth, bool kSwapped, int kColumns, int kRun, class T>
__device__ __forceinline__ void multiply_left(const LowerView<T>& left, const LowerView<T>& top,
                                              int rows, int before, T* staging, int lane) {
  using Product = typename ProductChoice<T, kColumns, kDepth, kSwapped>::Type;
  using Own = typename Product::Own;
  using Block = typename Product::Block;
  constexpr int kBuffer = Own::kElements + Block::kElements;
  // Strips are whole where blocks have as many columns as strips have rows.
  typename Own::template Copier<kRun, kColumns % 32 != 0> own(left.a, left.ld, rows, lane);
  typename Block::template Copier<kRun, false> block(top.a, top.ld, kColumns, lane);
  const auto stage = [&](T* to, int depth) {
    if (depth >= kDepth) {
      own.copy(to);
      block.copy(to + Own::kElements);
    } else {
      own.copy_last(to, depth, lane);
      block.copy_last(to + Own::kElements, depth, lane);
    }
    close_copy_group();
  };
  Product product;
  __syncwarp();
  stage(staging, before);
  T* at = staging;
  T* next = staging + kBuffer;
#pragma unroll 1
  for (int k = before - kDepth;; k -= kDepth) {  // columns after this stage
    if (k > 0) {
      stage(next, k);
      wait_for_copy_groups<1>();
    } else {
      wait_for_copy_groups<0>();
    }
    __syncwarp();
    product.add(at, at + Own::kElements, lane);
    __syncwarp();
    if (k <= 0) break;
    T* const done = at;
    at = next;
    next = done;
  }
  product.template put<RowBlock<T, kColumns>::kPitch>(staging, lane);
  __syncwarp();
}

/// rows := their elements of A less the product of the columns to the left.
/// @param A from the warp's first row and the block's first column on. @param left the same rows
/// from column 0 on. @param top the diagonal block's rows from column 0 on.
template <int kDepth, bool kSwapped, class T, int kColumns>
__device__ __forceinline__ void update_rows(RowBlock<T, kColumns>& rows, const LowerView<T>& A,
                                            const LowerView<T>& left, const LowerView<T>& top,
                                            const RowBlockPlace& place, int before, T* staging,
                                            int lane) {
  using Rows = RowBlock<T, kColumns>;
  if (Rows::kWide == 1 || place.aligned)
    multiply_left<kDepth, kSwapped, kColumns, Rows::kWide>(left, top, place.rows, before, staging,
                                                           lane);
  else
    multiply_left<kDepth, kSwapped, kColumns, 1>(left, top, place.rows, before, staging, lane);
  if constexpr (kSwapped) {
    // The rows pass through the same shared memory as the product.
#pragma unroll
    for (int c = 0; c < kColumns; ++c) rows.a[c] = from_real<T>(0);
    rows.template read_row<kColumns, Rows::Read::subtract>(staging, lane);
    rows.template copy_rows<kColumns>(A, place, staging, lane);
    rows.template read_row<kColumns, Rows::Read::add>(staging, lane);
  } else {
    rows.template load<kColumns>(A, place, staging, lane);
    rows.template read_row<kColumns, Rows::Read::subtract>(staging, lane);
  }
}

}  // namespace chol::cuda
