// One matrix in host memory, factored on the device.
#pragma once

#include "native/one_matrix.hpp"
#include "native/staging.hpp"

namespace chol::cuda {

template <class T>
struct HostMatrixWorkspace {
  T* A = nullptr;
  int64_t ld = 1;
  int* info = nullptr;
  OneMatrixWorkspace<T> one;

  static HostMatrixWorkspace carve(Arena& arena, int64_t n);
};

struct HostMatrixThreads {
  int leaf = 0;  ///< threads of the device's block that factors a leaf
  int copy = 1;  ///< of the host
};

/// @param[in,out] A in host memory.
/// @param[out] info in host memory, written on success.
/// @param[out] factored columns of A that have been written; the others are unchanged.
template <class T>
Status factor_host_matrix(const TriangleView& A, const HostMatrixThreads& threads,
                          const HostMatrixWorkspace<T>& work, Blas& blas, Staging& staging,
                          int* info, int64_t* factored);

}  // namespace chol::cuda
