// One call: rows from the tuning store, workspace, backend, trace.
#pragma once

#include "backend/backend.hpp"
#include "routine/handle.hpp"

namespace chol::routine {

/// Runs a problem with checked arguments on the backend of its arrays, in `slot`, or, for host
/// arrays, on a device if the handle's offload mode says so.
/// @param function the public name, for messages and the trace.
template <class T>
Status run(Handle& handle, BackendSlot& slot, const char* function,
           const backend::Problem<T>& problem);

/// potrf of one matrix whose arguments were checked, by a direct call of its kernel if the handle
/// has one for this order. Looking up rows, workspace and memory would take .1 us, as long as order
/// 8 itself. Returns whether it was done.
template <class T>
inline bool run_small(Handle& handle, chol_uplo_t uplo, int64_t n, T* A, int64_t lda, int* info) {
  const backend::SmallFactor& small = handle.small_factors[precision_index(precision_letter<T>)];
  if (n < 1 || n > small.most || handle.workspace_need) return false;
  handle.last_backend = CHOL_BACKEND_HOST;
  *info = small.run(uplo == CHOL_UPPER, n, A, lda);
  return true;
}

/// Resources of a call on this backend by the handle's settings, without the workspace.
backend::Resources resources_of(const Handle& handle, const BackendSlot& slot);

template <class T>
const RowTable& rows_of(backend::Backend& backend, const backend::Problem<T>& problem) {
  return backend.tuning().rows(problem.routine, problem.form, precision_letter<T>);
}

/// Allocates the workspace of a problem in `slot`, which a later run reuses. Returns whether that
/// worked.
template <class T>
bool reserve(Handle& handle, BackendSlot& slot, const backend::Problem<T>& problem);

/// Runs a problem on the backend in `slot`.
template <class T>
Status run_on(Handle& handle, BackendSlot& slot, const char* function,
              const backend::Problem<T>& problem);

}  // namespace chol::routine
