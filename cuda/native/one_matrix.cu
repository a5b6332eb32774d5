#include <algorithm>

#include "batched/auxiliary.hpp"
#include "batched/kernels.hpp"
#include "common/precisions.hpp"
#include "native/one_matrix.hpp"

namespace chol::cuda {
namespace {

template <class T>
struct Factorization {
  const BatchProblem<T>& problem;
  int threads;
  const OneMatrixWorkspace<T>& work;
  Blas& blas;
  cudaStream_t stream;
  ColumnWatch* watch;

  T* at(int64_t i, int64_t j) const {
    const int64_t ld = problem.A.ld;
    return problem.A.first + (problem.swapped ? i * ld + j : j * ld + i);
  }

  /// Columns [first, first + width), updated already, over all rows from `first` down.
  Status block_column(int64_t first, int64_t width) const {
    constexpr int64_t kBlock = kBlockColumns<T>;
    if (width <= kBlock) return leaf(first);
    const int64_t half = (width / 2 + kBlock - 1) / kBlock * kBlock;
    const int64_t middle = first + half, rest = width - half, below = problem.n - first - width;
    Status status = block_column(first, half);
    if (status.ok() && watch) status = watch->need(first + width);
    if (status.ok())
      status = blas.subtract_square(problem.swapped, rest, half, at(middle, first),
                                    at(middle, middle), problem.A.ld);
    if (status.ok() && below > 0)
      status = blas.subtract_product(problem.swapped, below, rest, half, at(first + width, first),
                                     at(middle, first), at(first + width, middle), problem.A.ld);
    return status.ok() ? block_column(middle, rest) : status;
  }

  Status leaf(int64_t first) const {
    constexpr int kBlock = kBlockColumns<T>;
    const PanelStep<T> step{first, kBlock, work.inverses, kBlock / kTileOrder<T>};
    const int64_t end = std::min<int64_t>(first + kBlock, problem.n);
    Status status;
    if (watch) status = watch->need(end);
    if (status.ok()) status = run_panel(problem, step, threads, stream);
    if (status.ok() && end < problem.n) status = run_strips(problem, step, stream);
    return status.ok() && watch ? watch->finished(end) : status;
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
OneMatrixWorkspace<T> OneMatrixWorkspace<T>::carve(Arena& arena, int64_t n,
                                                   int64_t copied_columns) {
  OneMatrixWorkspace work;
  work.inverses = arena.take<T>(kBlockColumns<T> * kTileOrder<T>);
  if (copied_columns > 0) work.copy = arena.take<T>(n * copied_columns);
  return work;
}

template <class T>
Status factor_one(const BatchProblem<T>& problem, int threads, const OneMatrixWorkspace<T>& work,
                  Blas& blas, cudaStream_t stream, ColumnWatch* watch) {
  const Status status = blas.use(stream);
  if (!status.ok()) return status;
  return Factorization<T>{problem, threads, work, blas, stream, watch}.block_column(0, problem.n);
}

template <class T>
Status solve_one(const BatchProblem<T>& problem, Blas& blas, cudaStream_t stream) {
  if (problem.n == 0 || problem.nrhs == 0) return Status::success();
  const Status status = blas.use(stream);
  return status.ok() ? solve_stored(problem, blas) : status;
}

template <class T>
Status factor_and_solve_one(const BatchProblem<T>& problem, int threads,
                            const OneMatrixWorkspace<T>& work, Blas& blas, cudaStream_t stream) {
  Status status = factor_one(problem, threads, work, blas, stream);
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
  problem.B = {work.copy, 0, nullptr, std::max<int64_t>(problem.n, 1), nullptr};
  problem.nrhs = problem.n;
  Status status = blas.use(stream);
  if (status.ok()) status = find_singular(problem, stream);
  if (!status.ok() || problem.n == 0) return status;
  status = set_identity(problem, stream);
  if (status.ok()) status = solve_stored(problem, blas);
  return status.ok() ? copy_inverse(problem, stream) : status;
}

#define CHOL_INSTANTIATE(T)                                                                       \
  template struct OneMatrixWorkspace<T>;                                                          \
  template Status factor_one<T>(const BatchProblem<T>&, int, const OneMatrixWorkspace<T>&, Blas&, \
                                cudaStream_t, ColumnWatch*);                                      \
  template Status solve_one<T>(const BatchProblem<T>&, Blas&, cudaStream_t);                      \
  template Status factor_and_solve_one<T>(const BatchProblem<T>&, int,                            \
                                          const OneMatrixWorkspace<T>&, Blas&, cudaStream_t);     \
  template Status invert_one<T>(BatchProblem<T>, const OneMatrixWorkspace<T>&, Blas&, cudaStream_t);
CHOL_FOR_EACH_DEVICE_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda
