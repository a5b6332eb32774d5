// Products of residues on the integer tensor cores of compute capability 9.0a, reduced to one byte
// before they are stored: a persistent kernel over the tiles of a triangle, for all moduli.
#pragma once

#include "native/residues/byte_product/bytes_of_sums.cuh"
#include "native/residues/byte_product/call.hpp"
#include "native/residues/byte_product/hopper.cuh"

namespace chol::cuda::residues {

/// Shared memory of a block: stages of kDepth bytes of the rows of both operands.
struct ByteStages {
  static constexpr int kDepth = 128, kStages = 4;
  static constexpr int kFirstBytes = kBlockRows * kDepth, kSecondBytes = kTileColumns * kDepth;
  static constexpr int kBytes = kFirstBytes + kSecondBytes;
  static constexpr int kAlignment = 1024;  ///< of permuted rows of 128 bytes
  static constexpr int kShared = kStages * kBytes + kAlignment + 16 * kStages;

  uint32_t first, barriers;

  __device__ __forceinline__ explicit ByteStages(const void* shared) {
    first = (hopper::shared_address(shared) + kAlignment - 1) / kAlignment * kAlignment;
    barriers = first + kStages * kBytes;
  }
  __device__ __forceinline__ uint32_t a(int stage) const { return first + stage * kBytes; }
  __device__ __forceinline__ uint32_t b(int stage) const { return a(stage) + kFirstBytes; }
  __device__ __forceinline__ hopper::Barrier full(int stage) const {
    return {barriers + 8 * stage};
  }
  __device__ __forceinline__ hopper::Barrier empty(int stage) const {
    return {barriers + 8 * (kStages + stage)};
  }
};

/// Position in the ring of stages, with the parity of the round.
struct StageCursor {
  int stage = 0;
  uint32_t parity = 0;

  __device__ __forceinline__ void advance() {
    if (++stage < ByteStages::kStages) return;
    stage = 0;
    parity ^= 1;
  }
};

/// Two blocks of a cluster have 128 rows each of the first operand and share 256 of the second, of
/// which each copies a half for both.
struct ByteProductKernel {
  static constexpr int kCluster = 2, kConsumers = 2;  ///< warpgroups that multiply
  static constexpr int kThreads = 128 * (kConsumers + 1);

  const ByteProduct& call;
  const CUtensorMap& map_a;
  const CUtensorMap& map_b;
  ByteStages stages;
  int rank;

  __device__ __forceinline__ int clusters() const { return static_cast<int>(gridDim.x) / kCluster; }
  __device__ __forceinline__ int first_tile() const {
    return static_cast<int>(blockIdx.x) / kCluster;
  }
  __device__ __forceinline__ int steps() const {
    return (call.depth + ByteStages::kDepth - 1) / ByteStages::kDepth;
  }

  __device__ void produce() const {
    hopper::prefetch(&map_a);
    hopper::prefetch(&map_b);
    constexpr int kHalf = kTileColumns / kCluster;
    StageCursor cursor;
    for (int t = first_tile(); t < call.product.tiles(); t += clusters()) {
      const TriangleOfProducts::Tile tile = call.product.tile(t);
      for (int step = 0; step < steps(); ++step, cursor.advance()) {
        const int stage = cursor.stage, x = step * ByteStages::kDepth;
        const hopper::Barrier full = stages.full(stage);
        stages.empty(stage).wait(cursor.parity ^ 1);
        full.expect(ByteStages::kBytes);
        const Fold::Place a = call.x.fold.place(call.x.first + tile.row + rank * kBlockRows, x);
        const Fold::Place b = call.y.fold.place(call.y.first + tile.column + rank * kHalf, x);
        hopper::copy_box(stages.a(stage), &map_a, full, static_cast<int>(a.column),
                         static_cast<int>(a.row), tile.modulus);
        hopper::copy_box(stages.b(stage) + rank * (ByteStages::kSecondBytes / kCluster), &map_b,
                         full, static_cast<int>(b.column), static_cast<int>(b.row), tile.modulus,
                         static_cast<uint16_t>((1 << kCluster) - 1));
      }
    }
  }

