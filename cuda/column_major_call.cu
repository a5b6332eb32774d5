#include <climits>
#include <cstdio>

#include "call_choice.hpp"
#include "call_workspace.hpp"
#include "column_major_call.hpp"
#include "common/precisions.hpp"
#include "tune/solve_rows.hpp"

namespace chol::cuda {
namespace {

using backend::Chosen;
using backend::Problem;
using backend::Resources;

/// Positions of the arrays of a variable batch in its C function (handle is the first argument).
VariablePositions positions_of(Routine routine) {
  if (has_rhs(routine)) return {5, 6, 7, 8, 9, 10};
  return {4, 0, 5, 6, 0, 0};
}

bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) != cudaSuccess) cudaGetLastError();
  return status != cudaStreamCaptureStatusNone;
}

/// The choice for the solve of a call.
template <class D>
SolveChoice solve_choice(DeviceState& state, const BatchProblem<D>& call, const RowTable& rows) {
  return choose_solve<D>(case_of(call, Routine::potrs), rows, state.limits());
}
/// The same for so many right-hand sides, by built-in rows that tuning files do not override.
template <class D>
SolveChoice solve_choice(DeviceState& state, const BatchProblem<D>& call, int64_t nrhs,
                         const SolveRows& rows) {
  Case asked = case_of(call, Routine::potrs);
  asked.nrhs = nrhs;
  return choose_solve<D>(asked, rows, state.limits());
}
/// The same for the second half of a posv.
template <class T, class D>
SolveChoice second_choice(DeviceState& state, const Problem<T>& problem,
                          const BatchProblem<D>& call) {
  if (call.n <= kWarpSolveOrder)
    return solve_choice(state, call, call.nrhs, solve_rows_of_posv(kLetter<D>));
  return solve_choice(state, call, rows_of<T>(state, Routine::potrs, problem.form));
}
/// Reports to the trace what runs.
void note_method(const Resources& resources, const char* method, const Params& params) {
  thread_local char text[160];
  print_method(text, sizeof text, method, params);
  *resources.method_used = text;
}

template <class D>
void note_residues(const Resources& resources, const residues::Workspace<D>& work) {
  thread_local char text[64];
  std::snprintf(text, sizeof text, "residues(moduli=%d, by_bytes=%d)", work.moduli,
                work.by_bytes ? 1 : 0);
  *resources.method_used = text;
}
void note_choice(const Resources& resources, const Choice& choice) {
  thread_local char text[160];
  print_choice(text, sizeof text, choice);
  *resources.method_used = text;
}

/// The orders of a variable batch, checked unless the kernel does so.
template <class T>
Status settle_variable(const Problem<T>& problem, const Choice& choice,
                       const CallWorkspace<Device<T>>& work, BatchProblem<Device<T>>& call,
                       cudaStream_t stream) {
  const BatchSizes& sizes = problem.sizes;
  const VariablePositions position = positions_of(problem.routine);
  if (is_checked_by_kernel(problem.routine, sizes.count, choice)) {
    call.orders = sizes.orders;
    call.unchecked = true;
    call.position = position;
    return Status::success();
  }
  const VariableCheck<Device<T>> check{call.A,       call.B,       sizes.count,      sizes.n,
                                       sizes.nrhs,   sizes.orders, sizes.rhs_counts, position,
                                       problem.info, work.orders,  work.rhs_counts};
  call.orders = work.orders;
  call.rhs_counts = work.rhs_counts;
  call.sequence = work.sequence.matrices;
  return check_variable(check, work.sequence, stream);
}

