#include <algorithm>
#include <utility>

#include "batched/driver.hpp"
#include "batched/slices.hpp"
#include "batched/solve/streaming/interface.hpp"
#include "common/precisions.hpp"

namespace chol::cuda {
namespace {

/// Workspace limit of a slice of a batch.
constexpr int64_t kSliceBytes = int64_t(256) << 20;

/// Routines with one method only.
constexpr std::pair<Routine, const MethodInfo*> kOnlyMethods[] = {
    {Routine::potri, &kBatchedInverse},
    {Routine::pocon, &kConditionEstimate},
    {Routine::logdet, &kLogDeterminant}};

}  // namespace

template <class T>
bool accepts(const Row& row) {
  for (const auto& [routine, method] : kOnlyMethods)
    if (row.routine == routine) return row.choice.is(*method);
  const BatchMethod<T>* const method = batch_methods<T>.find(row.choice.method->name);
  return method && method->accepts_row && method->accepts_row(row);
}

template <class T>
BatchWorkspace<T> BatchWorkspace<T>::carve(Arena& arena, Routine routine, int64_t n,
                                           int64_t count) {
  BatchWorkspace work;
  work.slice = std::min(count, kMostSlice);
  const auto take = [&](T** where, int64_t elements) {
    const int64_t fits = kSliceBytes / (elements * int64_t(sizeof(T)));
    work.slice = std::min(work.slice, std::max<int64_t>(fits, 1));
    *where = arena.take<T>(elements * work.slice);
  };
  if (routine == Routine::potri) {
    take(&work.inverse, std::max<int64_t>(n * n, 1));
  }
  return work;
}

/// Tries choices until one runs. @param[out] ran that choice.
template <class T>
auto run_first(const BatchProblem<T>& problem, Status& status, FactorChoice& ran,
               cudaStream_t stream) {
  return [&problem, &status, &ran, stream](const FactorChoice& choice) {
    status = batch_methods<T>.find(choice.method)->run(problem, choice.params, stream);
    if (status.code() == Status::kNotSupported) return false;
    ran = choice;
    return true;
  };
}

template <class T>
Status factor_batch(const BatchProblem<T>& problem, const Choice& row, const DeviceLimits& device,
                    FactorChoice& ran, cudaStream_t stream) {
  const Case asked = case_of(problem, Routine::potrf);
  Status status;
  if (try_factor_choices<T>(asked, row, device, run_first(problem, status, ran, stream)) ||
      !status.ok())
    return status;
  return Status::error(Status::kNotSupported, "potrf: no kernel for order %d",
                       static_cast<int>(problem.n));
}

template <class T>
Status solve_batch(const BatchProblem<T>& problem, const SolveChoice& choice, cudaStream_t stream) {
  if (problem.n == 0 || problem.nrhs == 0) return Status::success();
  return batch_methods<T>.find(choice.method)->run(problem, choice.params, stream);
}

template <class T>
Status factor_and_solve_batch(const BatchProblem<T>& problem, const Choice& row,
                              const SolveChoice& solution, const DeviceLimits& device,
                              FactorChoice& ran, cudaStream_t stream) {
  const Case asked = case_of(problem, Routine::posv);
  Status status;
  if (try_posv_choices<T>(asked, row, device, run_first(problem, status, ran, stream)))
    return status;
  status = factor_batch(problem, row, device, ran, stream);
  if (!status.ok()) return status;
  BatchProblem<T> factored = problem;
  factored.sequence = nullptr;
  return solve_batch(factored, solution, stream);
}

template <class T>
Status invert_batch(const BatchProblem<T>& problem, const BatchWorkspace<T>& work,
                    cudaStream_t stream) {
  return for_slices(problem, work.slice, [&](BatchProblem<T> slice) {
    const int64_t n = problem.n;
    slice.B = {work.inverse, n * n, nullptr, std::max<int64_t>(n, 1), nullptr};
    slice.nrhs = n;
    slice.rhs_counts = slice.orders;
    Status status = find_singular(slice, stream);
    if (!status.ok() || n == 0) return status;
    status = set_identity(slice, stream);
    if (status.ok()) status = run_stream_solve(slice, true, stream);
    if (status.ok()) status = copy_inverse(slice, stream);
    return status;
  });
}

#define CHOL_INSTANTIATE(T)                                                                   \
  template bool accepts<T>(const Row&);                                                       \
  template struct BatchWorkspace<T>;                                                          \
  template Status factor_batch<T>(const BatchProblem<T>&, const Choice&, const DeviceLimits&, \
                                  FactorChoice&, cudaStream_t);                               \
  template Status solve_batch<T>(const BatchProblem<T>&, const SolveChoice&, cudaStream_t);   \
  template Status factor_and_solve_batch<T>(const BatchProblem<T>&, const Choice&,            \
                                            const SolveChoice&, const DeviceLimits&,          \
                                            FactorChoice&, cudaStream_t);                     \
  template Status invert_batch<T>(const BatchProblem<T>&, const BatchWorkspace<T>&, cudaStream_t);
CHOL_FOR_EACH_DEVICE_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda
