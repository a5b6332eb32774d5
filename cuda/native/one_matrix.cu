#include <algorithm>

#include "batched/auxiliary.hpp"
#include "batched/kernels.hpp"
#include "common/precisions.hpp"
#include "native/one_matrix.hpp"

namespace chol::cuda {
namespace {

/// Order from which on a square is updated by halves, since products run faster than the update of
/// a triangle.
constexpr int64_t kWholeSquare = 1024;

template <class T>
struct Factorization {
  const BatchProblem<T>& problem;
  const native::Params& params;
  bool by_persistent;  ///< the leaves
  const OneMatrixWorkspace<T>& work;
  Blas& blas;
  cudaStream_t stream;
  ColumnWatch* watch;

  T* at(int64_t i, int64_t j) const {
    const int64_t ld = problem.A.ld;
    return problem.A.first + (problem.swapped ? i * ld + j : j * ld + i);
  }
  int64_t leaf_columns() const {
    if (!by_persistent) return kBlockColumns<T>;
    return params.panel > 0 ? params.panel : problem.n;
  }

  /// Columns [first, first + width), updated already, over all rows from `first` down.
  Status block_column(int64_t first, int64_t width) const {
    const int64_t leaf_width = leaf_columns();
    if (width <= leaf_width) return leaf(first, width);
    const int64_t half = (width / 2 + leaf_width - 1) / leaf_width * leaf_width;
    const int64_t middle = first + half, rest = width - half;
    Status status = block_column(first, half);
    if (status.ok() && watch) status = watch->need(first + width);
    if (status.ok()) status = update(first, half, middle, rest, problem.n);
    return status.ok() ? block_column(middle, rest) : status;
  }

  /// Subtracts the products with columns [first, first + depth) from columns [column, column +
  /// width), from the diagonal down to row `end`.
  Status update(int64_t first, int64_t depth, int64_t column, int64_t width, int64_t end) const {
    const bool in_halves = by_persistent && width > kWholeSquare;
    const int64_t part = in_halves ? (width / 2 + 63) / 64 * 64 : width, next = column + part;
    Status status = in_halves
                        ? update(first, depth, column, part, next)
                        : blas.subtract_square(problem.swapped, width, depth, at(column, first),
                                               at(column, column), problem.A.ld);
    if (status.ok() && next < end)
      status = blas.subtract_product(problem.swapped, end - next, part, depth, at(next, first),
                                     at(column, first), at(next, column), problem.A.ld);
    return status.ok() && in_halves ? update(first, depth, next, width - part, end) : status;
  }