template <class T, class D>
Status run_batch(DeviceState& state, const Problem<T>& problem, const BatchProblem<D>& call,
                 const Choice& row, const BatchWorkspace<D>& work, const Resources& resources) {
  const auto stream = static_cast<cudaStream_t>(resources.stream);
  switch (problem.routine) {
    case Routine::potrf: {
      FactorChoice ran;
      const Status status = factor_batch(call, row, state.limits(), ran, stream);
      if (resources.method_used) note_method(resources, ran.method, ran.params);
      return status;
    }
    case Routine::potrs: {
      const SolveChoice choice =
          solve_choice(state, call, rows_of<T>(state, problem.routine, problem.form));
      if (resources.method_used) note_method(resources, choice.method, choice.params);
      return solve_batch(call, choice, stream);
    }
    case Routine::posv: {
      FactorChoice ran;
      const SolveChoice solution = second_choice(state, problem, call);
      const Status status =
          factor_and_solve_batch(call, row, solution, state.limits(), ran, stream);
      if (resources.method_used) note_method(resources, ran.method, ran.params);
      return status;
    }
    default:
      return invert_batch(call, work, stream);
  }
}

template <class T, class D>
Status run_one(DeviceState& state, const Problem<T>& problem, const BatchProblem<D>& call,
               const Chosen& chosen, const OneMatrixWorkspace<D>& work, cudaStream_t stream) {
  const Choice& choice = *chosen.choice;
  switch (problem.routine) {
    case Routine::potrf:
      return factor_one(call, choice, work, state.blas, stream);
    case Routine::potrs:
      return solve_one(call, choice, work, state.blas, stream);
    case Routine::posv:
      if (chosen.solution && solves_one(*chosen.solution))
        return factor_and_solve_one(call, choice, *chosen.solution, work, state.blas, stream);
      if (const Status status = factor_one(call, choice, work, state.blas, stream);
          !status.ok() || call.n == 0 || call.nrhs == 0)
        return status;
      return solve_batch(call, second_choice(state, problem, call), stream);
    default:
      return invert_one(call, work, state.blas, stream);
  }
}

}  // namespace

/// Kernels use int for rows and small multiples of them.
Status check_order(int64_t n) {
  if (n <= INT_MAX / 2) return Status::success();
  return Status::error(CHOL_STATUS_NOT_SUPPORTED, "n = %lld, must be below 2^30 on a CUDA device",
                       static_cast<long long>(n));
}

template <class T>
Status run_column_major(DeviceState& state, const Problem<T>& problem, const Chosen& chosen,
                        const Resources& resources) {
  using D = Device<T>;
  const auto stream = static_cast<cudaStream_t>(resources.stream);
  const BatchSizes& sizes = problem.sizes;
  if (Status status = check_order(sizes.n); !status.ok()) return status;
  const Choice& choice = *chosen.choice;
  Arena arena(resources.workspace, resources.workspace_bytes);
  const std::optional<ResidueRow> residues = residues_of(state, problem, resources);
  CallWorkspace<D> work = carve(arena, problem, chosen, residues);
  if (resources.method_used) note_choice(resources, choice);
  if (residues) {
    work.one.progress = &state.progress;
    work.one.residues.in_capture = is_captured(stream);
    if (resources.method_used) note_residues(resources, work.one.residues);
  }

  BatchProblem<D> call;
  call.A = device_view(problem.A);
  call.B = device_view(problem.B);
  call.count = sizes.count;
  call.n = sizes.n;
  call.nrhs = sizes.nrhs;
  call.info = problem.info;
  call.swapped = problem.uplo == CHOL_UPPER;
  if (sizes.variable()) {
    const Status status = settle_variable(problem, choice, work, call, stream);
    if (!status.ok()) return status;
  }
  auto* const result = problem.result;
  if (problem.routine == Routine::pocon)
    return estimate_condition(call, solve_choice(state, call, 1, solve_rows_of_pocon(kLetter<D>)),
                              work.condition, problem.anorm, result, stream);
  if (problem.routine == Routine::logdet) return log_determinants(call, result, stream);
  return is_native(choice) ? run_one(state, problem, call, chosen, work.one, stream)
                           : run_batch(state, problem, call, choice, work.batch, resources);
}

#define CHOL_INSTANTIATE(T)                                                           \
  template Status run_column_major<T>(DeviceState&, const Problem<T>&, const Chosen&, \
                                      const Resources&);
CHOL_FOR_EACH_HOST_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda
