// Modification of diagonal tiles on the host, which is rarely needed.
#include "backend/tile_ops.hpp"
#include "base/precisions.h"
#include "host/conjugate.hpp"
#include "host/modified_cholesky.hpp"

namespace chol::cuda::tlr {
namespace {

template <class T>
void multiply(const backend::Product<T>& p) {
  using host::conjugate;
  for (int64_t j = 0; j < p.n; ++j)
    for (int64_t i = 0; i < p.m; ++i) {
      T sum(0);
      for (int64_t k = 0; k < p.k; ++k) {
        const T a = p.adjoint_a ? conjugate(p.A[k + i * p.lda]) : p.A[i + k * p.lda];
        sum += a * (p.adjoint_b ? conjugate(p.B[j + k * p.ldb]) : p.B[k + j * p.ldb]);
      }
      T& c = p.C[i + j * p.ldc];
      c = p.sign == 0 ? sum : p.sign > 0 ? c + sum : c - sum;
    }
}

}  // namespace

template <class T>
void make_definite_on_host(T* tile, int64_t n, RealOf<T> least) {
  host::modified_cholesky(multiply<T>, least, tile, n);
}

#define CHOL_INSTANTIATE(prefix, T, R) template void make_definite_on_host<T>(T*, int64_t, R);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda::tlr
