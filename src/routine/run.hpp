// One call: rows from the tuning store, workspace, backend, trace.
#pragma once

#include "backend/backend.hpp"
#include "routine/handle.hpp"

namespace chol::routine {

/// Runs a problem whose arguments were checked where its arrays lie: on the backend in `slot`, or,
/// of host arrays, on a device as far as the handle's offload wants it.
/// @param function the public name, for messages and the trace.
template <class T>
Status run(Handle& handle, BackendSlot& slot, const char* function,
           const backend::Problem<T>& problem);

/// potrf of one matrix whose arguments were checked, straight to its kernel if the handle does that
/// at this order. Rows, workspace and places would take a tenth of a microsecond, as long as order
/// 8. Returns whether it is done.
template <class T>
inline bool run_small(Handle& handle, chol_uplo_t uplo, int64_t n, T* A, int64_t lda, int* info) {
  const backend::SmallFactor& small = handle.small_factors[precision_index(precision_letter<T>)];
  if (n < 1 || n > small.most || handle.workspace_need) return false;
  handle.last_backend = CHOL_BACKEND_HOST;
  *info = small.run(uplo == CHOL_UPPER, n, A, lda);
  return true;
}

/// What a call on this backend may use by the handle's settings: all but the workspace.
backend::Resources resources_of(const Handle& handle, const BackendSlot& slot);

template <class T>
const RowTable& rows_of(backend::Backend& backend, const backend::Problem<T>& problem) {
  return backend.tuning().rows(problem.routine, problem.form, precision_letter<T>);
}

/// Whether the backend in `slot` can have the workspace of a problem; a run of it then needs no
/// other.
template <class T>
bool reserve(Handle& handle, BackendSlot& slot, const backend::Problem<T>& problem);

/// Runs a problem on the backend in `slot`.
template <class T>
Status run_on(Handle& handle, BackendSlot& slot, const char* function,
              const backend::Problem<T>& problem);

}  // namespace chol::routine
