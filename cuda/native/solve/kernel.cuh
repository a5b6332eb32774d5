// L L^H X = B with few right-hand sides by one kernel over all multiprocessors.
//
// A block works on one strip of unknowns at a time: it subtracts the products of the strip's tiles
// with the solutions of earlier strips, tile by tile as these are published, while the next tiles
// are being copied, and publishes its own solution. Besides memory bandwidth, the chain from strip
// to strip bounds a sweep. It is shortened with the diagonal tile's inverse X and the product P of
// X and the tile next to it, both computed in advance: x = X (b - sum) - P y, so that only the
// product with y, the solution of the previous strip, remains when that is published.
//
// With links of two strips the same holds for both together: X is the inverse of the diagonal block
// [L1 0; M L2], [X1 0; -X2 M X1 X2], P the product with all four tiles next to it. The second strip
// waits for the sum of the first, which is published a link before it is needed.
#pragma once

#include "native/solve/links.cuh"
#include "native/solve/sweep.cuh"

namespace chol::cuda::solve {

/// Any number of blocks; initially `begun` is -1 and the published solutions are marked as missing.
template <class T, bool swapped, int kColumns, int kLink>
__global__ void __launch_bounds__(Config<T>::kThreads, 1)
    solve_kernel(const __grid_constant__ Call<T> call) {
  if (call.info && *call.info != 0) return;
  extern __shared__ __align__(128) unsigned char memory[];
  Solver<T, swapped, kColumns, kLink>(call, memory, static_cast<int>(threadIdx.x)).run();
}

}  // namespace chol::cuda::solve
