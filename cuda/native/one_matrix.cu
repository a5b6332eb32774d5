#include <algorithm>

#include "batched/inverse_and_logdet.hpp"
#include "batched/solve/streaming/interface.hpp"
#include "common/precisions.hpp"
#include "native/one_matrix.hpp"

namespace chol::cuda {
namespace {

template <class T>
bool solves_by_strips(const Choice& choice) {
  return choice.is(kOneSolve) && solve::can_run<T>();
}

/// Whether the solve kernels read info, so that posv needs no copy of B.
template <class T>
bool reads_info(const Choice& solution, int64_t nrhs) {
  return !solves_one(solution) ||
         (solves_by_strips<T>(solution) && nrhs <= solve::Params::of(solution).few);
}

/// A X = B with the factor as stored, by cuBLAS.
template <class T>
Status solve_stored(const BatchProblem<T>& problem, Blas& blas, cudaStream_t stream) {
  const cublasFillMode_t triangle =
      problem.swapped ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  const auto sweep = [&](bool adjoint) {
    return blas.solve(triangle, adjoint, problem.n, problem.nrhs,
                      static_cast<const T*>(problem.A.first), problem.A.ld, problem.B.first,
                      problem.B.ld);
  };
  Status status = blas.use(stream);
  if (status.ok()) status = sweep(problem.swapped);
  return status.ok() ? sweep(!problem.swapped) : status;
}

/// Panels with products by residues; if the rows of a panel exceed their bound, the rest of the
/// matrix is factored natively, so that info is exact.
template <class T>
Status factor_with_residues(const BatchProblem<T>& problem, const Choice& choice,
                            const OneMatrixWorkspace<T>& work, Blas& blas, cudaStream_t stream) {
  int64_t factored = 0;
  Status status =
      residues::factor_certified(problem, work.residues, blas, *work.progress, stream, &factored);
  if (!status.ok() || factored == problem.n) return status;
  const int64_t ld = problem.A.ld;
  T* const below = problem.A.first + factored * (problem.swapped ? ld : 1);
  BatchProblem<T> rest = problem;
  rest.A.first = problem.A.first + factored * (ld + 1);
  rest.n = problem.n - factored;
  rest.info = work.residues.info_of_rest;
  status = blas.subtract_square(problem.swapped, rest.n, factored, below, ld, rest.A.first, ld);
  if (status.ok())
    status = native::method_of<T>(*choice.method)
                 .run(rest, native::Params::of(choice), {work.factor, blas, stream, nullptr});
  return status.ok() ? residues::add_info_of_rest(problem.info, rest.info, factored, stream)
                     : status;
}

}  // namespace

template <class T>
OneMatrixWorkspace<T> OneMatrixWorkspace<T>::carve(Arena& arena, Routine routine,
                                                   const Choice& choice, const Choice& solution,
                                                   int64_t n, int64_t nrhs) {
  const bool factors = routine == Routine::potrf || routine == Routine::posv;
  OneMatrixWorkspace work;
  if (factors)
    work.factor = native::method_of<T>(*choice.method).carve(arena, n, native::Params::of(choice));
  if (routine == Routine::posv && nrhs > 0 && !reads_info<T>(solution, nrhs))
    work.copy = arena.take<T>(n * nrhs);
  const Choice& of_solve = routine == Routine::posv ? solution : choice;
  const bool solves = routine == Routine::posv || routine == Routine::potrs;
  if (solves && nrhs > 0 && of_solve.is(kOneSolve))
    work.solve = solve::Workspace<T>::carve(arena, solve::Params::of(of_solve), n, nrhs);
  if (routine == Routine::potri) work.inversion = InversionWorkspace<T>::carve(arena, n);
  return work;
}

template <class T>
Status factor_one(const BatchProblem<T>& problem, const Choice& choice,
                  const OneMatrixWorkspace<T>& work, Blas& blas, cudaStream_t stream,
                  ColumnWatch* watch) {
  if (work.progress) return factor_with_residues(problem, choice, work, blas, stream);
  return native::method_of<T>(*choice.method)
      .run(problem, native::Params::of(choice), {work.factor, blas, stream, watch});
}

template <class T>
Status solve_one(const BatchProblem<T>& problem, const Choice& choice,
                 const OneMatrixWorkspace<T>& work, Blas& blas, cudaStream_t stream) {
  if (problem.n == 0 || problem.nrhs == 0) return Status::success();
  if (!solves_by_strips<T>(choice)) return solve_stored(problem, blas, stream);
  return solve::run(problem, solve::Params::of(choice), nullptr, work.solve, blas, stream);
}

template <class T>
Status factor_and_solve_one(const BatchProblem<T>& problem, const Choice& choice,
                            const Choice& solution, const OneMatrixWorkspace<T>& work, Blas& blas,
                            cudaStream_t stream) {
  Status status = factor_one(problem, choice, work, blas, stream);
  if (!status.ok() || problem.n == 0 || problem.nrhs == 0) return status;
  if (reads_info<T>(solution, problem.nrhs))
    return solve::run(problem, solve::Params::of(solution), problem.info, work.solve, blas, stream);
  BatchProblem<T> copy = problem;
  copy.B = {work.copy, 0, nullptr, problem.n, nullptr};
  status = status_of(
      cudaMemcpy2DAsync(work.copy, sizeof(T) * problem.n, problem.B.first, sizeof(T) * problem.B.ld,
                        sizeof(T) * problem.n, problem.nrhs, cudaMemcpyDeviceToDevice, stream),
      "copy of B");
  if (status.ok()) status = solve_one(copy, solution, work, blas, stream);
  return status.ok() ? copy_solution(problem, copy.B, stream) : status;
}

template <class T>
Status invert_one(BatchProblem<T> problem, const OneMatrixWorkspace<T>& work, Blas& blas,
                  cudaStream_t stream) {
  const Status status = blas.use(stream);
  return status.ok() ? invert_in_place(problem, work.inversion, blas, stream) : status;
}

#define CHOL_INSTANTIATE(T)                                                                       \
  template struct OneMatrixWorkspace<T>;                                                          \
  template Status factor_one<T>(const BatchProblem<T>&, const Choice&,                            \
                                const OneMatrixWorkspace<T>&, Blas&, cudaStream_t, ColumnWatch*); \
  template Status solve_one<T>(const BatchProblem<T>&, const Choice&,                             \
                               const OneMatrixWorkspace<T>&, Blas&, cudaStream_t);                \
  template Status factor_and_solve_one<T>(const BatchProblem<T>&, const Choice&, const Choice&,   \
                                          const OneMatrixWorkspace<T>&, Blas&, cudaStream_t);     \
  template Status invert_one<T>(BatchProblem<T>, const OneMatrixWorkspace<T>&, Blas&, cudaStream_t);
CHOL_FOR_EACH_DEVICE_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda
