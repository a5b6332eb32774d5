// Kernels of residue arithmetic: scales, quantization, reconstruction.
#pragma once

#include "common/batch_view.cuh"
#include "native/residues/arithmetic.cuh"
#include "native/residues/call.hpp"

namespace chol::cuda::residues {

inline constexpr int kThreads = 256;

/// Scales of the rows by the diagonal. A diagonal element that is not positive and finite is
/// flagged.
/// @param half_log2 binary logarithm of P / 2
template <class T>
__global__ void find_scales(LowerView<T> A, int n, double half_log2, Scales scales, int* flagged) {
  const int i = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (i >= n) return;
  const double a = static_cast<double>(real(*A.at(i, i)));
  const bool is_good = a > 0 && a <= DBL_MAX;
  // Slightly less, to allow for rounding of the row and of its sum of squares.
  const int exponent = is_good ? static_cast<int>(floor((half_log2 - log2(a)) / 2 - 1e-3)) : 0;
  scales.up[i] = ldexp(1.0, exponent);
  scales.down[i] = ldexp(1.0, -exponent);
  scales.squares[i] = 0;
  if (!is_good) atomicMin(flagged, kScales);
}

/// One real number of a row: part 1 is the imaginary one.
template <class T>
__device__ __forceinline__ double part_of(T x, int part) {
  if constexpr (Traits<T>::is_complex)
    return static_cast<double>(part ? x.im : x.re);
  else
    return static_cast<double>(x);
}

/// A block handles kRowsOfBlock rows of a panel with all columns, so that the order of each row's
/// sum of squares is fixed.
template <class T, bool swapped>
struct Quantizer {
  static constexpr int kColumns = kChunk / kParts<T>;
  static constexpr int kWarps = kThreads / 32;
  using Integers = int64_t[kRowsOfBlock][kChunk + 1];

  const Quantization<T>& call;
  Integers& integers;
  int first_row, warp, lane;

  __device__ __forceinline__ void put(int row, int column, int first_column) const {
    const int64_t i = first_row + row, j = first_column + column;
    const bool is_inside = i < call.rows && j < call.columns;
    T x = from_real<T>(0);
    if (is_inside) x = call.A[swapped ? i * call.ld + j : j * call.ld + i];
    const double up = is_inside ? call.scales.up[i] : 0;
#pragma unroll
    for (int part = 0; part < kParts<T>; ++part)
      integers[row][column * kParts<T> + part] = round_to_integer(part_of(x, part) * up);
  }
  __device__ __forceinline__ void load(int first_column) const {
    if constexpr (swapped) {
      for (int row = warp; row < kRowsOfBlock; row += kWarps)
        for (int column = lane; column < kColumns; column += 32) put(row, column, first_column);
    } else {
      for (int column = warp; column < kColumns; column += kWarps) put(lane, column, first_column);
    }
  }
  /// Four numbers of a row by a lane. Returns the sum of their squares.
  __device__ __forceinline__ double store(int row, int first_column) const {
    const int64_t* const x = integers[row] + 4 * lane;
    const SignedBytes bytes[] = {SignedBytes(x[0]), SignedBytes(x[1]), SignedBytes(x[2]),
                                 SignedBytes(x[3])};
    int8_t* const to = call.planes.at(first_row + row, first_column * kParts<T> + 4 * lane);
#pragma unroll
    for (int k = 0; k < kModuli<T>; ++k) {
      if (k >= call.to.count) break;
      unsigned packed = 0;
#pragma unroll
      for (int e = 0; e < 4; ++e)
        packed |= static_cast<unsigned>(residue<sizeof(Real<T>) == 8>(call.to, k, bytes[e]) & 255)
                  << (8 * e);
      *reinterpret_cast<unsigned*>(to + k * call.planes.stride) = packed;
    }
    double sum = 0;
#pragma unroll
    for (int e = 0; e < 4; ++e) sum += static_cast<double>(x[e]) * static_cast<double>(x[e]);
    return sum;
  }
  __device__ __forceinline__ void run() const {
    constexpr int kOwn = kRowsOfBlock / kWarps;
    double sums[kOwn] = {};
    for (int first_column = 0; first_column < call.columns; first_column += kColumns) {
      load(first_column);
      __syncthreads();
#pragma unroll
      for (int k = 0; k < kOwn; ++k) {
        const int row = warp + k * kWarps;
        if (first_row + row < call.rows) sums[k] += store(row, first_column);
      }
      __syncthreads();
    }
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
      const int row = first_row + warp + k * kWarps;
      for (int distance = 16; distance > 0; distance /= 2)
        sums[k] += __shfl_xor_sync(0xffffffffu, sums[k], distance);
      if (row >= call.rows || lane != 0) continue;
      const double total = call.scales.squares[row] + sums[k];
      call.scales.squares[row] = total;
      // NaN becomes the most negative integer, whose square exceeds the limit.
      if (!(total < call.limit)) atomicMin(call.flagged, call.panel);
    }
  }
};
template <class T, bool swapped>
__global__ void __launch_bounds__(kThreads) quantize(Quantization<T> call) {
  __shared__ int64_t integers[kRowsOfBlock][kChunk + 1];
  const auto thread = static_cast<int>(threadIdx.x);
  Quantizer<T, swapped>{call, integers, static_cast<int>(blockIdx.x) * kRowsOfBlock, thread / 32,
                        thread % 32}
      .run();
}

