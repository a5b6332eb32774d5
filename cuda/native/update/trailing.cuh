// C := C - A B^H on a trapezoid of one matrix or on a rectangle, by the double precision tensor
// cores for all four types: all warps copy 16 columns a stage to a ring in shared memory,
// continuing with the next tile at the end of one, and each has a part of the tile in registers. As
// in persistent/worker.cuh products are accumulated from zero; the elements of the tile are loaded
// last, and the sum is subtracted from them.
#pragma once

#include <type_traits>

#include "native/persistent/call.cuh"
#include "native/persistent/line_copy.cuh"
#include "native/persistent/products.cuh"
#include "native/update/call.hpp"

namespace chol::cuda::update {

template <class T>
struct Barriers {
  persistent::Barrier full[Config<T>::kStages], empty[Config<T>::kStages];

  __device__ __forceinline__ void prepare() {
    for (int s = 0; s < Config<T>::kStages; ++s) {
      full[s].prepare(Config<T>::kThreads);
      empty[s].prepare_for_warps(Config<T>::kWarps);
    }
  }
};

/// @tparam CallOf Call, or RectangleCall.
template <class T, bool swapped, bool aligned, template <class> class CallOf = Call>
struct TrailingUpdate {
  static constexpr bool kRectangle = std::is_same_v<CallOf<T>, RectangleCall<T>>;
  using C = Config<T>;
  using Sum = persistent::Products<C::kParts, swapped>;
  using Lines = persistent::LineCopy<T, swapped, aligned, C::kOrder, C::kPitch, C::kThreads>;
  using Turn = persistent::Turn<C::kStages>;
  static constexpr int kSide = C::kOrder / kSmall;
  /// Stages that are copied in advance; a warp may be behind by the two others.
  static constexpr int kAhead = C::kStages - 2;

  const CallOf<T>& call;
  Barriers<T>& barriers;
  T* stages;
  int thread, block, blocks;
  std::conditional_t<kRectangle, RectangleTiles, Tiles> tiles = call.tiles();
  int64_t total = tiles.total();

  /// Position in this block's tiles: the tile, and the next columns of its products or of itself.
  struct Position {
    int64_t index;
    int row, column, k;
  };
  __device__ __forceinline__ bool ends(const Position& at) const { return at.index >= total; }
  __device__ __forceinline__ Position tile(int64_t index) const {
    if (index >= total) return {index, 0, 0, 0};
    const Tiles::Tile tile = tiles.at(index);
    return {index, call.column + tile.row * C::kOrder, call.column + tile.column * C::kOrder, 0};
  }

  __device__ __forceinline__ T* operand(int stage, int which) const {
    return stages + (2 * stage + which) * (C::kOperandBytes / int(sizeof(T)));
  }
  __device__ __forceinline__ void copy_lines(T* to, int row, int column) const {
    Lines::copy(to, call.template at<swapped>(row, column), call.ld, call.n - row, call.n - column,
                thread);
  }
  /// The same for a rectangle, with separate operands.
  __device__ __forceinline__ void copy_rectangle_stage(const Position& at, int beyond,
                                                       int stage) const {
    T *const first = operand(stage, 0), *const second = operand(stage, 1);
    if (beyond < 0) {
      const int rest = call.depth - at.k;
      Lines::copy(first, call.template of<swapped>(call.left, call.left_ld, at.row, at.k),
                  call.left_ld, call.n - at.row, rest, thread);
      Lines::copy(second, call.template of<swapped>(call.right, call.right_ld, at.column, at.k),
                  call.right_ld, call.width - at.column, rest, thread);
    } else {
      const int column = at.column + 2 * beyond;
      Lines::copy(first, call.template at<swapped>(at.row, column), call.ld, call.n - at.row,
                  call.width - column, thread);
      Lines::copy(second, call.template at<swapped>(at.row, column + kSmall), call.ld,
                  call.n - at.row, call.width - column - kSmall, thread);
    }
  }
  /// 16 columns of both operands or, after them, 32 of the tile.
  __device__ __forceinline__ void copy_stage(Position& at, Turn& turn) const {
    if (ends(at)) return;
    const int beyond = at.k - call.depth;
    barriers.empty[turn.stage].wait(turn.parity ^ 1);
    if constexpr (kRectangle) {
      copy_rectangle_stage(at, beyond, turn.stage);
    } else {
      const int column = beyond < 0 ? call.first + at.k : at.column + 2 * beyond;
      copy_lines(operand(turn.stage, 0), at.row, column);
      copy_lines(operand(turn.stage, 1), beyond < 0 ? at.column : at.row,
                 beyond < 0 ? column : column + kSmall);
    }
    barriers.full[turn.stage].arrive_after_copies();
    turn.advance();
    at.k += kSmall;
    if (at.k == call.depth + C::kOrder / 2) at = tile(at.index + blocks);
  }

