// What the routine families of chol.h have in common: which arguments a routine has, and the step
// from checked arguments to the routine layer.
#pragma once

#include <cinttypes>

#include "api/check.hpp"
#include "api/entry.hpp"
#include "routine/run.hpp"

namespace chol::api {

constexpr bool has_rhs(Routine routine) {
  return routine == Routine::potrs || routine == Routine::posv;
}
constexpr bool has_info(Routine routine) {
  return routine == Routine::potrf || routine == Routine::posv || routine == Routine::potri;
}
constexpr bool has_result(Routine routine) {
  return routine == Routine::pocon || routine == Routine::logdet;
}

/// Factors are read-only in potrs, pocon and logdet; the layers below know that by the routine, so
/// that one problem type serves all.
template <class T>
T* writable(const T* factor) {
  return const_cast<T*>(factor);
}
template <class T>
T* const* writable(const T* const* factors) {
  return const_cast<T* const*>(factors);
}

/// The backend that works where the arrays lie.
inline Status slot_of(routine::Handle& handle, const char* function,
                      std::initializer_list<routine::Handle::NamedArray> arrays,
                      routine::BackendSlot** slot) {
  return handle.slot_for(arrays.begin(), static_cast<int>(arrays.size()), function, slot);
}

/// Whether arrays of sizes and pointers can be read by this thread: they lie where the backend is.
inline bool reads_host_arrays(const routine::BackendSlot& slot) {
  return slot.backend->kind() == CHOL_BACKEND_HOST;
}

/// The pointers themselves can be read where the arrays lie in host memory: O(batch).
template <class T>
Status check_pointers(const char* function, const char* name, T* const* pointers, int64_t batch) {
  for (int64_t b = 0; b < batch; ++b)
    if (!pointers[b])
      return Status::error(CHOL_STATUS_INVALID_VALUE,
                           "%s: %s[%" PRId64 "] = NULL, must point to its elements", function, name,
                           b);
  return Status::success();
}

}  // namespace chol::api
