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

/// Stores the inverses of the diagonal tiles in `inverses`, lines of `pitch` elements: element (i,
/// i) of the block diagonal is at i * (pitch + 1). Zeros above the diagonals, one beyond n.
template <class T, bool swapped>
Status invert_tiles(const Factor<T>& factor, T* inverses, int64_t pitch, cudaStream_t stream);

}  // namespace chol::cuda::solve
