#include "common/precisions.hpp"
#include "interleaved/driver.hpp"
#include "interleaved/kernels.hpp"

namespace chol::cuda {
namespace {

/// Threads of a block when the plan leaves them open.
int shared_threads(const Plan& plan) { return plan.threads > 0 ? plan.threads : 128; }

template <InterleavedTask kTask>
bool by_warps(const Plan& plan) {
  return kTask == InterleavedTask::solve && plan.block == 0;
}

template <InterleavedTask kTask, class T>
bool accepts_task(const Plan& plan, int64_t max_n) {
  switch (plan.method) {
    case Method::lanes:
      return max_n <= kRegisterOrder<T>;
    case Method::panel:
      return (kTask == InterleavedTask::factor || max_n <= kHeldOrder<T>)&&(
          kTask == InterleavedTask::solve || max_n <= kColumnOrder<InterleavedTask::factor, T>);
    case Method::fused: {
      const int64_t need =
          by_warps<kTask>(plan)
              ? warps_need<T>(max_n)
              : shared_need<kTask, T>(max_n, 1, plan.block, plan.tile, shared_threads(plan));
      return need >= 0 && need <= block_shared_limit();
    }
    default:
      return plan.method == Method::blocked;
  }
}

static_assert(kOrderParts == 2);

template <class T>
Status run_held(const InterleavedCall<T>& call, cudaStream_t stream) {
  return (call.n - kFirstHeldOrder<T>) % kOrderParts == 0 ? run_held_solve<0>(call, stream)
                                                          : run_held_solve<1>(call, stream);
}
template <InterleavedTask kTask, class T>
Status run_all_columns(const InterleavedCall<T>& call, cudaStream_t stream) {
  return (call.n - kFirstColumnOrder<kTask, T>) % kOrderParts == 0
             ? run_columns<kTask, 0>(call, stream)
             : run_columns<kTask, 1>(call, stream);
}

template <InterleavedTask kTask, class T>
constexpr int kFirstPanelOrder =
    kTask == InterleavedTask::factor ? kFirstColumnOrder<kTask, T> : kRegisterOrder<T> + 1;

template <InterleavedTask kTask, class T>
Status run_panel_plan(const InterleavedCall<T>& call, cudaStream_t stream) {
  if constexpr (kTask == InterleavedTask::solve) return run_held(call, stream);
  if constexpr (kTask == InterleavedTask::factor) return run_all_columns<kTask>(call, stream);
  if constexpr (kTask == InterleavedTask::factor_and_solve) {
    if (call.nrhs == 1 && call.n <= kColumnOrder<kTask, T>)
      return run_all_columns<kTask>(call, stream);
    const Status status = run_all_columns<InterleavedTask::factor>(call, stream);
    return status.ok() && call.nrhs > 0 ? run_held(call, stream) : status;
  }
}

/// The plan's kernel, or one for any order where that does not reach: on a device with less shared
/// memory than the one that was measured.
template <InterleavedTask kTask, class T>
Status run_task(const InterleavedCall<T>& call, const Plan& plan, cudaStream_t stream) {
  if (call.n == 0 || !accepts_task<kTask, T>(plan, call.n))
    return run_streamed<kTask>(call, stream);
  switch (plan.method) {
    case Method::lanes:
      return run_registers<kTask>(call, plan.threads, stream);
    case Method::panel:
      if (call.n < kFirstPanelOrder<kTask, T>)
        return run_registers<kTask>(call, plan.threads, stream);
      return run_panel_plan<kTask>(call, stream);
    case Method::fused:
      if (by_warps<kTask>(plan)) return run_warps(call, stream);
      return run_shared<kTask>(call, plan.block, plan.tile, shared_threads(plan), stream);
    default:
      return run_streamed<kTask>(call, stream);
  }
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
  switch (routine) {
    case Routine::potrf:
      return accepts_task<InterleavedTask::factor, T>(plan, max_n);
    case Routine::potrs:
      return accepts_task<InterleavedTask::solve, T>(plan, max_n);
    case Routine::posv:
      return runs_in_two(routine, plan) ||
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
