// 16 x 16 blocks in the registers of a warp. The layout is that of the accumulators of the tensor
// cores' m16n8k16 and also that of both operands, so that a product is an operand of the next one
// without data exchange: lane 4 g + t has rows g and g + 8 of columns 2 t, 2 t + 1, 2 t + 8 and 2 t
// + 9, which the instruction takes for k = t, t + 4, t + 8 and t + 12 in both operands.
#pragma once

#include "common/mma_f64.cuh"
#include "native/persistent/config.hpp"

namespace chol::cuda::persistent {

/// Position of a lane in a warp.
struct Lane {
  int g, t;
  __device__ __forceinline__ explicit Lane(int lane) : g(lane >> 2), t(lane & 3) {}
  __device__ __forceinline__ int row(int r) const { return g + 8 * r; }
  __device__ __forceinline__ int column(int i) const { return 2 * t + (i & 1) + 8 * (i >> 1); }
};

/// x[part][i][r]: the real or imaginary part at column(i), row(r).
template <int kParts>
struct Block {
  double x[kParts][4][2];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int p = 0; p < kParts; ++p)
#pragma unroll
      for (int i = 0; i < 4; ++i) x[p][i][0] = x[p][i][1] = 0;
  }
  /// this = other - this
  __device__ __forceinline__ void subtract_from(const Block& other) {
#pragma unroll
    for (int p = 0; p < kParts; ++p)
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int r = 0; r < 2; ++r) x[p][i][r] = other.x[p][i][r] - x[p][i][r];
  }
  template <class E>
  __device__ __forceinline__ void set(int i, int r, E value) {
    if constexpr (Traits<E>::is_complex) {
      x[0][i][r] = value.re;
      x[1][i][r] = value.im;
    } else {
      x[0][i][r] = value;
    }
  }
  template <class E>
  __device__ __forceinline__ E get(int i, int r) const {
    if constexpr (Traits<E>::is_complex)
      return {static_cast<Real<E>>(x[0][i][r]), static_cast<Real<E>>(x[1][i][r])};
    else
      return static_cast<E>(x[0][i][r]);
  }
};

/// c += a b^T; c -= a b^T
template <bool kMinus = false>
__device__ __forceinline__ void multiply(double (&c)[4][2], const double (&a)[4][2],
                                         const double (&b)[4][2]) {
#pragma unroll
  for (int u = 0; u < 2; ++u) {
    double k[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) k[i] = kMinus ? -b[i][u] : b[i][u];
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3},"
        "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(c[2 * u][0]), "+d"(c[2 * u + 1][0]), "+d"(c[2 * u][1]), "+d"(c[2 * u + 1][1])
        : "d"(a[0][0]), "d"(a[0][1]), "d"(a[1][0]), "d"(a[1][1]), "d"(a[2][0]), "d"(a[2][1]),
          "d"(a[3][0]), "d"(a[3][1]), "d"(k[0]), "d"(k[1]), "d"(k[2]), "d"(k[3]));
#else
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int r = 0; r < 2; ++r) tensor_multiply(c[2 * u][r], c[2 * u + 1][r], a[i][r], k[i]);
#endif
  }
}
/// c += a b^H
template <int kParts>
__device__ __forceinline__ void multiply(Block<kParts>& c, const Block<kParts>& a,
                                         const Block<kParts>& b) {
  multiply(c.x[0], a.x[0], b.x[0]);
  if constexpr (kParts == 2) {
    multiply(c.x[1], a.x[1], b.x[0]);
    multiply(c.x[0], a.x[1], b.x[1]);
    multiply<true>(c.x[1], a.x[0], b.x[1]);
  }
}

/// A block stored by columns `pitch` elements apart.
template <class E, int kParts>
__device__ __forceinline__ void load(Block<kParts>& block, const E* from, int pitch, Lane lane) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int r = 0; r < 2; ++r) block.set(i, r, from[lane.column(i) * pitch + lane.row(r)]);
}
template <class E, int kParts>
__device__ __forceinline__ void store(E* to, const Block<kParts>& block, int pitch, Lane lane) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int r = 0; r < 2; ++r)
      to[lane.column(i) * pitch + lane.row(r)] = block.template get<E>(i, r);
}

/// Contiguous rows of 16 elements, as copied from an upper triangle: the 16-byte chunks of some
/// rows are exchanged, so that a warp's reads have no bank conflicts.
template <class E>
struct RowTile {
  static constexpr int kChunk = 16 / int(sizeof(E));  ///< elements
  __device__ static __forceinline__ int exchange(int row) {
    if constexpr (sizeof(E) == 16) return row & 1;
    if constexpr (sizeof(E) == 8) return 4 * (row & 1);
    return 2 * ((row >> 1) & 1);
  }
  __device__ static __forceinline__ int offset(int row, int k) {
    return kSmall * row + ((k / kChunk) ^ exchange(row)) * kChunk + k % kChunk;
  }
};
/// Rows row0 ... row0 + 15 of such a tile; row0 is a multiple of 16.
template <class E, int kParts>
__device__ __forceinline__ void load_rows(Block<kParts>& block, const E* tile, int row0,
                                          Lane lane) {
  struct alignas(sizeof(E) == 16 ? 16 : 2 * sizeof(E)) Pair {
    E first, second;
  };
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = row0 + lane.row(r);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int k = 2 * lane.t + 8 * h;
      if constexpr (sizeof(E) == 16) {
        block.set(2 * h, r, tile[RowTile<E>::offset(row, k)]);
        block.set(2 * h + 1, r, tile[RowTile<E>::offset(row, k + 1)]);
      } else {
        const Pair pair = *reinterpret_cast<const Pair*>(tile + RowTile<E>::offset(row, k));
        block.set(2 * h, r, pair.first);
        block.set(2 * h + 1, r, pair.second);
      }
    }
  }
}

}  // namespace chol::cuda::persistent
