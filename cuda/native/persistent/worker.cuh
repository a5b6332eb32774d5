// All blocks except the chain: groups of warps that take tasks, left-looking. One warp of a group
// copies operands, 16 columns a stage, to a ring of stages in shared memory, ahead of the current
// task; the others have 16 rows of the tile each in registers. Products are accumulated from zero;
// the elements of the tile are loaded last, and the sum is subtracted from them.
#pragma once

#include "native/persistent/call.cuh"
#include "native/persistent/line_copy.cuh"
#include "native/persistent/products.cuh"

namespace chol::cuda::persistent {

template <class T>
struct GroupBarriers {
  Barrier full[Config<T>::kStages], empty[Config<T>::kStages];
  Barrier task_full[2], task_empty[2];
  Task tasks[2];
};

template <class T, bool swapped, bool aligned>
struct Group {
  using D = Doubled<T>;
  using C = Config<T>;
  using Fragment = Block<C::kParts>;
  static constexpr int kOrder = C::kOrder, kSide = C::kSide;

  const Call<T>& call;
  GroupBarriers<T>& barriers;
  unsigned char* stages;
  int group, lane_id;
  double* exchange = reinterpret_cast<double*>(stages + C::kStages * C::kStageBytes);
  static constexpr int kExchanged = C::kExchangeBytes / 8 / C::kWarps;

  __device__ __forceinline__ T* operand(int stage) const {
    return reinterpret_cast<T*>(stages + stage * C::kStageBytes);
  }
  /// The second operand, or a block column of the diagonal tile.
  template <class E>
  __device__ __forceinline__ E* second(int stage) const {
    return reinterpret_cast<E*>(stages + stage * C::kStageBytes + C::kOperandBytes);
  }

  static __device__ __forceinline__ void prepare_barriers(GroupBarriers<T>& b) {
    for (int s = 0; s < C::kStages; ++s) {
      b.full[s].prepare(32);
      b.empty[s].prepare_for_warps(C::kWarps);
    }
    for (int s = 0; s < 2; ++s) {
      b.task_full[s].prepare(1);
      b.task_empty[s].prepare_for_warps(C::kWarps);
    }
  }

  using Lines = LineCopy<T, swapped, aligned, kOrder, C::kStoredPitch>;

  __device__ __forceinline__ void copy_operand(T* to, int row, int column) const {
    const int first_row = row * kOrder;
    Lines::copy(to, call.template at<swapped>(first_row, column), call.ld, call.n - first_row,
                call.n - column, lane_id);
  }
  /// Block column p of the finished diagonal tile of column c, from its diagonal on.
  __device__ __forceinline__ void copy_diagonal(D* to, int c, int p) const {
    const char* const from = reinterpret_cast<const char*>(
                                 scratch_tile(call, Scratch::diagonal, c) + p * kSmall * kOrder) +
                             16 * lane_id;
    const unsigned address = shared_address(to) + 16 * lane_id;
    if (16 * lane_id < p * kSmall * int(sizeof(D))) return;
#pragma unroll
    for (int j = 0; j < kSmall; ++j)
      copy_async_once(address + j * C::kPitch * int(sizeof(D)), from + j * 512);
  }

