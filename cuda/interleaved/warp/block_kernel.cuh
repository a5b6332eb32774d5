// Factors of orders beyond a thread's registers, alone or with one right-hand side, and solves. A
// block has as many matrices as share a sector of memory, or fewer if these are too large. Copy
// warps move their triangles to shared memory, in separate columns for each matrix, and the results
// back, so that only they wait for memory. The other warps work on the matrices (warp/factor.cuh,
// warp/solve.cuh). Block columns arrive during the computation of earlier ones; every element is
// read once and written once.
#pragma once

#include "interleaved/shapes.hpp"
#include "interleaved/warp/factor.cuh"

namespace chol::cuda {

/// Layout of a block's shared memory, and the roles of its warps.
template <class T, class Shape, InterleavedTask kTask>
struct WarpFactorBlock {
  static constexpr bool kFactors = kTask != InterleavedTask::solve;
  static constexpr bool kAlong = kTask == InterleavedTask::factor_and_solve;
  using Matrix = WarpFactor<T, Shape, kAlong>;
  using Triangle = ResidentTriangle<T, kWarpFactorColumns, kFactors>;
  using Diagonal = typename Matrix::Block;
  static constexpr int kMatrices = Shape::kMatrices, kWorkers = Shape::kWarps * kMatrices;
  static constexpr int kWarps = kWorkers + Shape::kMovers, kThreads = 32 * kWarps;
  using Triangles = ResidentTriangles<Triangle, kMatrices, 32 * Shape::kMovers>;
  /// Block columns in flight during the computation of one: more would delay the first one and,
  /// since the first-level cache keeps full lines of the incoming data, also the computation.
  static constexpr int kAhead = kFactors ? 1 : 2;
  /// Right-hand sides of a matrix in shared memory: one for a factorization, or one a warp.
  static constexpr int kVectors = kAlong ? 1 : kFactors ? 0 : Shape::kWarps;
  static constexpr int kFixed =
      kFactors ? (int(sizeof(Diagonal) + sizeof(int)) * kMatrices + 15) / 16 * 16 : 0;

  Diagonal* diagonals;
  int* infos;
  T *triangles, *vectors;
  int n;

  __device__ __forceinline__ WarpFactorBlock(unsigned char* shared, int order) : n(order) {
    diagonals = reinterpret_cast<Diagonal*>(shared);
    infos = reinterpret_cast<int*>(diagonals + kMatrices);
    triangles = reinterpret_cast<T*>(shared + kFixed);
    vectors = triangles + kMatrices * Triangles::distance(n);
  }
  /// Distance of right-hand sides in elements, with room for reads past narrow blocks.
  __host__ __device__ static constexpr int vector(int n) {
    return RightHandSide<T>::entries(n, kWarpFactorColumns) / 4 * 4 + 5;
  }
  static constexpr int64_t bytes(int64_t n) {
    const int64_t elements = Triangles::distance(int(n)) + kVectors * vector(int(n));
    return kFixed + kMatrices * elements * int64_t(sizeof(T));
  }
  __device__ __forceinline__ Triangle triangle(int matrix) const {
    return {triangles + matrix * Triangles::distance(n), n};
  }
  __device__ __forceinline__ T* right_hand_side(int matrix, int number = 0) const {
    return vectors + (matrix * kVectors + number) * vector(n);
  }
  /// Row i of right-hand side c in device memory.
  __device__ __forceinline__ static T& element(const LaneMatrix<Lane<T>>& B, int i, int64_t c) {
    return reinterpret_cast<T&>(B.at(i, c));
  }
  __device__ __forceinline__ int block_columns() const { return Triangle::blocks(n); }
  __device__ __forceinline__ static void meet() { meet_from_anywhere<kWarps>(); }

