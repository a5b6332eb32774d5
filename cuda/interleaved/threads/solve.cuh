// Solves whose triangle is too large for the registers of one thread: its last columns are held in
// registers, the others in shared memory, so that each element is read from device memory once for
// both substitutions. A warp has kMatrices interleaved matrices; every kThreads-th row of a matrix
// belongs to one thread. Several threads a matrix allow more warps, of which some compute while
// others read. One warp a block, one instance an order, unrolled.
#pragma once

#include "interleaved/threads/row_cyclic.cuh"

namespace chol::cuda {

/// Blocks a multiprocessor for the register bound: without it the compiler uses fewer registers
/// than available, and spills.
inline constexpr int kHeldBlocks = 8;

template <class T, int N, int kThreads, int kHeld>
__global__ void __launch_bounds__(kWarpThreads, kHeldBlocks)
    threads_solve_kernel(InterleavedCall<T> call) {
  using E = Lane<T>;
  using Rows = RowsOfThread<E, N, kThreads, kHeld>;
  extern __shared__ __align__(16) char shared_bytes[];
  const int64_t wanted = int64_t(blockIdx.x) * Rows::kMatrices + threadIdx.x % Rows::kMatrices;
  // Threads beyond the batch participate in warp-wide operations.
  const int64_t b = wanted < call.batch ? wanted : call.batch - 1;
  const bool stores = wanted < call.batch && !call.failed(b);
  const LaneMatrix<E> A = call.triangle(b), B = call.right_hand_sides(b);
  Rows L(shared_bytes, int(threadIdx.x), call.n);
  L.fetch(A);
  for (int64_t c = 0; c < call.nrhs; ++c) {
    L.read(B, c, call.swapped);
    L.forward(c == 0);
    // Forces values in shared memory to be read again: kept in registers, they would cause spills.
    asm volatile("" ::: "memory");
    L.backward();
    L.write(B, c, call.swapped, stores);
  }
}

#ifndef __CUDACC_RTC__
template <class T, int N, int kThreads, int kHeld>
struct HeldSolve {
  static constexpr auto kKernel = threads_solve_kernel<T, N, kThreads, kHeld>;
};

template <int kPart, class T>
Status run_threads_solve(const InterleavedCall<T>& call, cudaStream_t stream) {
  return run_held<InterleavedTask::solve, kPart, HeldSolve>(call, stream);
}
#endif

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_INTERLEAVED_THREADS_SOLVE(part, T)                               \
  template chol::Status chol::cuda::run_threads_solve<part, T>(const InterleavedCall<T>&, \
                                                               cudaStream_t);
