#include "routine/offload.hpp"

#include <algorithm>
#include <atomic>

#include "backend/flops.hpp"
#include "base/environment.hpp"
#include "base/precisions.h"
#include "routine/host_on_devices.hpp"
#include "routine/run.hpp"
#include "routine/shared_device.hpp"

namespace chol::routine {
namespace {

/// Below these orders a transfer's latency alone is the host's whole time.
constexpr int64_t kLeastAlways = 256, kLeastAuto = 1000;
/// Factor by which the device must be faster: rates are those of an idle machine.
constexpr double kMargin = 1.5;
/// Driver, context and cuBLAS take half a second to initialize: a device is opened once the process
/// has done as much host work that could have been offloaded, so that a program's time at most
/// doubles.
constexpr double kOpeningSeconds = 0.5;
/// Seconds that a call waits for the one before it when the duration is unknown.
constexpr double kPatience = 1;
/// Device memory that stays allocated between calls; the rest is freed for other processes.
constexpr size_t kMostKept = size_t{1} << 30;

std::atomic<double> host_seconds_met{0};

struct Times {
  double host = 0, device = 0;  ///< seconds, 0 when unknown
};

template <class T>
Times times_of(const Handle& handle, BackendSlot& host, const backend::Problem<T>& potrf) {
  const int64_t n = potrf.sizes.n;
  const double flops = backend::flops_of(potrf);
  const double triangle = 0.5 * sizeof(T) * static_cast<double>(n) * static_cast<double>(n);
  Times times;
  backend::Backend& backend = *host.backend;
  if (const RateRow* rate = backend.tuning().rate(precision_letter<T>, n))
    times.host = flops / (1e9 * rate->gflops * handle.threads(backend));
  const TuningStore* tuning = device_tuning();
  const RateRow* rate = tuning ? tuning->rate(precision_letter<T>, n) : nullptr;
  if (rate && rate->gbytes_each > 0)
    times.device =
        flops / (1e9 * rate->gflops * device_count()) + 2 * triangle / (1e9 * rate->gbytes_each);
  return times;
}

bool is_worth_it(chol_offload_t offload, const Times& times) {
  if (offload == CHOL_OFFLOAD_ALWAYS) return true;
  if (!device_tuning()) {
    const double met = host_seconds_met.fetch_add(times.host, std::memory_order_relaxed);
    return met + times.host >= kOpeningSeconds;
  }
  return times.device > 0 && times.device * kMargin < times.host;
}

/// The factorization in a problem.
template <class T>
backend::Problem<T> potrf_of(const backend::Problem<T>& problem, int64_t* factored) {
  backend::Problem<T> potrf = problem;
  potrf.routine = Routine::potrf;
  potrf.sizes.nrhs = 0;
  potrf.B = {};
  potrf.factored = factored;
  return potrf;
}

template <class T>
Status run_on_devices(Handle& handle, BackendSlot& host, const DeviceTurn& turn,
                      const char* function, const backend::Problem<T>& potrf) {
  if (turn.devices().size() == 1) return run_on(handle, *turn.devices().front(), function, potrf);
  handle.last_backend = CHOL_BACKEND_CUDA;
  return run_offloaded_on_devices(turn.devices(), handle.threads(*host.backend), function, potrf);
}

template <class T>
Status run_in_turn(Handle& handle, BackendSlot& host, DeviceTurn& turn, const char* function,
                   const backend::Problem<T>& potrf) {
  const Status status = run_on_devices(handle, host, turn, function, potrf);
  if (status.code() == CHOL_STATUS_DEVICE_ERROR)
    turn.give_up();
  else
    for (const auto& slot : turn.devices()) slot->keep_at_most(kMostKept);
  if (!status.ok() && environment().verbose)
    std::fprintf(stderr, "# chol: %s (from column %lld on: host)\n", status.message(),
                 static_cast<long long>(*potrf.factored));
  return status;
}

}  // namespace

template <class T>
bool may_offload(const Handle& handle, const BackendSlot& slot,
                 const backend::Problem<T>& problem) {
  if (handle.offload == CHOL_OFFLOAD_NEVER || problem.form != Form::one || problem.factored ||
      (problem.routine != Routine::potrf && problem.routine != Routine::posv) ||
      slot.backend->kind() != CHOL_BACKEND_HOST)
    return false;
  const int64_t least = handle.offload == CHOL_OFFLOAD_ALWAYS ? kLeastAlways : kLeastAuto;
  return problem.sizes.n >= least && device_is_possible();
}

template <class T>
bool run_offloaded(Handle& handle, BackendSlot& slot, const char* function,
                   const backend::Problem<T>& problem, Status* status) {
  int64_t factored = 0;
  const backend::Problem<T> potrf = potrf_of(problem, &factored);
  const Times times = times_of(handle, slot, potrf);
  if (!is_worth_it(handle.offload, times)) return false;
  backend::Problem<T> potrs = problem;
  potrs.routine = Routine::potrs;
  potrs.info = nullptr;
  // Workspace for a continuation on the host is allocated before the matrix is written.
  if (!reserve(handle, slot, potrf) ||
      (problem.routine == Routine::posv && !reserve(handle, slot, potrs)))
    return false;
  {
    const double patience = times.host > 0 ? std::min(times.host, kPatience) : kPatience;
    DeviceTurn turn(times.device > 0 ? times.device : patience);
    if (!turn) return false;
    // The rates known after opening may show that the device is slower for this matrix.
    if (handle.offload == CHOL_OFFLOAD_AUTO &&
        !is_worth_it(handle.offload, times_of(handle, slot, potrf)))
      return false;
    *status = run_in_turn(handle, slot, turn, function, potrf);
  }
  if (!status->ok() && factored == 0) return false;
  if (!status->ok()) *status = run_on(handle, slot, function, potrf);
  if (!status->ok() || problem.routine == Routine::potrf || *problem.info != 0) return true;
  const chol_backend_t factored_by = handle.last_backend;
  *status = run_on(handle, slot, function, potrs);
  handle.last_backend = factored_by;
  return true;
}

#define CHOL_INSTANTIATE_OFFLOAD(prefix, T, R)                                                   \
  template bool may_offload<T>(const Handle&, const BackendSlot&, const backend::Problem<T>&);   \
  template bool run_offloaded<T>(Handle&, BackendSlot&, const char*, const backend::Problem<T>&, \
                                 Status*);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE_OFFLOAD)
#undef CHOL_INSTANTIATE_OFFLOAD

}  // namespace chol::routine