  __device__ __forceinline__ void release(int stage, int thread) const {
    if (thread < kCluster) stages.empty(stage).arrive_at(static_cast<uint32_t>(thread));
  }

  /// @param group which of the consumers
  __device__ void consume(int group) const {
    const int thread = static_cast<int>(threadIdx.x) % 128;
    StageCursor cursor;
    int sums[128] = {};
    for (int t = first_tile(); t < call.product.tiles(); t += clusters()) {
      int before = -1;  // the stage whose products may still be running
      for (int step = 0; step < steps(); ++step, cursor.advance()) {
        const int stage = cursor.stage;
        stages.full(stage).wait(cursor.parity);
        const uint64_t a = hopper::describe_rows(stages.a(stage) + group * 64 * ByteStages::kDepth);
        const uint64_t b = hopper::describe_rows(stages.b(stage));
        hopper::begin_products();
#pragma unroll
        for (int k = 0; k < ByteStages::kDepth / 32; ++k)
          hopper::multiply_bytes(sums, a + 2 * k, b + 2 * k, step > 0 || k > 0);
        hopper::commit_products();
        hopper::await_products<1>();
        if (before >= 0) release(before, thread);
        before = stage;
      }
      hopper::await_products<0>();
      release(before, thread);
      store(call.product.tile(t), group, sums);
    }
  }

  __device__ __forceinline__ void store(const TriangleOfProducts::Tile& tile, int group,
                                        const int (&sums)[128]) const {
    const int lane = static_cast<int>(threadIdx.x) % 32,
              warp = static_cast<int>(threadIdx.x) / 32 % 4;
    const int modulus = call.from.modulus[tile.modulus];
    const int reciprocal = call.from.reciprocal[tile.modulus];
    QuadTranspose quad{lane % 4};
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = tile.row + rank * kBlockRows + group * 64 + 16 * warp + lane / 4 + 8 * half;
      int8_t* const to = call.bytes.first + tile.modulus * call.bytes.stride + row * call.bytes.ld;
#pragma unroll
      for (int g = 0; g < kTileColumns / 8; g += 4) {
        uint32_t pair[2];
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          const auto byte = [&](int group, int e) {
            return byte_of_sum(sums[4 * group + 2 * half + e], modulus, reciprocal);
          };
          const int group = g + 2 * k;
          pair[k] =
              four_bytes(byte(group, 0), byte(group, 1), byte(group + 1, 0), byte(group + 1, 1));
        }
        uint32_t other = __shfl_xor_sync(0xffffffffu, quad.first_sent(pair), 2);
        other = __shfl_xor_sync(0xffffffffu, quad.second_sent(pair, other), 1);
        uint32_t eight[2];
        quad.finish(other, eight);
        const int column = tile.column + 8 * (g + quad.q);
        if (row < call.product.rows && column < call.bytes.ld)
          *reinterpret_cast<uint2*>(to + column) = make_uint2(eight[0], eight[1]);
      }
    }
  }

  __device__ void run() const {
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < ByteStages::kStages; ++stage) {
        stages.full(stage).init(1);
        stages.empty(stage).init(kCluster * kConsumers);
      }
      hopper::publish_barriers();
    }
    hopper::synchronize_cluster();
    const int group = static_cast<int>(threadIdx.x) / 128;
    if (group == kConsumers) {
      hopper::give_registers<40>();
      if (threadIdx.x % 128 == 0) produce();
      __syncwarp();
    } else {
      hopper::take_registers<232>();
      consume(group);
    }
    // A block must not exit while the other one uses its barriers and memory.
    __syncthreads();
    hopper::synchronize_cluster();
  }
};

__global__ void __cluster_dims__(ByteProductKernel::kCluster, 1, 1)
    __launch_bounds__(ByteProductKernel::kThreads, 1)
        byte_product(const __grid_constant__ ByteProduct call,
                     const __grid_constant__ CUtensorMap map_a,
                     const __grid_constant__ CUtensorMap map_b) {
  extern __shared__ unsigned char byte_product_shared[];
  ByteProductKernel{call, map_a, map_b, ByteStages(byte_product_shared),
                    static_cast<int>(hopper::rank_in_cluster())}
      .run();
}

}  // namespace chol::cuda::residues
