// What the drivers call: kernels chosen by plan, one compile unit a family and precision.
#pragma once

#include <type_traits>

#include "batched/shapes.hpp"
#include "common/launch.hpp"
#include "common/view.cuh"

namespace chol::cuda {

/// Small orders, whole matrices in registers, stored by columns or, with kSwapped, by rows. A
/// factorization checks a variable batch's arguments itself where they are not. @param lanes a
/// matrix, or 0 for the first shape.
/// @return NOT_SUPPORTED when no shape fits.
template <SmallTask kTask, class T, bool kSwapped>
Status run_small_stored(const BatchProblem<T>& problem, int lanes, cudaStream_t stream);
template <SmallTask kTask, class T>
Status run_small(const BatchProblem<T>& problem, int lanes, cudaStream_t stream) {
  return problem.swapped ? run_small_stored<kTask, T, true>(problem, lanes, stream)
                         : run_small_stored<kTask, T, false>(problem, lanes, stream);
}

/// Factors a variable batch of orders up to Shapes<T>::DealtSmall::kOrder, and checks its arguments
/// itself where they are not.
template <class T, bool kSwapped>
Status run_dealt_small_stored(const BatchProblem<T>& problem, cudaStream_t stream);
template <class T>
Status run_dealt_small(const BatchProblem<T>& problem, cudaStream_t stream) {
  return problem.swapped ? run_dealt_small_stored<T, true>(problem, stream)
                         : run_dealt_small_stored<T, false>(problem, stream);
}
/// What left_looking.cuh works on along with a matrix: nothing, the one right-hand side that each
/// has at most, or the last row of each, all being of one order.
enum class Beside { nothing, solution, border };
/// Factors matrices of any order. NOT_SUPPORTED where no kernel has what is beside. @param threads
/// of a block, or 0 for the first shape. @param blocks a multiprocessor, where there are several
/// shapes of so many threads; 0 for the first.
template <Beside kBeside, class T, bool kSwapped>
Status run_left_looking_stored(const BatchProblem<T>& problem, int threads, int blocks,
                               cudaStream_t stream);
template <Beside kBeside, class T>
Status run_left_looking(const BatchProblem<T>& problem, int threads, int blocks,
                        cudaStream_t stream) {
  return problem.swapped
             ? run_left_looking_stored<kBeside, T, true>(problem, threads, blocks, stream)
             : run_left_looking_stored<kBeside, T, false>(problem, threads, blocks, stream);
}

/// Factors large matrices by wide block columns. @param threads of a block, of which has_wide().
template <class T, bool kSwapped>
Status run_wide_left_looking(const BatchProblem<T>& problem, int threads, cudaStream_t stream);
template <class T, bool kSwapped>
using WideShapes =
    std::conditional_t<kSwapped, typename Shapes<T>::RowWide, typename Shapes<T>::ColumnWide>;

/// Which diagonal block of each matrix a launch factors, all columns before it subtracted already,
/// and what it leaves for the strips below.
template <class T>
struct PanelStep {
  int64_t offset = 0;     ///< first row and column of the diagonal block
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

/// Solves by warps that have all rows of their right-hand sides, orders up to warp_solve_limit().
template <class T, bool kSwapped>
Status run_warp_solve_stored(const BatchProblem<T>& problem, cudaStream_t stream);
template <class T>
Status run_warp_solve(const BatchProblem<T>& problem, cudaStream_t stream) {
  return problem.swapped ? run_warp_solve_stored<T, true>(problem, stream)
                         : run_warp_solve_stored<T, false>(problem, stream);
}
/// Largest order that it takes on the current device, in either storage.
template <class T, bool kSwapped>
int warp_solve_limit_stored();
template <class T>
int warp_solve_limit() {
  return smaller(warp_solve_limit_stored<T, false>(), warp_solve_limit_stored<T, true>());
}

/// Solves with the triangle in shared memory, of matrices stored by columns or, with kSwapped, by
/// rows. @return NOT_SUPPORTED when no shape fits.
template <class T, bool kSwapped>
Status run_solve_stored(const BatchProblem<T>& problem, cudaStream_t stream);
template <class T>
Status run_solve(const BatchProblem<T>& problem, cudaStream_t stream) {
  return problem.swapped ? run_solve_stored<T, true>(problem, stream)
                         : run_solve_stored<T, false>(problem, stream);
}
/// Solves of any order. @param inverse the right-hand sides are the columns of the identity, of
/// whose solution only the lower triangle is wanted.
template <class T>
Status run_stream_solve(const BatchProblem<T>& problem, bool inverse, cudaStream_t stream);
/// Largest order that run_solve takes on the current device, the same in either storage.
template <class T, bool kSwapped>
int solve_limit_stored();
template <class T>
int solve_limit() {
  return solve_limit_stored<T, false>();
}

/// Order of a tile of panel.cuh, and columns of a block column.
template <class T>
inline constexpr int kTileOrder = sizeof(Real<T>) == 8 ? 8 : 16;
template <class T>
inline constexpr int kBlockColumns = Shapes<T>::Strip::kColumns* kTileOrder<T>;

/// Whether products of T are best done by double precision tensor cores here: what multiplies
/// single precision at more than twice their rate is not a device for computing in double.
template <class T>
bool multiplies_by_tensor() {
  return sizeof(Real<T>) == 8 || device_attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio) <= 2;
}

/// Whether the lines of a batch's matrices surely begin anywhere, not where 16 bytes do.
template <class T>
bool begins_anywhere(const BatchProblem<T>& problem) {
  return !problem.orders && !problem.A.lds && (problem.A.ld | problem.n) * sizeof(T) % 16 != 0;
}

/// Whether one of these shapes is of that many threads.
template <class... Shape>
constexpr bool has_threads(ShapeList<Shape...>, [[maybe_unused]] int threads) {
  return ((threads == 32 * Shape::kWarps) || ...);
}
/// Whether run_left_looking has a kernel of that many threads (0: any).
template <class T>
bool has_left_looking(int threads) {
  return threads == 0 || has_threads(typename Shapes<T>::ColumnLeftLooking{}, threads);
}
/// Whether run_wide_left_looking has a kernel of that many threads in that storage.
template <class T>
bool has_wide(bool swapped, int threads) {
  return swapped ? has_threads(WideShapes<T, true>{}, threads)
                 : has_threads(WideShapes<T, false>{}, threads);
}
/// Whether run_panel has a kernel of that many threads (0: any).
template <class T>
bool has_panel(int threads) {
  return threads == 0 || has_threads(typename Shapes<T>::Panel{}, threads);
}
/// The shapes of small.cuh for a task.
template <SmallTask kTask, class T>
struct SmallShapesOf {
  using Of = Shapes<T>;
  template <SmallTask kThis, class Its, class Others>
  using If = std::conditional_t<kTask == kThis, Its, Others>;
  using OfOne = If<SmallTask::solve_one, typename Of::GridSolve, typename Of::GridFactorAndSolve>;
  using OfMany = If<SmallTask::solve, typename Of::SmallSolve, typename Of::SmallFactorAndSolve>;
  using Type = If<SmallTask::factor, typename Of::SmallFactor,
                  std::conditional_t<kIsOfOne<kTask>, OfOne, OfMany>>;
};
template <SmallTask kTask, class T>
using SmallShapes = typename SmallShapesOf<kTask, T>::Type;
/// Largest order that run_small takes with that many lanes (0: any).
template <SmallTask kTask, class T>
int small_limit(int lanes) {
  return []<class... S>(ShapeList<S...>, int wanted) {
    int limit = 0;
    const auto consider = [&](int order, int its_lanes) {
      if ((wanted == 0 || wanted == its_lanes) && order > limit) limit = order;
    };
    (consider(S::kOrder, S::kLanes), ...);
    return limit;
  }(SmallShapes<kTask, T>{}, lanes);
}

}  // namespace chol::cuda
