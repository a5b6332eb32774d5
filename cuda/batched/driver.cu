#include <algorithm>

#include "batched/driver.hpp"
#include "batched/multi_panel/interface.hpp"
#include "batched/register/interface.hpp"
#include "batched/slices.hpp"
#include "batched/solve/streaming/interface.hpp"
#include "common/precisions.hpp"

namespace chol::cuda {
namespace {

/// What a slice of a batch may take of the workspace.
constexpr int64_t kSliceBytes = int64_t(256) << 20;

}  // namespace

template <class T>
bool accepts(Routine routine, const Choice& row, int64_t max_n, bool variable) {
  if (routine == Routine::potrs) return solves_batches(row);
  if (routine == Routine::potri) return row.is(kBatchedInverse);
  if (routine == Routine::pocon) return row.is(kConditionEstimate);
  if (routine == Routine::logdet) return row.is(kLogDeterminant);
  const bool solves = routine == Routine::posv;
  if (row.is(kVbatchedRegisterPotrf))
    return !solves && variable && max_n <= VbatchedRegisterShape<T>::kOrder;
  if (row.is(kRegisterPotrf)) return small_limit<SmallTask::factor, T>(row.at(0)) >= max_n;
  if (row.is(kRegisterPosv))
    return solves && small_limit<SmallTask::factor_and_solve, T>(row.at(0)) >= max_n;
  if (row.is(kMultiPanelPotrf))
    return has_left_looking(kLetter<T>, row.at(0)) || has_wide<T>(false, row.at(0)) ||
           has_wide<T>(true, row.at(0));
  return (row.is(kLeftLookingPotrf) || (solves && row.is(kLeftLookingPosv))) &&
         has_left_looking(kLetter<T>, 32 * row.at(0));
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

/// Runs choices until one runs. @param[out] ran that one.
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
Status factor_batch(const BatchProblem<T>& problem, const Choice& row, ClusterPlan clusters,
                    FactorChoice& ran, cudaStream_t stream) {
  const Case asked = case_of(problem, Routine::potrf);
  Status status = Status::error(Status::kNotSupported, "potrf: no kernel for order %d",
                                static_cast<int>(problem.n));
  try_factor_choices<T>(asked, row, clusters, current_device_limits(),
                        run_first(problem, status, ran, stream));
  return status;
}

template <class T>
Status solve_batch(const BatchProblem<T>& problem, const SolveChoice& choice, cudaStream_t stream) {
  if (problem.n == 0 || problem.nrhs == 0) return Status::success();
  return batch_methods<T>.find(choice.method)->run(problem, choice.params, stream);
}

template <class T>
Status factor_and_solve_batch(const BatchProblem<T>& problem, const Choice& row,
                              ClusterPlan clusters, const SolveChoice& solution, FactorChoice& ran,
                              cudaStream_t stream) {
  const Case asked = case_of(problem, Routine::posv);
  Status status;
  if (try_posv_choices<T>(asked, row, current_device_limits(),
                          run_first(problem, status, ran, stream)))
    return status;
  status = factor_batch(problem, row, clusters, ran, stream);
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

#define CHOL_INSTANTIATE(T)                                                                     \
  template bool accepts<T>(Routine, const Choice&, int64_t, bool);                              \
  template struct BatchWorkspace<T>;                                                            \
  template Status factor_batch<T>(const BatchProblem<T>&, const Choice&, ClusterPlan,           \
                                  FactorChoice&, cudaStream_t);                                 \
  template Status solve_batch<T>(const BatchProblem<T>&, const SolveChoice&, cudaStream_t);     \
  template Status factor_and_solve_batch<T>(const BatchProblem<T>&, const Choice&, ClusterPlan, \
                                            const SolveChoice&, FactorChoice&, cudaStream_t);   \
  template Status invert_batch<T>(const BatchProblem<T>&, const BatchWorkspace<T>&, cudaStream_t);
CHOL_FOR_EACH_DEVICE_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda
