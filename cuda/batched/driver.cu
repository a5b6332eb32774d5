#include <algorithm>
#include <string_view>

#include "batched/driver.hpp"
#include "batched/left_looking/interface.hpp"
#include "batched/solve/block/interface.hpp"
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
/// A grid has fewer blocks than 2^31; a matrix takes at most this many in any of these kernels.
constexpr int64_t kMostSlice = int64_t(1) << 20;

int64_t tiles_of(int64_t n, int64_t order) { return (n + order - 1) / order; }

template <class T>
BatchView<T> view_from(BatchView<T> view, int64_t first) {
  if (view.pointers)
    view.pointers += first;
  else
    view.first += first * view.stride;
  if (view.lds) view.lds += first;
  return view;
}

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

/// The `count` matrices from `first` on.
template <class T>
BatchProblem<T> slice_of(BatchProblem<T> problem, int64_t first, int64_t count) {
  problem.count = count;
  if (problem.sequence) {  // of positions in the whole batch
    problem.sequence += first;
    return problem;
  }
  problem.A = view_from(problem.A, first);
  if (problem.B.pointers || problem.B.first) problem.B = view_from(problem.B, first);
  if (problem.orders) problem.orders += first;
  if (problem.rhs_counts) problem.rhs_counts += first;
  if (problem.info) problem.info += first;
  return problem;
}

/// Runs body(slice) over the batch, work.slice matrices at a time.
template <class T, class Body>
Status for_slices(const BatchProblem<T>& problem, int64_t slice, Body&& body) {
  if (slice <= 0) slice = kMostSlice;
  for (int64_t first = 0; first < problem.count; first += slice) {
    Status status = body(slice_of(problem, first, std::min(slice, problem.count - first)));
    if (!status.ok()) return status;
  }
  return Status::success();
}

}  // namespace

template <class T>
SolveLimits solve_limits() {
  return {warp_solve_limit<T>(), solve_limit<T>(), tensor_solve_limit<T>(), can_run_block_solve<T>};
}

