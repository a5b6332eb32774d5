// Launches the kernels of a solve with one matrix.
#pragma once

#include "native/solve/diagonal_kernels.cuh"
#include "native/solve/kernel.cuh"
#include "native/solve/launch.hpp"

namespace chol::cuda::solve {

/// The first block of a strip inverts its tile; the others prepare the rest of their rows.
template <class T, bool swapped>
__global__ void __launch_bounds__(Config<T>::kThreads)
    invert_tiles_kernel(Factor<T> factor, Inverses<T> inverses) {
  extern __shared__ __align__(128) unsigned char memory[];
  const DiagonalStrip<T, swapped> strip{factor, inverses, static_cast<int>(blockIdx.x),
                                        static_cast<int>(blockIdx.y) - 1,
                                        static_cast<int>(threadIdx.x)};
  if (blockIdx.y == 0)
    strip.invert(reinterpret_cast<T*>(memory));
  else
    strip.prepare(reinterpret_cast<Real<T>*>(memory));
}
template <class T, bool swapped>
__global__ void __launch_bounds__(Config<T>::kThreads)
    test_inverses_kernel(Factor<T> factor, Inverses<T> inverses) {
  extern __shared__ __align__(128) unsigned char memory[];
  DiagonalStrip<T, swapped>{factor, inverses, static_cast<int>(blockIdx.x),
                            static_cast<int>(blockIdx.y), static_cast<int>(threadIdx.x)}
      .test(reinterpret_cast<Real<T>*>(memory));
}
template <class T, bool swapped, bool kForward>
__global__ void __launch_bounds__(Config<T>::kThreads, 2)
    solve_diagonal_kernel(const __grid_constant__ DiagonalCall<T> call) {
  extern __shared__ __align__(128) unsigned char memory[];
  const DiagonalSolve<T, swapped, kForward> solve(call, blockIdx.x, static_cast<int>(threadIdx.x));
  const bool copied = solve.copy(static_cast<int>(blockIdx.y), static_cast<int>(gridDim.y));
  if (!copied && blockIdx.y == 0) solve.substitute(reinterpret_cast<T*>(memory));
}

template <class T, bool swapped, int kColumns, int kLink>
Status run_columns(const Call<T>& call, int multiprocessors, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(smaller(call.order().count(), multiprocessors));
  return launch("one matrix, solve", solve_kernel<T, swapped, kColumns, kLink>, dim3(blocks),
                Config<T>::kThreads, Columns<T, kColumns, kLink>::kSharedBytes, stream, call);
}

template <class T, bool swapped>
Status run_strips(const Call<T>& call, int link, int multiprocessors, cudaStream_t stream) {
  static_assert(kernel_columns<T>(kMostColumns, 1) == kMostColumns);
  const int columns = kernel_columns<T>(call.nrhs, link);
  Status status;
  [&]<class... Built>(ShapeList<Built...>) {
    ((columns == Built::kColumns && link == Built::kLink &&
      (status =
           run_columns<T, swapped, Built::kColumns, Built::kLink>(call, multiprocessors, stream),
       true)) ||
     ...);
  }(Shapes<T>{});
  return status;
}

template <class T>
unsigned strips_of(const Factor<T>& factor) {
  return static_cast<unsigned>((factor.n + Config<T>::kOrder - 1) / Config<T>::kOrder);
}

template <class T, bool swapped>
Status invert_tiles(const Factor<T>& factor, const Inverses<T>& inverses, cudaStream_t stream) {
  return launch("one matrix, inverses", invert_tiles_kernel<T, swapped>,
                dim3(strips_of(factor), 1 + DiagonalStrip<T, swapped>::kParts), Config<T>::kThreads,
                DiagonalStrip<T, swapped>::kSharedBytes, stream, factor, inverses);
}

template <class T, bool swapped>
Status test_inverses(const Factor<T>& factor, const Inverses<T>& inverses, cudaStream_t stream) {
  return launch("one matrix, test of inverses", test_inverses_kernel<T, swapped>,
                dim3(strips_of(factor), DiagonalStrip<T, swapped>::kParts), Config<T>::kThreads,
                Config<T>::kThreads * sizeof(Real<T>), stream, factor, inverses);
}

template <class T, bool swapped>
Status solve_diagonal(const DiagonalCall<T>& call, bool forward, cudaStream_t stream) {
  using Solve = DiagonalSolve<T, swapped, true>;
  constexpr unsigned kParts = 2;
  const auto groups = static_cast<unsigned>((call.nrhs + Solve::kColumns - 1) / Solve::kColumns);
  return launch(
      "one matrix, diagonal block",
      forward ? solve_diagonal_kernel<T, swapped, true> : solve_diagonal_kernel<T, swapped, false>,
      dim3(groups, kParts), Config<T>::kThreads, Solve::kSharedBytes, stream, call);
}

}  // namespace chol::cuda::solve

#define CHOL_INSTANTIATE_ONE_SOLVE(swapped, T)                                                   \
  template chol::Status chol::cuda::solve::run_strips<T, swapped>(                               \
      const chol::cuda::solve::Call<T>&, int, int, cudaStream_t);                                \
  template chol::Status chol::cuda::solve::invert_tiles<T, swapped>(                             \
      const chol::cuda::solve::Factor<T>&, const chol::cuda::solve::Inverses<T>&, cudaStream_t); \
  template chol::Status chol::cuda::solve::test_inverses<T, swapped>(                            \
      const chol::cuda::solve::Factor<T>&, const chol::cuda::solve::Inverses<T>&, cudaStream_t); \
  template chol::Status chol::cuda::solve::solve_diagonal<T, swapped>(                           \
      const chol::cuda::solve::DiagonalCall<T>&, bool, cudaStream_t);