/// 2^64 y / P of the element at `offset`.
template <class T, class Sum>
__device__ __forceinline__ double reconstruct_part(const FromResidues<kModuli<T>>& from,
                                                   const SumsOf<Sum>& sums, int64_t offset) {
  Fraction fraction;
#pragma unroll
  for (int k = 0; k < kModuli<T>; ++k)
    if (k < from.count) fraction.add(from, k, sums.first[k * sums.stride + offset]);
  return static_cast<double>(fraction.value());
}

/// Subtracts the values of the sums of residues: C(i, j) -= y 2^-(s_i + s_j). Threads along the
/// contiguous direction of C and of the sums: columns of the lower storage, rows of the swapped
/// one. Four elements a thread took 1.3 times as long, because fewer threads are active.
template <class T, bool swapped, class Sum>
__global__ void __launch_bounds__(kThreads) reconstruct(Reconstruction<T, Sum> call) {
  if (*call.flagged < call.panel) return;
  const int64_t fast_count = swapped ? call.columns : call.rows;
  const int64_t slow_count = swapped ? call.rows : call.columns;
  const int64_t fast = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (fast >= fast_count) return;
  for (int64_t slow = blockIdx.y; slow < slow_count; slow += gridDim.y) {
    const int64_t i = swapped ? slow : fast, j = swapped ? fast : slow;
    if (i < j) continue;
    // All factors except the unit are powers of two, so their order does not affect rounding; y
    // 2^-s_i first, since the other product could underflow.
    const double unit = call.from.unit * call.down[i], down_j = call.down[j];
    T* const c = call.C + slow * call.ld + fast;
    const double re =
        reconstruct_part<T>(call.from, call.real, slow * call.real.ld + fast) * unit * down_j;
    if constexpr (Traits<T>::is_complex) {
      const double im =
          reconstruct_part<T>(call.from, call.imaginary, slow * call.imaginary.ld + fast) * unit *
          down_j;
      *c = {static_cast<Real<T>>(c->re - re), static_cast<Real<T>>(c->im - im)};
    } else {
      *c = static_cast<T>(*c - re);
    }
  }
}

