// Launches of the kernels of a solve with one matrix, one compile unit a type and storage.
#pragma once

#include "common/launch.hpp"
#include "native/solve/call.hpp"

namespace chol::cuda::solve {

inline constexpr int kMostColumns = 16;  ///< of one launch
/// Right-hand sides that the kernel for so many works on.
template <class T>
constexpr int kernel_columns(int64_t nrhs, int link) {
  return kernel_columns(Shapes<T>{}, nrhs, link);
}

/// @param call of at most kMostColumns right-hand sides.
/// @param link strips a link; a kernel must be built for it.
template <class T, bool swapped>
Status run_strips(const Call<T>& call, int link, int multiprocessors, cudaStream_t stream);

/// Stores the inverses of the diagonal tiles within the blocks, with zeros above their diagonals
/// and one beyond n, and zeros in the tiles above them; and the sums.
template <class T, bool swapped>
Status invert_tiles(const Factor<T>& factor, const Inverses<T>& inverses, cudaStream_t stream);
/// Sets `substitutes` of the inverted blocks.
template <class T, bool swapped>
Status test_inverses(const Factor<T>& factor, const Inverses<T>& inverses, cudaStream_t stream);
/// Solves with one block.
template <class T, bool swapped>
Status solve_diagonal(const DiagonalCall<T>& call, bool forward, cudaStream_t stream);

}  // namespace chol::cuda::solve
