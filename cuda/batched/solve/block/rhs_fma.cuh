// Rows of solve/block/kernel.cuh with products by plain multiply-adds.
#pragma once

#include "batched/solve/block/rhs_rows.cuh"

namespace chol::cuda {

/// Right-hand sides by plain multiply-adds: lane l has the rows l % 8, l % 8 + 8, ... of kOwn
/// right-hand sides from kOwn (l / 8) on.
template <class T, bool kSwapped, int kWarpBlocks, int kColumnCount>
struct PlainRows {
  static constexpr int kColumns = kColumnCount, kPad = 16 / sizeof(T), kPitch = kColumns;
  using Triangle = BlockTriangle<T, kSwapped, kPad>;
  using Exchange = BlockExchange<Triangle, T>;
  template <bool kForward>
  using View = PanelView<kForward, kSwapped, T, Triangle>;
  static constexpr int kOrder = Triangle::kOrder, kOwn = kColumns / 4, kTerms = 4;
  using Rows = T[2][kOwn];  ///< of a diagonal block
  Rows v[kWarpBlocks];

  template <class Body>
  __device__ static __forceinline__ void for_own(const RightHandSides<T>& rhs, const Exchange& x,
                                                 int64_t column, Body&& body) {
#pragma unroll
    for (int part = 0; part < kWarpBlocks; ++part)
      for_rows([&](int r, int q) {
        const int row = kOrder * (kWarpBlocks * x.warp + part) + 8 * r + x.lane % 8;
        const int64_t its_column = column + kOwn * (x.lane / 8) + q;
        body(part, r, q, rhs.at(row, its_column), rhs.has(row, its_column));
      });
  }
  __device__ __forceinline__ void load(const RightHandSides<T>& rhs, const Exchange& x,
                                       int64_t column) {
    for_own(rhs, x, column, [&](int part, int r, int q, const T* b, bool there) {
      v[part][r][q] = there ? conj_if(rhs.conjugated, *b) : from_real<T>(0);
    });
  }
  __device__ __forceinline__ void store(const RightHandSides<T>& rhs, const Exchange& x,
                                        int64_t column) const {
    for_own(rhs, x, column, [&](int part, int r, int q, T* b, bool there) {
      if (there) *b = conj_if(rhs.conjugated, v[part][r][q]);
    });
  }
  template <bool kForward>
  __device__ __forceinline__ void solve(const Exchange& x, int block) {
    const bool is_first = block % kWarpBlocks == 0;
    T* const place = x.solved + kPitch * kOrder * block + kOwn * (x.lane / 8);
    Rows rows;
    for_rows([&](int r, int q) {
      rows[r][q] = negative(select(is_first, v[0][r][q], v[kWarpBlocks - 1][r][q]));
    });
    put(place + kPitch * (x.lane % 8), rows);
    __syncwarp();
    for_rows([&](int r, int q) { rows[r][q] = from_real<T>(0); });
    subtract_products<kForward, true>(rows, x, block, block, place);
    __syncwarp();
    put(place + kPitch * (x.lane % 8), rows);
#pragma unroll
    for (int part = 0; part < kWarpBlocks; ++part)
      for_rows([&](int r, int q) {
        v[part][r][q] = select(part == block % kWarpBlocks, rows[r][q], v[part][r][q]);
      });
  }
  template <bool kForward>
  __device__ __forceinline__ void prepare(const Exchange&, int) {}
  template <bool kForward>
  __device__ __forceinline__ void update(const Exchange& x, int block) {
    const T* const found = x.solved + kPitch * kOrder * block + kOwn * (x.lane / 8);
#pragma unroll
    for (int part = 0; part < kWarpBlocks; ++part) {
      const int own = kWarpBlocks * x.warp + part;
      if (Exchange::template is_after<kForward>(own, block) && own < x.L.blocks(x.L.n))
        subtract_products<kForward, false>(v[part], x, own, block, found);
    }
  }

 private:
  template <class Body>
  __device__ static __forceinline__ void for_rows(Body&& body) {
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int q = 0; q < kOwn; ++q) body(r, q);
  }
  __device__ static __forceinline__ void put(T* to, const Rows& rows) {
#pragma unroll
    for (int r = 0; r < 2; ++r) copy_wide<kOwn, T>(to + 8 * r * kPitch, rows[r]);
  }
  /// Adds the products of block (own, other) with the rows of block `other`. @tparam kDiagonal the
  /// block is a triangle.
  template <bool kForward, bool kDiagonal>
  __device__ static __forceinline__ void subtract_products(Rows& rows, const Exchange& x, int own,
                                                           int other, const T* found) {
    const View<kForward> panel(x.L, own, other, x.lane % 8, 0);
#pragma unroll
    for (int k = 0; k < kOrder; k += kTerms) {
      T e[2][kTerms];
#pragma unroll
      for (int r = 0; r < 2; ++r) panel.read(e[r], 8 * r, k);
#pragma unroll
      for (int t = 0; t < kTerms; ++t) {
        T b[kOwn];
        copy_wide<kOwn>(b, found + kPitch * (k + t));
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          if (kDiagonal && (kForward ? k >= 8 * r + 8 : k + kTerms <= 8 * r)) continue;
#pragma unroll
          for (int q = 0; q < kOwn; ++q) rows[r][q] = subtract_product(rows[r][q], e[r][t], b[q]);
        }
      }
    }
  }
};

}  // namespace chol::cuda
