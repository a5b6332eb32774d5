// Rows of block_solve.cuh with products by double precision tensor cores.
#pragma once

#include "batched/block_rows.cuh"
#include "batched/tile_types.cuh"

namespace chol::cuda {

/// Right-hand sides by double precision tensor cores, in tiles of 16 rows and 8 of them. Blocks
/// are solved for what they lack with the other sign, so that all products are added: the forward
/// sweep leaves -y, which the backward one turns into x.
template <class T, bool kSwapped, int kWarpBlocks, int kColumnCount>
struct TensorRows {
  static constexpr int kColumns = kColumnCount, kTiles = kColumns / 8;
  static constexpr int kPad = 32 / sizeof(T);
  /// Four rows meet every bank once where they are read as operands: complex ones of whole turns of
  /// the banks by places that turn from row to row, which takes no memory, others by a pad, which
  /// takes no instructions.
  static constexpr bool kTurns = Traits<T>::is_complex && kColumns * sizeof(T) % 128 == 0;
  static constexpr int kPitch = kColumns + (kTurns ? 0 : kPad);
  using Triangle = BlockTriangle<T, kSwapped, kPad>;
  using Exchange = BlockExchange<Triangle, T>;
  template <bool kForward>
  using View = PanelView<kForward, kSwapped, T, Triangle>;
  static constexpr int kOrder = Triangle::kOrder;
  using Sum = Doubled<T>;          ///< which takes single precision exactly
  using Rows = Sum[kTiles][2][2];  ///< of a diagonal block: tile, row l / 4 and the eighth after
                                   ///< it, right-hand side 2 (l % 4) and the next
  Rows v[kWarpBlocks];

  template <class Body>
  __device__ static __forceinline__ void for_rows(Body&& body) {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int q = 0; q < 2; ++q) body(tile, r, q);
  }
  template <class Body>
  __device__ static __forceinline__ void for_own(const RightHandSides<T>& rhs, const Exchange& x,
                                                 int64_t column, Body&& body) {
#pragma unroll
    for (int part = 0; part < kWarpBlocks; ++part)
      for_rows([&](int tile, int r, int q) {
        const int row = kOrder * (kWarpBlocks * x.warp + part) + 8 * r + x.lane / 4;
        const int64_t its_column = column + 8 * tile + 2 * (x.lane % 4) + q;
        body(part, tile, r, q, rhs.at(row, its_column), rhs.has(row, its_column));
      });
  }
  __device__ __forceinline__ void load(const RightHandSides<T>& rhs, const Exchange& x,
                                       int64_t column) {
    for_own(rhs, x, column, [&](int part, int tile, int r, int q, const T* b, bool there) {
      v[part][tile][r][q] = convert<Sum>(there ? conj_if(rhs.conjugated, *b) : from_real<T>(0));
    });
  }
  __device__ __forceinline__ void store(const RightHandSides<T>& rhs, const Exchange& x,
                                        int64_t column) const {
    for_own(rhs, x, column, [&](int part, int tile, int r, int q, T* b, bool there) {
      if (there) *b = conj_if(rhs.conjugated, convert<T>(v[part][tile][r][q]));
    });
  }
  template <bool kForward>
  __device__ __forceinline__ void solve(const Exchange& x, int block) {
    const bool is_first = block % kWarpBlocks == 0;
    for_rows([&](int tile, int r, int q) {
      const Sum lacking = select(is_first, v[0][tile][r][q], v[kWarpBlocks - 1][tile][r][q]);
      *place(x, block, tile, r, q) = convert<T>(negative(lacking));
    });
    __syncwarp();
    Rows rows;
    for_rows([&](int tile, int r, int q) { rows[tile][r][q] = {}; });
    add_products<kForward>(rows, x, block, block);
    __syncwarp();
    for_rows([&](int tile, int r, int q) {
      *place(x, block, tile, r, q) = convert<T>(rows[tile][r][q]);
    });
#pragma unroll
    for (int part = 0; part < kWarpBlocks; ++part)
      for_rows([&](int tile, int r, int q) {
        v[part][tile][r][q] =
            select(part == block % kWarpBlocks, rows[tile][r][q], v[part][tile][r][q]);
      });
  }
  template <bool kForward>
  __device__ __forceinline__ void prepare(const Exchange&, int) {}
  template <bool kForward>
  __device__ __forceinline__ void update(const Exchange& x, int block) {
#pragma unroll
    for (int part = 0; part < kWarpBlocks; ++part) {
      const int own = kWarpBlocks * x.warp + part;
      if (Exchange::template is_after<kForward>(own, block) && own < x.L.blocks(x.L.n))
        add_products<kForward>(v[part], x, own, block);
    }
  }

 private:
  __device__ static __forceinline__ T* place(const Exchange& x, int block, int tile, int r, int q) {
    return x.solved + index(kOrder * block + 8 * r + x.lane / 4, 8 * tile + 2 * (x.lane % 4) + q);
  }
  __device__ static __forceinline__ int index(int row, int column) {
    return kPitch * row + (kTurns ? column ^ kPad * (row % 4) : column);
  }
  /// The products of the rows of block `own` with those of block `other`.
  template <bool kForward>
  __device__ static __forceinline__ void add_products(Rows& rows, const Exchange& x, int own,
                                                      int other) {
    const int term = x.lane % 4;
    const View<kForward> panel(x.L, own, other, x.lane / 4, term);
#pragma unroll
    for (int k = 0; k < kOrder; k += 4) {
      Sum a[2];
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        T e[1];
        panel.read(e, 8 * r, k);
        a[r] = convert<Sum>(e[0]);
      }
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        const T found = x.solved[index(kOrder * other + k + term, 8 * tile + x.lane / 4)];
        TensorTile<Sum>::accumulate(rows[tile][0], rows[tile][1], a, convert<Sum>(conj(found)));
      }
    }
  }
};

}  // namespace chol::cuda
