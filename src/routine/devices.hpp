// One matrix over the named devices of a handle. Calls are synchronous.
#pragma once

#include "backend/backend.hpp"
#include "routine/handle.hpp"

namespace chol::routine {

/// A matrix in block columns distributed cyclically over the devices, with checked arguments.
template <class T>
struct CyclicProblem {
  chol_uplo_t uplo;
  int64_t n, nrhs = 0, nb;
  T* const* A;  ///< of each device; in host memory, as lda
  const int64_t* lda;
  T* B = nullptr;  ///< on the host or any device
  int64_t ldb = 1;
};

template <class T>
Status potrf_cyclic(Handle& handle, const char* function, const CyclicProblem<T>& problem,
                    int* info);
/// B := A^-1 B with the factor A.
template <class T>
Status potrs_cyclic(Handle& handle, const char* function, const CyclicProblem<T>& problem);
/// B is not changed when info is not 0.
template <class T>
Status posv_cyclic(Handle& handle, const char* function, const CyclicProblem<T>& problem,
                   int* info);
/// The inverse over the factor.
template <class T>
Status potri_cyclic(Handle& handle, const char* function, const CyclicProblem<T>& problem,
                    int* info);
template <class T>
Status logdet_cyclic(Handle& handle, const char* function, const CyclicProblem<T>& problem,
                     RealOf<T>* logdet);
/// From the whole matrix at B to the devices, or back.
template <class T>
Status scatter_cyclic(Handle& handle, const char* function, const CyclicProblem<T>& problem);
template <class T>
Status gather_cyclic(Handle& handle, const char* function, const CyclicProblem<T>& problem);

}  // namespace chol::routine