  template <class Operand>
  __device__ __forceinline__ static void load(Operand& block, const T* tile, int row0,
                                              persistent::Lane lane) {
    if constexpr (swapped)
      persistent::load_rows(block, tile, row0, lane);
    else
      persistent::load(block, tile + row0, C::kPitch, lane);
  }
  __device__ __forceinline__ void release(Turn& turn) const {
    barriers.empty[turn.stage].arrive_warp(thread % 32);
    turn.advance();
  }
  __device__ __forceinline__ void run(int w) const {
    const persistent::Lane lane(thread % 32);
    const int rows = w % C::kWarpsDown * C::kBlockRows * kSmall;
    const int across = w / C::kWarpsDown, columns = across * C::kBlockColumns * kSmall;
    Turn turn, next_turn;
    Position next = tile(block);
    for (int s = 0; s < kAhead; ++s) copy_stage(next, next_turn);
    for (Position now = tile(block); !ends(now); now = tile(now.index + blocks)) {
      Sum sums[C::kBlockRows][C::kBlockColumns];
#pragma unroll
      for (auto& line : sums)
#pragma unroll
        for (Sum& sum : line) sum.clear();
#pragma unroll 1
      for (int k = 0; k < call.depth; k += kSmall) {
        copy_stage(next, next_turn);
        barriers.full[turn.stage].wait(turn.parity);
        multiply(sums, rows, columns, turn.stage, lane);
        release(turn);
      }
#pragma unroll 1
      for (int s = 0; s < kSide / 2; ++s) {
        copy_stage(next, next_turn);
        barriers.full[turn.stage].wait(turn.parity);
        if (s == across) {
          persistent::Block<C::kParts> values[C::kBlockRows][C::kBlockColumns];
          subtract(sums, values, rows, turn.stage, lane);
          release(turn);
          store(values, now.row + rows, now.column + columns, lane);
        } else {
          release(turn);
        }
      }
    }
  }
  __device__ __forceinline__ void multiply(Sum (&sums)[C::kBlockRows][C::kBlockColumns], int rows,
                                           int columns, int stage, persistent::Lane lane) const {
    persistent::Block<C::kParts> b[C::kBlockColumns];
#pragma unroll
    for (int q = 0; q < C::kBlockColumns; ++q)
      load(b[q], operand(stage, 1), columns + kSmall * q, lane);
#pragma unroll
    for (int m = 0; m < C::kBlockRows; ++m) {
      typename Sum::First a;
      load(a, operand(stage, 0), rows + kSmall * m, lane);
      Sum::prepare(a);
#pragma unroll
      for (int q = 0; q < C::kBlockColumns; ++q) sums[m][q].add(a, b[q]);
    }
  }
  /// values = the tile's elements - sums
  __device__ __forceinline__ void subtract(
      const Sum (&sums)[C::kBlockRows][C::kBlockColumns],
      persistent::Block<C::kParts> (&values)[C::kBlockRows][C::kBlockColumns], int rows, int stage,
      persistent::Lane lane) const {
#pragma unroll
    for (int m = 0; m < C::kBlockRows; ++m)
#pragma unroll
      for (int q = 0; q < C::kBlockColumns; ++q) {
        persistent::Block<C::kParts> block;
        load(block, operand(stage, q), rows + kSmall * m, lane);
        values[m][q] = sums[m][q].value();
        values[m][q].subtract_from(block);
      }
  }
  __device__ __forceinline__ void store(
      const persistent::Block<C::kParts> (&values)[C::kBlockRows][C::kBlockColumns], int row,
      int column, persistent::Lane lane) const {
#pragma unroll
    for (int m = 0; m < C::kBlockRows; ++m)
#pragma unroll
      for (int q = 0; q < C::kBlockColumns; ++q) {
        const int i = row + kSmall * m, j = column + kSmall * q;
        if (j >= call.column + call.width) continue;
        if (kRectangle || i > j)
          persistent::store_factor<swapped, aligned>(call, i, j, values[m][q], lane);
        else if (i == j)
          persistent::store_factor<swapped, aligned, true>(call, i, j, values[m][q], lane);
      }
  }
};

}  // namespace chol::cuda::update