  /// The work of a factoring warp.
  __device__ __forceinline__ void factor(int matrix, int warp, int lane) const {
    Matrix own{
        triangle(matrix), diagonals[matrix], {right_hand_side(matrix)}, warp, lane, matrix, 0};
#pragma unroll 1
    for (int J = 0; J < block_columns(); ++J) {
      meet();
      own.factor(J);
    }
    if (warp == 0 && lane == 0) infos[matrix] = own.info;
    meet();
    if constexpr (kAlong) {
      const ResidentSolve<Triangle, true> solve{own.L, right_hand_side(matrix), lane};
      solve.template backward<Shape::kWarps>(warp, [&] { own.meet(); });
      meet();
    }
  }
  /// The work of a solving warp: every kWarps-th right-hand side of its matrix.
  __device__ __forceinline__ void solve(const InterleavedCall<T>& call, int matrix, int warp,
                                        int lane) const {
    const int64_t b = int64_t(blockIdx.x) * kMatrices + matrix, last = call.batch - 1;
    const LaneMatrix<Lane<T>> B = call.right_hand_sides(b < last ? b : last);
    // None if there is no matrix: those of the last one are written by other warps.
    const int64_t nrhs = b <= last && !call.failed(b) ? call.nrhs : 0;
    T* const x = right_hand_side(matrix, warp);
    const ResidentSolve<Triangle> own{triangle(matrix), x, lane};
    bool arriving = true;
#pragma unroll 1
    for (int64_t c = warp; arriving || c < nrhs; c += Shape::kWarps, arriving = false) {
      const bool has_one = c < nrhs;
      if (has_one)
        for (int i = lane; i < n; i += 32) x[i] = conj_if(call.swapped, element(B, i, c));
      __syncwarp();
#pragma unroll 1
      for (int J = 0; J < block_columns(); ++J) {
        if (arriving) meet();
        if (has_one) own.forward(J);
      }
      if (!has_one) continue;
      own.backward(0, [] {});
      for (int i = lane; i < n; i += 32) element(B, i, c) = conj_if(call.swapped, x[i]);
      __syncwarp();
    }
  }
  /// Not needed for ordering. With additional named barriers racecheck reports false hazards across
  /// the block's barriers unless all warps have the same number.
  __device__ __forceinline__ static void meet_as_workers_do() {
    if constexpr (kFactors && Shape::kWarps > 1) named_barrier_sync<32 * Shape::kMovers>(kMatrices);
  }
  /// The work of a copy warp.
  __device__ __forceinline__ void move(const InterleavedCall<T>& call, int warp, int lane) const {
    const int matrix = lane % kMatrices;
    const int64_t b = int64_t(blockIdx.x) * kMatrices + matrix, last = call.batch - 1;
    const int64_t there = b < last ? b : last;
    const Triangles its{triangle(matrix), call.triangle(there), lane / kMatrices, warp, b <= last};
    const LaneMatrix<Lane<T>> B = call.right_hand_sides(there);
    T* const x = right_hand_side(matrix);
    if constexpr (kAlong)
      its.over_rows([&](int i) { copy_async_of_line<sizeof(T), false>(x + i, &element(B, i, 0)); });
    for (int J = 0; J < kAhead; ++J) its.fetch(J);
    const int columns = block_columns();
#pragma unroll 1
    for (int J = 0; J < columns; ++J) {
      wait_for_copy_groups<kAhead - 1>();
      // Copies are not conjugated; the receiving warp does that.
      if constexpr (kAlong && Traits<T>::is_complex)
        if (J == 0 && call.swapped) its.over_rows([&](int i) { x[i] = conj(x[i]); });
      meet();
      meet_as_workers_do();
      its.fetch(J + kAhead);
      if (kFactors && J > 0) its.store(J - 1);
    }
    if constexpr (kFactors) {
      meet();
      its.store(columns - 1);
      const int info = infos[matrix];
      if (its.inside && warp == 0 && its.row == 0) call.info[b] = info;
      if constexpr (kAlong) {
        for (int J = 1; J < columns; ++J) meet_as_workers_do();
        meet();
        if (info == 0)
          its.over_rows([&](int i) { element(B, i, 0) = conj_if(call.swapped, x[i]); });
      }
    }
  }
};

template <class T, class Shape, InterleavedTask kTask>
__global__ void __launch_bounds__(32 * (Shape::kWarps * Shape::kMatrices + Shape::kMovers),
                                  Shape::kBlocks) warp_factor_kernel(InterleavedCall<T> call) {
  using Block = WarpFactorBlock<T, Shape, kTask>;
  extern __shared__ __align__(16) unsigned char shared[];
  const Block block(shared, call.n);
  const int warp = __shfl_sync(kFullWarp, int(threadIdx.x) / 32, 0), lane = threadIdx.x % 32;
  const int matrix = warp / Shape::kWarps, own = warp % Shape::kWarps;
  if (warp >= Block::kWorkers)
    block.move(call, warp - Block::kWorkers, lane);
  else if constexpr (Block::kFactors)
    block.factor(matrix, own, lane);
  else
    block.solve(call, matrix, own, lane);
}

}  // namespace chol::cuda