template <class T>
bool accepts(Routine routine, Form form, const Plan& plan, int64_t max_n) {
  const bool solves = routine == Routine::potrs;
  const bool factors = routine == Routine::potrf || routine == Routine::posv;
  const bool solves_so = plan.threads == 0 || has_tensor_solve(plan.threads);
  const auto solves_by_blocks = [&] {
    SolveRows rows;
    add_block_rows(rows, kLetter<T>, {1, 1});
    Case asked{routine, form, kLetter<T>};
    asked.n = max_n;
    asked.nrhs = 1;
    return choose_solve<T>(asked, rows, solve_limits<T>()).method == solve::kBlock;
  };
  if (factors && plan.block == kBinnedBySize && max_n > VbatchedRegisterShape<T>::kOrder)
    return false;
  switch (plan.method) {
    case Method::lanes:
      return lanes_limit<T>(routine, plan) >= max_n;
    case Method::panel:
      return solves ? warp_solve_limit<T>() >= max_n
                    : factors && has_left_looking(kLetter<T>, plan.threads);
    case Method::fused:
      if (solves) return solve_limit<T>() >= max_n;
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

template <class T>
bool can_run_left_looking_kernel(const LeftLookingParams& params, bool fused, int64_t n, bool upper,
                                 bool bordered) {
  return fused ? can_run_left_looking<true, T>(params, n, upper, bordered)
               : can_run_left_looking<false, T>(params, n, upper, bordered);
}

template <class T>
Status run_factor(const BatchProblem<T>& problem, const FactorChoice& choice, cudaStream_t stream) {
  const std::string_view method = choice.method;
  if (method == factor::kCluster)
    return run_clusters(problem, {choice.threads, choice.blocks}, choice.paired, stream);
  if (method == factor::kVbatchedRegister) return run_vbatched_register(problem, stream);
  if (method == factor::kRegister)
    return run_small<SmallTask::factor>(problem, choice.lanes, stream);
  if (method == factor::kRegisterGridPosv)
    return run_small<SmallTask::factor_and_solve_one>(problem, choice.lanes, stream);
  if (method == factor::kRegisterPosv)
    return run_small<SmallTask::factor_and_solve>(problem, choice.lanes, stream);
  const bool fused = choice.bordered || method == factor::kLeftLookingPosv;
  return for_slices(problem, kMostSlice, [&](const BatchProblem<T>& slice) {
    if (method == factor::kMultiPanel)
      return slice.swapped ? run_wide_left_looking<T, true>(slice, choice.threads, stream)
                           : run_wide_left_looking<T, false>(slice, choice.threads, stream);
    return fused ? run_left_looking<true>(slice, choice.left_looking, choice.bordered, stream)
                 : run_left_looking<false>(slice, choice.left_looking, false, stream);
  });
}

/// Runs choices until one is accepted and runs. @param[out] ran that one.
template <class T>
auto run_first(const BatchProblem<T>& problem, const Case& asked, Status& status, FactorChoice& ran,
               cudaStream_t stream) {
  return [&problem, &asked, &status, &ran, stream](const FactorChoice& choice) {
    if (!accepts_choice<T>(asked, choice, can_run_left_looking_kernel<T>)) return false;
    status = run_factor(problem, choice, stream);
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
  const auto has_multi_panel = [&](int threads) { return has_wide<T>(asked.upper, threads); };
  try_factor_rows(asked, plan, clusters, has_multi_panel,
                  run_first(problem, asked, status, ran, stream));
  return status;
}

template <class T>
Status solve_batch(const BatchProblem<T>& problem, const SolveChoice& choice, cudaStream_t stream) {
  if (problem.n == 0 || problem.nrhs == 0) return Status::success();
  const std::string_view method = choice.method;
  const auto is = [&](const char* name) { return method == name; };
  if (is(solve::kRegisterGrid))
    return run_small<SmallTask::solve_one>(problem, choice.params.of("lanes"), stream);
  if (is(solve::kRegister))
    return run_small<SmallTask::solve>(problem, choice.params.of("lanes"), stream);
  // These have several blocks a matrix.
  const bool by_columns = is(solve::kLeftLooking) || is(solve::kStreaming);
  const int64_t most =
      by_columns ? std::max<int64_t>(1, kMostSlice / tiles_of(problem.nrhs, 4)) : kMostSlice;
  return for_slices(problem, most, [&](const BatchProblem<T>& slice) {
    if (is(solve::kWarp)) return run_warp_solve(slice, stream);
    if (is(solve::kBlock))
      return run_block_solve(slice, BlockSolveParams::of(choice.params), stream);
    if (is(solve::kTile)) return run_solve(slice, stream);
    if (is(solve::kLeftLooking))
      return run_tensor_solve(slice, choice.params.of("threads"), stream);
    return run_stream_solve(slice, false, stream);
  });
}

template <class T>
Status factor_and_solve_batch(const BatchProblem<T>& problem, const Plan& plan,
                              ClusterPlan clusters, const SolveChoice& solution, FactorChoice& ran,
                              cudaStream_t stream) {
  const Case asked = case_of(problem, Routine::posv);
  Status status;
  if (try_posv_rows(asked, plan, run_first(problem, asked, status, ran, stream))) return status;
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
  template SolveLimits solve_limits<T>();                                                          \
  template Status solve_batch<T>(const BatchProblem<T>&, const SolveChoice&, cudaStream_t);        \
  template Status factor_and_solve_batch<T>(const BatchProblem<T>&, const Plan&, ClusterPlan,      \
                                            const SolveChoice&, FactorChoice&, cudaStream_t);      \
  template Status invert_batch<T>(const BatchProblem<T>&, const Plan&, const BatchWorkspace<T>&,   \
                                  cudaStream_t);
CHOL_FOR_EACH_DEVICE_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda
