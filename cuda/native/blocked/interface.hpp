// Interface of the kernels for the leaves of the recursion over block columns.
#pragma once

#include "common/batch_view.cuh"
#include "common/launch.hpp"
#include "native/blocked/shapes.hpp"

namespace chol::cuda {

/// The diagonal block of each matrix that a launch factors, which has all updates by earlier
/// columns, and its results for the strips below.
template <class T>
struct PanelStep {
  int64_t offset = 0;     ///< first row and column of the diagonal block
  int block = 0;          ///< its order, unless the matrix ends before
  T* inverses = nullptr;  ///< inverted diagonal tiles, `tiles` of them a matrix; may be null
  int tiles = 0;
};

/// Factors a diagonal block of every matrix. @param threads of a block, or 0 for the first shape.
template <class T>
Status run_panel(const BatchProblem<T>& problem, const PanelStep<T>& step, int threads,
                 cudaStream_t stream);
/// The rows below the diagonal block of every matrix.
template <class T>
Status run_strips(const BatchProblem<T>& problem, const PanelStep<T>& step, cudaStream_t stream);
/// Order of a tile of blocked/diagonal_block.cuh, and columns of a block column.
template <class T>
inline constexpr int kTileOrder = sizeof(Real<T>) == 8 ? 8 : 16;
template <class T>
inline constexpr int kBlockColumns = BlockedShapes<T>::Strip::kColumns* kTileOrder<T>;
/// Whether run_panel has a kernel of that many threads (0: any).
template <class T>
bool has_panel(int threads) {
  return threads == 0 || has_threads(typename BlockedShapes<T>::Panel{}, threads);
}

}  // namespace chol::cuda
