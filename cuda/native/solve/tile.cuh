// Tiles of the factor in shared memory, in the storage order of the matrix: copied, inverted and
// multiplied by all threads of a block.
#pragma once

#include "common/cp_async.cuh"
#include "native/solve/config.hpp"

namespace chol::cuda::solve {

/// Operations on tiles, where the rows of a product are across the lines (kAcross) or along them.
/// @tparam swapped whether lines are rows.
template <class T, bool swapped, bool kAcross>
struct Tile {
  using C = Config<T>;
  static constexpr int kOrder = C::kOrder, kThreads = C::kThreads, kPitch = C::pitch(kAcross);

  __device__ static __forceinline__ int at(int i, int j) {
    return swapped ? i * kPitch + j : j * kPitch + i;
  }

  /// Starts the copy of tile (row, column) below the diagonal; elements beyond n become zero.
  __device__ static __forceinline__ void copy(T* to, const Factor<T>& factor, int row, int column,
                                              int thread) {
    const int line = kOrder * (swapped ? row : column), first = kOrder * (swapped ? column : row);
    const int lines = smaller(kOrder, factor.n - line), length = smaller(kOrder, factor.n - first);
    const T* const from = factor.A + line * factor.ld + first;
    if (factor.aligned)
      copy_chunks<16>(to, from, factor.ld, lines, length, thread);
    else
      copy_chunks<int(sizeof(T))>(to, from, factor.ld, lines, length, thread);
  }

  /// The diagonal tile with zeros above and, beyond n, ones on the diagonal.
  __device__ static __forceinline__ void read_diagonal(T* to, const Factor<T>& factor, int strip,
                                                       int thread) {
    const int first = kOrder * strip, rows = factor.n - first;
#pragma unroll 8
    for (int e = thread; e < kOrder * kOrder; e += kThreads) {
      const int line = e / kOrder, position = e % kOrder;
      const int i = swapped ? line : position, j = swapped ? position : line;
      T x = from_real<T>(i == j ? 1 : 0);
      if (j <= i && i < rows) {
        x = factor.A[(first + line) * factor.ld + first + position];
        if (i == j) x = from_real<T>(real(x));
      }
      to[line * kPitch + position] = x;
    }
  }

  /// Prefetches the diagonal tile's lines for read_diagonal().
  __device__ static __forceinline__ void prefetch_diagonal(const Factor<T>& factor, int strip,
                                                           int thread) {
    constexpr int kOfLine = smaller(kOrder, 128 / int(sizeof(T)));
    const int first = kOrder * strip;
    for (int e = thread * kOfLine; e < kOrder * kOrder; e += kThreads * kOfLine) {
      const int line = first + e / kOrder, position = first + e % kOrder;
      if (line < factor.n && position < factor.n)
        prefetch_to_l2(factor.A + line * factor.ld + position);
    }
  }

  /// A thread's part of a row of the product's matrix: its address, or its elements.
  struct RowInMemory {
    const T* first;
    __device__ __forceinline__ T operator[](int k) const {
      return first[kShares * k * (kAcross ? kPitch : 1)];
    }
  };
  struct RowInRegisters {
    T x[kOrder / kShares];
    __device__ __forceinline__ T operator[](int k) const { return x[k]; }
  };
  /// @tparam kRead whether it is read in advance, so that a product need not wait for it.
  template <bool kRead = false>
  __device__ static __forceinline__ auto row_of(const T* tile, int thread) {
    const int row = thread / kShares, share = thread % kShares;
    const RowInMemory in_memory{tile + (kAcross ? share * kPitch + row : row * kPitch + share)};
    if constexpr (kRead) {
      RowInRegisters read;
#pragma unroll
      for (int k = 0; k < kOrder / kShares; ++k) read.x[k] = in_memory[k];
      return read;
    } else {
      return in_memory;
    }
  }

  /// acc -= M x for this thread's part of its row, M being the tile or its conjugate.
  template <bool kConjugated, class Row, int kColumns>
  __device__ static __forceinline__ void subtract_product_of(T (&acc)[kColumns], const Row& row,
                                                             const T* x, int thread) {
    constexpr int kRowPitch = kVectorPitch<T, kColumns>;
    struct alignas(kColumns == 1 ? sizeof(T) : 16) Values {
      T x[kColumns];
    };
    const T* const mine = x + thread % kShares * kRowPitch;
    // With one right-hand side two sums, to hide the latency of additions.
    constexpr int kSums = kColumns == 1 ? 2 : 1;
    T sum[kSums][kColumns] = {};
#pragma unroll
    for (int k = 0; k < kOrder / kShares; ++k) {
      const T m = conj_if(kConjugated, row[k]);
      const Values values = *reinterpret_cast<const Values*>(mine + kShares * k * kRowPitch);
#pragma unroll
      for (int q = 0; q < kColumns; ++q) {
        T& its = kSums > 1 && k % kSums ? sum[k % kSums][q] : acc[q];
        its = subtract_product(its, m, values.x[q]);
      }
    }
    if constexpr (kSums > 1)
#pragma unroll
      for (int q = 0; q < kColumns; ++q) acc[q] = add(acc[q], sum[1][q]);
  }

