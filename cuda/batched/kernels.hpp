// What the drivers call: kernels chosen by plan, one compile unit a family and precision.
#pragma once

#include "batched/shapes.hpp"
#include "common/launch.hpp"
#include "common/view.cuh"

namespace chol::cuda {

enum class SmallTask { factor, solve, factor_and_solve };

/// Orders up to 32, whole matrices in registers. @param lanes a matrix, or 0 for the first shape.
/// @return NOT_SUPPORTED when no shape fits.
template <SmallTask kTask, class T>
Status run_small(const BatchProblem<T>& problem, int lanes, cudaStream_t stream);

/// Which diagonal block of each matrix a launch factors, and what it leaves for the strips below.
template <class T>
struct PanelStep {
  int64_t offset = 0;     ///< first row and column of the diagonal block
  int64_t updated = 0;    ///< columns before this one have been subtracted already
  int block = 0;          ///< its order, where the matrix does not end before
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

/// Solves with the triangle in shared memory.
template <class T>
Status run_solve(const BatchProblem<T>& problem, cudaStream_t stream);
/// Solves of any order. @param inverse the right-hand sides are the columns of the identity, of
/// whose solution only the lower triangle is wanted.
template <class T>
Status run_stream_solve(const BatchProblem<T>& problem, bool inverse, cudaStream_t stream);
/// Largest order that run_solve takes.
template <class T>
int solve_limit();

/// Order of a tile of panel.cuh, and columns of a block column.
template <class T>
inline constexpr int kTileOrder = sizeof(Real<T>) == 8 ? 8 : 16;
template <class T>
inline constexpr int kBlockColumns = Shapes<T>::Strip::kColumns* kTileOrder<T>;

/// Largest order that one panel launch holds in registers with that many threads (0: any).
template <class T>
int panel_limit(int threads) {
  return []<class... S>(ShapeList<S...>, int wanted) {
    int limit = 0;
    const auto consider = [&](int warps, int tiles) {
      if (wanted != 0 && wanted != 32 * warps) return;
      int rows = 1;  // the tiles below the diagonal decide
      while (rows * (rows + 1) / 2 <= warps * tiles) ++rows;
      if (rows * kTileOrder < T >> limit) limit = rows * kTileOrder<T>;
    };
    (consider(S::kWarps, S::kTiles), ...);
    return limit;
  }(typename Shapes<T>::Panel{}, threads);
}
/// Largest order that run_small takes with that many lanes (0: any).
template <class T>
int small_limit(int lanes) {
  return []<class... S>(ShapeList<S...>, int wanted) {
    int limit = 0;
    ((limit = (wanted == 0 || wanted == S::kLanes) && S::kOrder > limit ? S::kOrder : limit), ...);
    return limit;
  }(typename Shapes<T>::Small{}, lanes);
}

}  // namespace chol::cuda