  /// The warp that takes tasks and copies their operands.
  __device__ __forceinline__ void copy() const {
    const Schedule schedule = call.schedule();
    const Flags flags = flags_of(call);
    Turn<C::kStages> turn;
    Turn<2> slot;
    int g = 0;
    int64_t begun = 0;  // tasks of the columns before g
    for (;;) {
      int index = 0;
      if (lane_id == 0) index = atomicAdd(flags.next_task(), 1);
      index = __shfl_sync(kFullWarp, index, 0);
      while (g < schedule.columns && index - begun >= schedule.tasks_of(g))
        begun += schedule.tasks_of(g++);
      const bool ends = g == schedule.columns;
      const Task task =
          ends ? Task{-1, 0, 0, 0} : schedule.task(g, static_cast<int>(index - begun));
      barriers.task_empty[slot.stage].wait(slot.parity ^ 1);
      if (lane_id == 0) {
        barriers.tasks[slot.stage] = task;
        barriers.task_full[slot.stage].arrive();
      }
      slot.advance();
      if (ends) return;
      copy_task(task, flags, turn);
    }
  }
  __device__ __forceinline__ void copy_task(const Task& task, const Flags& flags,
                                            Turn<C::kStages>& turn) const {
    // Lane 0 polls the tile row of the first operand, lane 1 that of the second.
    const int* const flag = flags.finished(lane_id == 0 ? task.row : task.column);
    int seen = lane_id < 2 ? 0 : task.depth * C::kWarps;
    for (int k = 0; k < task.depth; ++k) {
      const int needed = (k + 1) * C::kWarps;
      if (__any_sync(kFullWarp, seen < needed)) {
        if (seen < needed) seen = wait_for(flag, needed);
        __syncwarp();
      }
#pragma unroll 1
      for (int q = 0; q < kSide; ++q) {
        barriers.empty[turn.stage].wait(turn.parity ^ 1);
        const int column = k * kOrder + q * kSmall;
        copy_operand(operand(turn.stage), task.row, column);
        copy_operand(second<T>(turn.stage), task.column, column);
        barriers.full[turn.stage].arrive_after_copies();
        turn.advance();
      }
    }
#pragma unroll 1
    for (int p = 0; p < kSide; ++p) {
      barriers.empty[turn.stage].wait(turn.parity ^ 1);
      copy_operand(operand(turn.stage), task.row, task.column * kOrder + p * kSmall);
      if (task.kind == Task::solve) {
        if (lane_id == 0) wait_for(flags.published(task.column), p + 1);
        __syncwarp();
        copy_diagonal(second<D>(turn.stage), task.column, p);
      }
      barriers.full[turn.stage].arrive_after_copies();
      turn.advance();
    }
  }

  template <class Operand>
  __device__ __forceinline__ static void load_operand(Operand& block, const T* tile, int row0,
                                                      Lane lane) {
    if constexpr (swapped)
      load_rows(block, tile, row0, lane);
    else
      load(block, tile + row0, C::kStoredPitch, lane);
  }

