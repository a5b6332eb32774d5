// posv of one matrix in two precisions: the factor of the lower one as the preconditioner of
// conjugate gradients in the working one.
#pragma once

#include "backend/backend.hpp"
#include "routine/handle.hpp"

namespace chol::routine {

/// As LAPACK's dsposv and zcposv.
template <class T>
struct MixedSystem {
  chol_uplo_t uplo;
  int64_t n, nrhs;
  T* A;
  int64_t lda;
  const T* B;
  int64_t ldb;
  T* X;
  int64_t ldx;
  int *iter, *info;  ///< on the host
};

/// Solves a system whose arguments were checked on the backend in `slot`, and waits for it.
template <class T>
Status run_mixed(Handle& handle, BackendSlot& slot, const char* function,
                 const MixedSystem<T>& system);

}  // namespace chol::routine
