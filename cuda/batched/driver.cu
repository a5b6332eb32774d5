#include <algorithm>

#include "batched/driver.hpp"
#include "batched/multi_panel/interface.hpp"
#include "batched/register/interface.hpp"
#include "batched/slices.hpp"
#include "batched/solve/left_looking_mma/interface.hpp"
#include "batched/solve/streaming/interface.hpp"
#include "batched/solve/tile/interface.hpp"
#include "batched/solve/warp/interface.hpp"
#include "common/precisions.hpp"
#include "native/blocked/interface.hpp"

namespace chol::cuda {
namespace {

/// What a slice of a batch may take of the workspace.
constexpr int64_t kSliceBytes = int64_t(256) << 20;

/// Largest order that run_small takes in that routine with that plan, negative: of none.
template <class T>
int lanes_limit(Routine routine, const Plan& plan) {
  if (routine == Routine::potrf || (routine == Routine::posv && !solves_as_it_factors(plan)))
    return small_limit<SmallTask::factor, T>(plan.tile);
  if (routine == Routine::posv) return small_limit<SmallTask::factor_and_solve, T>(plan.tile);
  return routine == Routine::potrs ? larger(small_limit<SmallTask::solve, T>(plan.tile),
                                            small_limit<SmallTask::solve_one, T>(plan.tile))
                                   : -1;
}

}  // namespace

template <class T>
bool accepts(Routine routine, Form form, const Plan& plan, int64_t max_n) {
  const DeviceLimits device = current_device_limits();
  const bool solves = routine == Routine::potrs;
  const bool factors = routine == Routine::potrf || routine == Routine::posv;
  const bool solves_so = plan.threads == 0 || has_tensor_solve(plan.threads);
  const auto solves_by_blocks = [&] {
    SolveRows rows;
    add_block_rows(rows, kLetter<T>, {1, 1});
    Case asked{routine, form, kLetter<T>};
    asked.n = max_n;
    asked.nrhs = 1;
    return choose_solve<T>(asked, rows, device).method == solve::kBlock;
  };
  if (factors && plan.block == kBinnedBySize && max_n > VbatchedRegisterShape<T>::kOrder)
    return false;
  switch (plan.method) {
    case Method::lanes:
      return lanes_limit<T>(routine, plan) >= max_n;
    case Method::panel:
      return solves ? warp_solve_limit<T>(device) >= max_n
                    : factors && has_left_looking(kLetter<T>, plan.threads);
    case Method::fused:
      if (solves) return solve_limit<T>(device) >= max_n;
      return factors && (has_left_looking(kLetter<T>, plan.threads) ||
                         has_wide<T>(false, plan.threads) || has_wide<T>(true, plan.threads));
    case Method::tiles:
      return solves && solves_so && solves_by_blocks();
    case Method::blocked:
      if (solves) return solves_so;
      return !factors || (form == Form::one && has_panel<T>(plan.threads));
    default:
      return false;
  }
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
Status factor_batch(const BatchProblem<T>& problem, const Plan& plan, ClusterPlan clusters,
                    FactorChoice& ran, cudaStream_t stream) {
  const Case asked = case_of(problem, Routine::potrf);
  Status status = Status::error(Status::kNotSupported, "potrf: no kernel for order %d",
                                static_cast<int>(problem.n));
  try_factor_choices<T>(asked, plan, clusters, current_device_limits(),
                        run_first(problem, status, ran, stream));
  return status;
}

template <class T>
Status solve_batch(const BatchProblem<T>& problem, const SolveChoice& choice, cudaStream_t stream) {
  if (problem.n == 0 || problem.nrhs == 0) return Status::success();
  return batch_methods<T>.find(choice.method)->run(problem, choice.params, stream);
}

template <class T>
Status factor_and_solve_batch(const BatchProblem<T>& problem, const Plan& plan,
                              ClusterPlan clusters, const SolveChoice& solution, FactorChoice& ran,
                              cudaStream_t stream) {
  const Case asked = case_of(problem, Routine::posv);
  Status status;
  if (try_posv_choices<T>(asked, plan, current_device_limits(),
                          run_first(problem, status, ran, stream)))
    return status;
  status = factor_batch(problem, plan, clusters, ran, stream);
  if (!status.ok()) return status;
  BatchProblem<T> factored = problem;
  factored.sequence = nullptr;
  return solve_batch(factored, solution, stream);
}

template <class T>
Status invert_batch(const BatchProblem<T>& problem, const Plan&, const BatchWorkspace<T>& work,
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

#define CHOL_INSTANTIATE(T)                                                                        \
  template bool accepts<T>(Routine, Form, const Plan&, int64_t);                                   \
  template struct BatchWorkspace<T>;                                                               \
  template Status factor_batch<T>(const BatchProblem<T>&, const Plan&, ClusterPlan, FactorChoice&, \
                                  cudaStream_t);                                                   \
  template Status solve_batch<T>(const BatchProblem<T>&, const SolveChoice&, cudaStream_t);        \
  template Status factor_and_solve_batch<T>(const BatchProblem<T>&, const Plan&, ClusterPlan,      \
                                            const SolveChoice&, FactorChoice&, cudaStream_t);      \
  template Status invert_batch<T>(const BatchProblem<T>&, const Plan&, const BatchWorkspace<T>&,   \
                                  cudaStream_t);
CHOL_FOR_EACH_DEVICE_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda
