#include "common/precisions.hpp"
#include "interleaved/driver.hpp"
#include "interleaved/jit/run.hpp"
#include "interleaved/kernels.hpp"
#include "tune/rows.hpp"

namespace chol::cuda {
namespace {

/// Shared memory of a block of Method::fused; negative, or more than there can be, where there is
/// no such kernel.
template <InterleavedTask kTask, class T>
int64_t fused_need(const Plan& plan, int64_t max_n) {
  if (is_warp_factor(plan)) return warp_factor_need<kTask, T>(max_n, plan);
  if (kTask == InterleavedTask::solve && is_by_warps(plan)) return warps_need<T>(max_n);
  return shared_need<kTask, T>(max_n, 1, shared_knobs(plan));
}

/// Whether the plan's kernel is one of those that are built.
template <InterleavedTask kTask, class T>
bool is_built(const Plan& plan, int64_t max_n) {
  switch (plan.method) {
    case Method::lanes:
      return max_n <= kRegisterOrder<T>;
    case Method::panel:
      return plan.block == 0 && plan.tile == 0 && max_n <= kPanelOrder<kTask, T>;
    case Method::fused: {
      const int64_t need = fused_need<kTask, T>(plan, max_n);
      return need >= 0 && need <= block_shared_limit();
    }
    default:
      return is_streamed(plan);
  }
}

template <InterleavedTask kTask, class T>
bool is_compilable(const Plan& plan, int64_t max_n) {
  return can_compile({kRoutineOf<kTask>, kPrecision<T>}, plan, max_n, block_shared_limit());
}

/// The built plan that is most like one that cannot be compiled.
template <InterleavedTask kTask, class T>
Plan built_instead(const Plan& plan, int64_t n, int64_t nrhs) {
  constexpr Plan kPanel{Method::panel, 0, 0, 0}, kAnyOrder{Method::blocked, 0, 0, 0};
  if (plan.method == Method::blocked) return kAnyOrder;
  if (is_warp_factor(plan))
    for (int matrices = plan.tile / 2; matrices > 0; matrices /= 2)
      for (const int threads : {32, 64, 128}) {
        const Plan fewer{Method::fused, 0, matrices, threads};
        if (is_built<kTask, T>(fewer, n)) return fewer;
      }
  // Which takes one right-hand side along with a factor, neither none nor several.
  const bool panel_serves = kTask != InterleavedTask::factor_and_solve || nrhs == 1;
  if (plan.method != Method::fused && panel_serves && is_built<kTask, T>(kPanel, n)) return kPanel;
  constexpr int kLine = 64;  // of a row of matrices side by side, where the plan says nothing
  const bool shared = plan.method == Method::fused && !is_by_warps(plan);
  const SharedKnobs wanted =
      shared ? shared_knobs(plan) : SharedKnobs{kMostSharedColumns, kLine / int(sizeof(T)), 128};
  const auto apart = [](int a, int b) { return a > b ? double(a) / b : double(b) / a; };
  Plan nearest = kAnyOrder;
  double distance = 1e9;
  for (const int columns : {4, 8})
    for (const int bytes : {16, 32, 64, 128})
      for (const int threads : {32, 64, 96, 128}) {
        const Plan built{Method::fused, columns, bytes / int(sizeof(T)), threads};
        const double own = apart(columns, wanted.columns) * apart(built.tile, wanted.lanes) *
                           apart(threads, wanted.threads);
        if (own >= distance || !is_built<kTask, T>(built, n)) continue;
        nearest = built;
        distance = own;
      }
  return nearest;
}

static_assert(kOrderParts == 2);

/// The kernel of Method::panel for the order.
template <InterleavedTask kTask, class T>
Status run_panel(const InterleavedCall<T>& call, cudaStream_t stream) {
  constexpr int kFirst =
      kTask == InterleavedTask::solve ? kFirstThreadsOrder<kTask, T> : kFirstColumnOrder<T>;
  if (call.n < kFirst) return run_registers<kTask>(call, 0, stream);
  const bool second = part_of_order<kTask, T>(call.n) == 1;
  if constexpr (kTask == InterleavedTask::solve)
    return second ? run_threads_solve<1>(call, stream) : run_threads_solve<0>(call, stream);
  else if (call.n <= kColumnOrder<kTask, T>)
    return second ? run_columns<kTask, 1>(call, stream) : run_columns<kTask, 0>(call, stream);
  else
    return second ? run_threads_factor<kTask, 1>(call, stream)
                  : run_threads_factor<kTask, 0>(call, stream);
}

template <InterleavedTask kTask, class T>
Status run_built(const InterleavedCall<T>& call, const Plan& plan, cudaStream_t stream) {
  switch (plan.method) {
    case Method::lanes:
      return run_registers<kTask>(call, plan.threads, stream);
    case Method::panel:
      return run_panel<kTask>(call, stream);
    case Method::fused:
      if (is_warp_factor(plan)) return run_warp_factor<kTask>(call, plan, stream);
      if (kTask == InterleavedTask::solve && is_by_warps(plan)) return run_warps(call, stream);
      return run_shared<kTask>(call, shared_knobs(plan), stream);
    default:
      return run_streamed<kTask>(call, stream);
  }
}

/// The plan's kernel, or one for any order where that does not reach: on a device with less shared
/// memory than the one that was measured.
template <InterleavedTask kTask, class T>
Status run_task(const InterleavedCall<T>& call, const Plan& plan, cudaStream_t stream) {
  if (call.n == 0) return run_streamed<kTask>(call, stream);
  if (is_built<kTask, T>(plan, call.n)) return run_built<kTask>(call, plan, stream);
  if (is_compilable<kTask, T>(plan, call.n)) {
    bool had = false;
    const Status status = run_compiled<kTask>(call, plan, stream, had);
    if (had) return status;
  }
  return run_built<kTask>(call, built_instead<kTask, T>(plan, call.n, call.nrhs), stream);
}

template <InterleavedTask kTask, class T>
bool accepts_task(const Plan& plan, int64_t max_n) {
  return is_built<kTask, T>(plan, max_n) || is_compilable<kTask, T>(plan, max_n);
}

}  // namespace

int chunk_bits(int64_t chunk, int64_t batch) {
  if (chunk >= batch) return 62;
  if (chunk & (chunk - 1)) return -1;
  int bits = 0;
  while ((int64_t(1) << bits) < chunk) ++bits;
  return bits;
}

template <class T>
bool accepts_interleaved(Routine routine, const Plan& plan, int64_t max_n) {
  if (runs_in_slices(routine, plan)) return true;
  switch (routine) {
    case Routine::potrf:
      return accepts_task<InterleavedTask::factor, T>(plan, max_n);
    case Routine::potrs:
      return accepts_task<InterleavedTask::solve, T>(plan, max_n);
    case Routine::posv:
      return runs_in_two(routine, plan, 1) ||
             accepts_task<InterleavedTask::factor_and_solve, T>(plan, max_n);
    default:
      return plan.method == Method::blocked;
  }
}

template <class T>
Status run_interleaved(Routine routine, InterleavedCall<T> call, const Plan& plan, Real<T>* result,
                       cudaStream_t stream) {
  switch (routine) {
    case Routine::potrf:
      return run_task<InterleavedTask::factor>(call, plan, stream);
    case Routine::potrs:
      if (call.nrhs == 0 || call.n == 0) return Status::success();
      return run_task<InterleavedTask::solve>(call, plan, stream);
    case Routine::posv:
      return run_task<InterleavedTask::factor_and_solve>(call, plan, stream);
    case Routine::potri:
      return run_inverse(call, stream);
    default:
      return run_log_determinant(call, result, stream);
  }
}

#define CHOL_INSTANTIATE(T)                                                              \
  template bool accepts_interleaved<T>(Routine, const Plan&, int64_t);                   \
  template Status run_interleaved<T>(Routine, InterleavedCall<T>, const Plan&, Real<T>*, \
                                     cudaStream_t);
CHOL_FOR_EACH_DEVICE_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda
