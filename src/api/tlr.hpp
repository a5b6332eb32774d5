// Common parts of the functions of chol.h on tile low rank matrices.
#pragma once

#include "api/check.hpp"
#include "api/entry.hpp"
#include "routine/tlr.hpp"
#include "tlr/control.hpp"

struct chol_tlr_s : chol::routine::TlrMatrix {};

namespace chol::api {

/// State that a function requires of a matrix.
enum class Holds : uint8_t { anything, matrix_or_factor, matrix, factor };

/// Checks that a matrix belongs to this handle and is in the required state.
Status check_matrix(const char* function, const routine::Handle& handle, const char* name,
                    chol_tlr_t A, Holds holds);

/// A call on a matrix without a handle argument: body() gives the status.
template <class Body>
chol_status_t enter_matrix(chol_tlr_t A, const char* function, Holds holds, Body&& body) noexcept {
  if (!A || A->magic != routine::TlrMatrix::kMagic) {
    thread_error() =
        Status::error(CHOL_STATUS_INVALID_VALUE,
                      "%s: A is NULL or was destroyed, must come from chol_tlr_create", function);
    return CHOL_STATUS_INVALID_VALUE;
  }
  const Status status = guarded(function, [&] {
    const Status checked = check_matrix(function, *A->handle, "A", A, holds);
    return checked.ok() ? body() : checked;
  });
  if (!status.ok()) A->handle->last_error = status;
  return static_cast<chol_status_t>(status.code());
}

/// The caller's options or the defaults, checked.
Status take_options(const char* function, const chol_tlr_options_t* given,
                    chol_tlr_options_t& options);
Status check_kernel(const char* function, const chol_kernel_t* kernel, int dim,
                    const double* points, int64_t ldp, int64_t n);
/// A new matrix of the handle.
Status make_matrix(routine::Handle& handle, chol_type_t type, int64_t n, int64_t tile,
                   std::unique_ptr<chol_tlr_s>& made);

}  // namespace chol::api