  /// The tile := its inverse, lower triangular with zeros above. Blocks of 16 columns by one warp
  /// each, then pairs of twice the order by products; their first product is stored above the
  /// diagonal.
  __device__ static __forceinline__ void invert(T* tile, int thread) {
    const int warp = thread / 32, lane = thread % 32;
    if (warp < kOrder / kSmall) invert_small(tile + at(kSmall * warp, kSmall * warp), lane);
    __syncthreads();
    for (int w = kSmall; w < kOrder; w *= 2) {
      for (int e = thread; e < kOrder / 2 * w; e += kThreads) {
        const int i = e % w, j = e / w % w, first = e / (w * w) * 2 * w, second = first + w;
        T sum{};
        for (int k = j; k < w; ++k)
          sum = subtract_product(sum, tile[at(second + i, first + k)],
                                 tile[at(first + k, first + j)]);
        tile[at(first + i, second + j)] = sum;
      }
      __syncthreads();
      for (int e = thread; e < kOrder / 2 * w; e += kThreads) {
        const int i = e % w, j = e / w % w, first = e / (w * w) * 2 * w, second = first + w;
        T sum{};
        for (int k = 0; k <= i; ++k)
          sum = subtract_product(sum, negative(tile[at(second + i, second + k)]),
                                 tile[at(first + k, second + j)]);
        tile[at(second + i, first + j)] = sum;
      }
      __syncthreads();
    }
    for (int e = thread; e < kOrder * kOrder; e += kThreads) {
      const int line = e / kOrder, position = e % kOrder;
      if (swapped ? position > line : line > position) tile[line * kPitch + position] = T{};
    }
    __syncthreads();
  }

  /// The inverse of a block on the diagonal, a lane a column, by substitution.
  __device__ static __forceinline__ void invert_small(T* block, int lane) {
    T x[kSmall];
    if (lane < kSmall) {
#pragma unroll
      for (int i = 0; i < kSmall; ++i) x[i] = from_real<T>(i == lane ? 1 : 0);
#pragma unroll
      for (int k = 0; k < kSmall; ++k) {
        x[k] = scale(x[k], Real<T>(1) / real(block[at(k, k)]));
#pragma unroll
        for (int i = k + 1; i < kSmall; ++i) x[i] = subtract_product(x[i], block[at(i, k)], x[k]);
      }
    }
    __syncwarp();
    if (lane < kSmall) {
#pragma unroll
      for (int i = 0; i < kSmall; ++i)
        if (i >= lane) block[at(i, lane)] = x[i];
    }
  }

  /// `right` or `left` := left right, where `product` is one of them.
  __device__ static __forceinline__ void multiply(const T* left, const T* right, T* product,
                                                  int thread) {
    constexpr int kRows = 4, kSide = kOrder / kRows, kAlong = kThreads / kSide;
    constexpr int kMore = kOrder / kAlong;
    const int first_row = thread % kSide, first_column = thread / kSide;
    T sum[kRows][kMore] = {};
#pragma unroll 4
    for (int k = 0; k < kOrder; ++k) {
      T a[kRows], b[kMore];
#pragma unroll
      for (int r = 0; r < kRows; ++r) a[r] = negative(left[at(first_row + kSide * r, k)]);
#pragma unroll
      for (int c = 0; c < kMore; ++c) b[c] = right[at(k, first_column + kAlong * c)];
#pragma unroll
      for (int r = 0; r < kRows; ++r)
#pragma unroll
        for (int c = 0; c < kMore; ++c) sum[r][c] = subtract_product(sum[r][c], a[r], b[c]);
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < kRows; ++r)
#pragma unroll
      for (int c = 0; c < kMore; ++c)
        product[at(first_row + kSide * r, first_column + kAlong * c)] = sum[r][c];
    __syncthreads();
  }

 private:
  template <int kBytes>
  __device__ static __forceinline__ void copy_chunks(T* to, const T* from, int64_t ld, int lines,
                                                     int length, int thread) {
    constexpr int kChunk = kBytes / int(sizeof(T)), kOfLine = kOrder / kChunk;
    constexpr int kStep = kThreads / kOfLine;  // lines
    // Unrolled further, addresses take registers that the products need; z: 1.22 of the time.
    [[maybe_unused]] constexpr int kTogether = sizeof(T) == 8 ? 2 : kOrder / kStep;
    const int position = thread % kOfLine * kChunk;
    const int bytes = smaller(larger(length - position, 0) * int(sizeof(T)), kBytes);
#pragma unroll kTogether
    for (int s = 0; s < kOrder / kStep; ++s) {
      const int line = thread / kOfLine + kStep * s;
      const bool exists = line < lines && bytes > 0;
      copy_async<kBytes>(shared_address(to + line * kPitch + position),
                         exists ? from + line * ld + position : from, exists ? bytes : 0);
    }
  }
};

}  // namespace chol::cuda::solve