/// During stream capture the host cannot read the flag: the kernel is launched after each panel and
/// returns immediately if no panel is flagged. A block has a tile, a thread 4 x 4 of its elements;
/// products are added in the order of the columns.
template <class T, bool swapped>
__global__ void __launch_bounds__(kThreads) update_if_flagged(NativeUpdate<T> call) {
  if (*call.flagged >= call.panel) return;
  constexpr int kTile = NativeUpdate<T>::kTile, kDepth = NativeUpdate<T>::kDepth, kOwn = 4;
  const auto block = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const int row = call.column + block % call.tiles_down() * kTile;
  const int column = call.column + block / call.tiles_down() * kTile;
  if (row + kTile <= column) return;
  const int end = call.column + call.width;
  __shared__ __align__(16) unsigned char memory[2 * kDepth * (kTile + 1) * sizeof(T)];
  auto* const left = reinterpret_cast<T(*)[kTile + 1]>(memory);
  auto* const right = left + kDepth;
  const auto place = [&](int i, int j) { return swapped ? i * call.ld + j : j * call.ld + i; };
  T c[kOwn][kOwn];
  const int own_row = thread % 16, own_column = thread / 16;
  const auto each = [&](auto&& body) {
#pragma unroll
    for (int y = 0; y < kOwn; ++y)
#pragma unroll
      for (int x = 0; x < kOwn; ++x) {
        const int i = row + own_row + 16 * x, j = column + own_column + 16 * y;
        body(c[y][x], i, j, i < call.n && j < end && i >= j);
      }
  };
  each([&](T& value, int i, int j, bool is_inside) {
    value = is_inside ? call.A[place(i, j)] : from_real<T>(0);
  });
  for (int first = 0; first < call.column; first += kDepth) {
    for (int e = thread; e < kDepth * kTile; e += kThreads) {
      // Threads along the contiguous direction.
      const int k = swapped ? e % kDepth : e / kTile, of_tile = swapped ? e / kDepth : e % kTile;
      const bool is_column = first + k < call.column;
      const auto load = [&](int i) {
        return is_column && i < call.n ? call.A[place(i, first + k)] : from_real<T>(0);
      };
      left[k][of_tile] = load(row + of_tile);
      right[k][of_tile] = load(column + of_tile);
    }
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < kDepth; ++k)
      for (int y = 0; y < kOwn; ++y)
        for (int x = 0; x < kOwn; ++x)
          c[y][x] = subtract_product_conj(c[y][x], left[k][own_row + 16 * x],
                                          right[k][own_column + 16 * y]);
    __syncthreads();
  }
  each([&](T& value, int i, int j, bool is_inside) {
    if (is_inside) call.A[place(i, j)] = value;
  });
}

/// For signed bytes: maps two pairs (re, im) in four bytes to (-im, re). -128 is kept, which equals
/// 128 modulo 256; it does not occur with other moduli.
__host__ __device__ __forceinline__ unsigned times_i(unsigned pairs) {
  const unsigned re = pairs & 0x00ff00ffu, im = pairs >> 8 & 0x00ff00ffu;
  const unsigned minus_im = (0x01000100u - im) & 0x00ff00ffu;
  return minus_im | re << 8;
}
/// to := i times the rows of `from` from first_row on, rows by columns of bytes, columns a multiple
/// of four, of all moduli.
inline __global__ void __launch_bounds__(kThreads)
    multiply_by_i(Planes from, int64_t first_row, Planes to, int rows, int columns) {
  const int64_t column = 4 * (int64_t(blockIdx.x) * kThreads + threadIdx.x);
  if (column >= columns) return;
  for (int row = static_cast<int>(blockIdx.y); row < rows; row += static_cast<int>(gridDim.y)) {
    const int64_t plane = blockIdx.z;
    const int8_t* const x = from.at(first_row + row, column) + plane * from.stride;
    int8_t* const y = to.at(row, column) + plane * to.stride;
    *reinterpret_cast<unsigned*>(y) = times_i(*reinterpret_cast<const unsigned*>(x));
  }
}

/// info, if 0, is set from that of the rest of the matrix from row `before` down.
inline __global__ void add_info_of_rest(int* info, const int* rest, int before) {
  if (*info == 0 && *rest != 0) *info = before + *rest;
}

}  // namespace chol::cuda::residues