  Status leaf(int64_t first, int64_t width) const {
    const int64_t end = std::min<int64_t>(first + width, problem.n);
    Status status;
    if (watch) status = watch->need(end);
    if (status.ok())
      status = by_persistent ? persistent::factor_columns(problem, first, width, params.groups,
                                                          work.persistent, stream)
                             : panel(first, end);
    return status.ok() && watch ? watch->finished(end) : status;
  }
  Status panel(int64_t first, int64_t end) const {
    constexpr int kBlock = kBlockColumns<T>;
    const PanelStep<T> step{first, kBlock, work.inverses, kBlock / kTileOrder<T>};
    const Status status = run_panel(problem, step, params.leaf_threads, stream);
    return status.ok() && end < problem.n ? run_strips(problem, step, stream) : status;
  }
};

/// A X = B with the factor as stored.
template <class T>
Status solve_stored(const BatchProblem<T>& problem, Blas& blas) {
  const cublasFillMode_t triangle =
      problem.swapped ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  const auto sweep = [&](bool adjoint) {
    return blas.solve(triangle, adjoint, problem.n, problem.nrhs,
                      static_cast<const T*>(problem.A.first), problem.A.ld, problem.B.first,
                      problem.B.ld);
  };
  Status status = sweep(problem.swapped);
  return status.ok() ? sweep(!problem.swapped) : status;
}

}  // namespace

template <class T>
OneMatrixWorkspace<T> OneMatrixWorkspace<T>::carve(Arena& arena, const Plan& plan, int64_t n,
                                                   int64_t copied_columns) {
  OneMatrixWorkspace work;
  if (plan.method == Method::persistent) {
    const int64_t panel = native::Params::of(plan).panel;
    work.persistent = persistent::Workspace<T>::carve(arena, n, panel > 0 ? std::min(panel, n) : n);
  }
  work.inverses = arena.take<T>(kBlockColumns<T> * kTileOrder<T>);
  if (copied_columns > 0) work.copy = arena.take<T>(n * copied_columns);
  return work;
}

template <class T>
bool accepts_persistent(const Plan& plan) {
  const native::Params params = native::Params::of(plan);
  return native::kPanel.takes(params.panel) && native::kGroups.takes(params.groups) &&
         has_panel<T>(params.leaf_threads) && persistent::can_run<T>();
}

template <class T>
Status factor_one(const BatchProblem<T>& problem, const Plan& plan,
                  const OneMatrixWorkspace<T>& work, Blas& blas, cudaStream_t stream,
                  ColumnWatch* watch) {
  const bool by_persistent =
      plan.method == Method::persistent && problem.n > 0 && persistent::can_run<T>();
  const native::Params params = native::Params::of(plan);
  const Factorization<T> factorization{problem, params, by_persistent, work, blas, stream, watch};
  if (problem.n > factorization.leaf_columns())
    if (const Status status = blas.use(stream); !status.ok()) return status;
  return factorization.block_column(0, problem.n);
}

template <class T>
Status solve_one(const BatchProblem<T>& problem, Blas& blas, cudaStream_t stream) {
  if (problem.n == 0 || problem.nrhs == 0) return Status::success();
  const Status status = blas.use(stream);
  return status.ok() ? solve_stored(problem, blas) : status;
}

template <class T>
Status factor_and_solve_one(const BatchProblem<T>& problem, const Plan& plan,
                            const OneMatrixWorkspace<T>& work, Blas& blas, cudaStream_t stream) {
  Status status = factor_one(problem, plan, work, blas, stream);
  if (status.ok()) status = blas.use(stream);
  if (!status.ok() || problem.n == 0 || problem.nrhs == 0) return status;
  BatchProblem<T> copy = problem;
  copy.B = {work.copy, 0, nullptr, problem.n, nullptr};
  status = status_of(
      cudaMemcpy2DAsync(work.copy, sizeof(T) * problem.n, problem.B.first, sizeof(T) * problem.B.ld,
                        sizeof(T) * problem.n, problem.nrhs, cudaMemcpyDeviceToDevice, stream),
      "copy of B");
  if (status.ok()) status = solve_stored(copy, blas);
  return status.ok() ? copy_solution(problem, copy.B, stream) : status;
}

template <class T>
Status invert_one(BatchProblem<T> problem, const OneMatrixWorkspace<T>& work, Blas& blas,
                  cudaStream_t stream) {
  const Status status = blas.use(stream);
  return status.ok() ? invert_in_place(problem, work.inversion, blas.handle(), stream) : status;
}

#define CHOL_INSTANTIATE(T)                                                                        \
  template struct OneMatrixWorkspace<T>;                                                           \
  template bool accepts_persistent<T>(const Plan&);                                                \
  template Status factor_one<T>(const BatchProblem<T>&, const Plan&, const OneMatrixWorkspace<T>&, \
                                Blas&, cudaStream_t, ColumnWatch*);                                \
  template Status solve_one<T>(const BatchProblem<T>&, Blas&, cudaStream_t);                       \
  template Status factor_and_solve_one<T>(const BatchProblem<T>&, const Plan&,                     \
                                          const OneMatrixWorkspace<T>&, Blas&, cudaStream_t);      \
  template Status invert_one<T>(BatchProblem<T>, const OneMatrixWorkspace<T>&, Blas&, cudaStream_t);
CHOL_FOR_EACH_DEVICE_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda
