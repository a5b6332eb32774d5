// Rows of solve/block/kernel.cuh with products by double precision tensor cores.
#pragma once

#include "batched/solve/block/rhs_rows.cuh"
#include "batched/solve/rhs_block_mma.cuh"

namespace chol::cuda {

/// Right-hand sides by double precision tensor cores, in tiles of 16 rows and 8 right-hand sides.
/// All products are added, so signs alternate: the forward sweep gives -y, from which the backward
/// one computes x.
template <class T, bool kSwapped, int kWarpBlocks, int kColumnCount>
struct TensorRows {
  static constexpr int kColumns = kColumnCount, kTiles = kColumns / 8;
  static constexpr int kPad = 32 / sizeof(T);
  /// Four rows are read as operands without bank conflicts: complex ones, whose length is a
  /// multiple of the banks, by rotating positions from row to row, which takes no memory; others by
  /// padding, which takes no instructions.
  static constexpr bool kTurns = Traits<T>::is_complex && kColumns * sizeof(T) % 128 == 0;
  static constexpr int kPitch = kColumns + (kTurns ? 0 : kPad);
  using Triangle = BlockTriangle<T, kSwapped, kPad>;
  using Exchange = BlockExchange<Triangle, T>;
  template <bool kForward>
  using View = PanelView<kForward, kSwapped, T, Triangle>;
  static constexpr int kOrder = Triangle::kOrder;
  using Block = TensorBlock<T, kColumns>;
  using Sum = typename Block::Sum;
  Block v[kWarpBlocks];

  __device__ __forceinline__ void load(const RightHandSides<T>& rhs, const Exchange& x,
                                       int64_t column) {
    for_own(x, [&](Block& own, int row) { own.load(rhs, row, column, x.lane); });
  }
  __device__ __forceinline__ void store(const RightHandSides<T>& rhs, const Exchange& x,
                                        int64_t column) {
    for_own(x, [&](Block& own, int row) { own.store(rhs, row, column, x.lane); });
  }
  template <bool kForward>
  __device__ __forceinline__ void solve(const Exchange& x, int block) {
    Block rows = v[0];
    rows.assign_if(block % kWarpBlocks != 0, v[kWarpBlocks - 1]);
    rows.for_own(x.lane, [&](Sum& own, int r, int q) {
      at(x, kOrder * block + r, q) = convert<T>(negative(own));
    });
    __syncwarp();
    rows.clear();
    add_product<kForward>(rows, x, block, block);
    __syncwarp();
    rows.for_own(x.lane,
                 [&](Sum& own, int r, int q) { at(x, kOrder * block + r, q) = convert<T>(own); });
#pragma unroll
    for (int part = 0; part < kWarpBlocks; ++part)
      v[part].assign_if(part == block % kWarpBlocks, rows);
  }
  template <bool kForward>
  __device__ __forceinline__ void prepare(const Exchange&, int) {}
  template <bool kForward>
  __device__ __forceinline__ void update(const Exchange& x, int block) {
#pragma unroll
    for (int part = 0; part < kWarpBlocks; ++part) {
      const int own = kWarpBlocks * x.warp + part;
      if (Exchange::template is_after<kForward>(own, block) && own < x.L.blocks(x.L.n))
        add_product<kForward>(v[part], x, own, block);
    }
  }

 private:
  template <class Body>
  __device__ __forceinline__ void for_own(const Exchange& x, Body&& body) {
#pragma unroll
    for (int part = 0; part < kWarpBlocks; ++part)
      body(v[part], kOrder * (kWarpBlocks * x.warp + part));
  }
  __device__ static __forceinline__ T& at(const Exchange& x, int row, int column) {
    return x.solved[kPitch * row + (kTurns ? column ^ kPad * (row % 4) : column)];
  }
  /// += the product of block (own, other) of the triangle and the rows of block `other`.
  template <bool kForward>
  __device__ static __forceinline__ void add_product(Block& rows, const Exchange& x, int own,
                                                     int other) {
    const View<kForward> panel(x.L, own, other, x.lane / 4, x.lane % 4);
    rows.add_product(
        x.lane,
        [&](int step, int half) {
          T e[1];
          panel.read(e, 8 * half, 4 * step);
          return e[0];
        },
        [&](int k, int q) { return convert<Sum>(at(x, kOrder * other + k, q)); });
  }
};

}  // namespace chol::cuda
