#include "routine/run.hpp"

#include <algorithm>

#include "base/environment.hpp"
#include "base/precisions.h"
#include "routine/offload.hpp"
#include "routine/trace.hpp"

namespace chol::routine {

template <class T>
Status run(Handle& handle, BackendSlot& slot, const char* function,
           const backend::Problem<T>& problem) {
  Status status;
  if (!handle.workspace_need && may_offload(handle, slot, problem) &&
      run_offloaded(handle, slot, function, problem, &status))
    return status;
  return run_on(handle, slot, function, problem);
}

backend::Resources resources_of(const Handle& handle, const BackendSlot& slot) {
  backend::Resources resources;
  resources.threads = handle.threads(*slot.backend);
  resources.threads_are_default = !handle.threads_are_set();
  resources.stream = slot.stream;
  resources.math_mode = handle.math_mode;
  return resources;
}

template <class T>
Status run_on(Handle& handle, BackendSlot& slot, const char* function,
              const backend::Problem<T>& problem) {
  backend::Backend& backend = *slot.backend;
  backend::Solver<T>& solver = backend.solver<T>();
  const RowTable& rows = rows_of(backend, problem);
  backend::Resources resources = resources_of(handle, slot);
  resources.chosen = solver.choose(problem, rows);
  resources.workspace_bytes = solver.workspace_bytes(problem, rows, resources);
  if (handle.workspace_need) {
    // The caller's memory may start anywhere; the workspace starts at a multiple of the alignment.
    const size_t need =
        resources.workspace_bytes > 0 ? resources.workspace_bytes + Arena::kAlignment : 0;
    *handle.workspace_need = std::max(*handle.workspace_need, need);
    return Status::success();
  }
  if (resources.workspace_bytes > 0) {
    resources.workspace = slot.workspace(resources.workspace_bytes);
    if (!resources.workspace && resources.math_mode == CHOL_MATH_TENSOR) {
      // If the workspace cannot be allocated, the native method is used, which needs little.
      resources.math_mode = CHOL_MATH_IEEE;
      resources.workspace_bytes = solver.workspace_bytes(problem, rows, resources);
      resources.workspace = slot.workspace(resources.workspace_bytes);
    }
    if (!resources.workspace)
      return Status::error(CHOL_STATUS_ALLOC_FAILED, "%s: cannot allocate %zu bytes of workspace",
                           function, resources.workspace_bytes);
  }
  handle.last_backend = backend.kind();
  if (!environment().verbose) return solver.run(problem, rows, resources);
  int threads_used = 0;
  const char* method = "";
  resources.threads_used = &threads_used;
  resources.method_used = &method;
  const Stopwatch watch;
  const Status status = solver.run(problem, rows, resources);
  print_call(function, backend.name(), method, problem, threads_used, watch.milliseconds());
  return status;
}

template <class T>
bool reserve(Handle& handle, BackendSlot& slot, const backend::Problem<T>& problem) {
  backend::Backend& backend = *slot.backend;
  const size_t bytes = backend.solver<T>().workspace_bytes(problem, rows_of(backend, problem),
                                                           resources_of(handle, slot));
  return bytes == 0 || slot.workspace(bytes);
}

#define CHOL_INSTANTIATE_RUN(prefix, T, R)                                                \
  template bool reserve<T>(Handle&, BackendSlot&, const backend::Problem<T>&);            \
  template Status run<T>(Handle&, BackendSlot&, const char*, const backend::Problem<T>&); \
  template Status run_on<T>(Handle&, BackendSlot&, const char*, const backend::Problem<T>&);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE_RUN)
#undef CHOL_INSTANTIATE_RUN

}  // namespace chol::routine