  /// A warp that computes: rows 16 w ... of the group's tiles.
  __device__ __forceinline__ void compute(int w) const {
    const Flags flags = flags_of(call);
    const Lane lane(lane_id);
    Turn<C::kStages> turn;
    Turn<2> slot;
    for (;;) {
      barriers.task_full[slot.stage].wait(slot.parity);
      const Task task = barriers.tasks[slot.stage];
      barriers.task_empty[slot.stage].arrive_warp(lane_id);
      slot.advance();
      if (task.kind < 0) return;
      Fragment sum[kSide];
      if constexpr (C::kExchanges)
        multiply_square(task.depth * kSide, w, sum, turn, lane);
      else
        multiply_rows(task.depth * kSide, w, sum, turn, lane);
      if (task.kind == Task::solve)
        solve(task, w, sum, turn, lane, flags);
      else
        hand_over(task, w, sum, turn, lane, flags);
    }
  }
  /// Products of all stages: 16 rows of the tile.
  __device__ __forceinline__ void multiply_rows(int count, int w, Fragment (&sum)[kSide],
                                                Turn<C::kStages>& turn, Lane lane) const {
    using Sum = Products<C::kParts, swapped>;
    Sum products[kSide];
#pragma unroll
    for (int q = 0; q < kSide; ++q) products[q].clear();
#pragma unroll 1
    for (int s = 0; s < count; ++s) {
      barriers.full[turn.stage].wait(turn.parity);
      typename Sum::First a;
      load_operand(a, operand(turn.stage), kSmall * w, lane);
      Sum::prepare(a);
#pragma unroll
      for (int q = 0; q < kSide; ++q) {
        Fragment b;
        load_operand(b, second<T>(turn.stage), kSmall * q, lane);
        products[q].add(a, b);
      }
      barriers.empty[turn.stage].arrive_warp(lane_id);
      turn.advance();
    }
#pragma unroll
    for (int q = 0; q < kSide; ++q) sum[q] = products[q].value();
  }
  /// The same for a square quarter of the tile, which reads less shared memory; then pairs of warps
  /// exchange halves, so that each has its 16 rows.
  __device__ __forceinline__ void multiply_square(int count, int w, Fragment (&sum)[kSide],
                                                  Turn<C::kStages>& turn, Lane lane) const {
    static_assert(kSide == 4);
    Fragment part[2][2];
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
      for (int q = 0; q < 2; ++q) part[m][q].clear();
    const int half = w & 1, rows = kSmall * (w & 2), columns = 2 * kSmall * half;
#pragma unroll 1
    for (int s = 0; s < count; ++s) {
      barriers.full[turn.stage].wait(turn.parity);
      Fragment a[2];
#pragma unroll
      for (int m = 0; m < 2; ++m) load_operand(a[m], operand(turn.stage), rows + kSmall * m, lane);
#pragma unroll
      for (int q = 0; q < 2; ++q) {
        Fragment b;
        load_operand(b, second<T>(turn.stage), columns + kSmall * q, lane);
#pragma unroll
        for (int m = 0; m < 2; ++m) multiply(part[m][q], a[m], b);
      }
      barriers.empty[turn.stage].arrive_warp(lane_id);
      turn.advance();
    }
    const int pair = 1 + 2 * group + (w >> 1);
    meet_pair(pair);  // the other warp has read the previous exchange
    double* const mine = exchange + w * kExchanged + 2 * lane_id;
    double* const its = exchange + (w ^ 1) * kExchanged + 2 * lane_id;
#pragma unroll
    for (int q = 0; q < 2; ++q)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        double* const to = mine + 64 * (4 * q + i);
        to[0] = half ? part[0][q].x[0][i][0] : part[1][q].x[0][i][0];
        to[1] = half ? part[0][q].x[0][i][1] : part[1][q].x[0][i][1];
      }
    meet_pair(pair);
#pragma unroll
    for (int q = 0; q < 2; ++q)
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          const double own = half ? part[1][q].x[0][i][r] : part[0][q].x[0][i][r];
          const double got = its[64 * (4 * q + i) + r];
          sum[q].x[0][i][r] = half ? got : own;
          sum[2 + q].x[0][i][r] = half ? own : got;
        }
  }
  __device__ __forceinline__ void solve(const Task& task, int w, Fragment (&sum)[kSide],
                                        Turn<C::kStages>& turn, Lane lane,
                                        const Flags& flags) const {
    const int row = task.row * kOrder + w * kSmall;
    const bool is_left = task.row == task.column + 2 && task.column + 1 < call.schedule().columns;
#pragma unroll
    for (int p = 0; p < kSide; ++p) {
      barriers.full[turn.stage].wait(turn.parity);
      const D* const diagonal = second<D>(turn.stage);
      Fragment block, x;
      load_operand(block, operand(turn.stage), kSmall * w, lane);
      sum[p].subtract_from(block);
      load(block, diagonal + kSmall * p, C::kPitch, lane);
      x.clear();
      multiply(x, sum[p], block);
#pragma unroll
      for (int q = p + 1; q < kSide; ++q) {
        load(block, diagonal + kSmall * q, C::kPitch, lane);
        multiply(sum[q], x, block);
      }
      barriers.empty[turn.stage].arrive_warp(lane_id);
      turn.advance();
      if (is_left) {
        store(scratch_tile(call, Scratch::left, task.column + 1) + kSmall * (p * kOrder + w), x,
              kOrder, lane);
        __syncwarp();
        if (p + 1 < kSide && lane_id == 0) add_release(flags.left(task.column + 1, p), 1);
      }
      store_factor<swapped, aligned>(call, row, task.column * kOrder + p * kSmall, x, lane);
    }
    __syncwarp();
    if (lane_id == 0) add_release(flags.finished(task.row), 1);
  }
  /// The matrix is padded by an identity.
  __device__ __forceinline__ void hand_over(const Task& task, int w, Fragment (&sum)[kSide],
                                            Turn<C::kStages>& turn, Lane lane,
                                            const Flags& flags) const {
    const bool is_square = task.kind == Task::square;
    const int step = task.row - 1, row = task.row * kOrder + w * kSmall;
    D* const to =
        scratch_tile(call, is_square ? Scratch::square : Scratch::below, step) + kSmall * w;
#pragma unroll
    for (int p = 0; p < kSide; ++p) {
      barriers.full[turn.stage].wait(turn.parity);
      Fragment block;
      load_operand(block, operand(turn.stage), kSmall * w, lane);
      sum[p].subtract_from(block);
      barriers.empty[turn.stage].arrive_warp(lane_id);
      turn.advance();
      if (is_square && p == w && row + kSmall > call.n) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
          for (int r = 0; r < 2; ++r)
            if (lane.row(r) == lane.column(i) && row + lane.row(r) >= call.n) sum[p].x[0][i][r] = 1;
      }
      store(to + p * kSmall * kOrder, sum[p], kOrder, lane);
    }
    __syncwarp();
    if (lane_id == 0) add_release(flags.prepared(step), 1);
  }
};

}  // namespace chol::cuda::persistent
