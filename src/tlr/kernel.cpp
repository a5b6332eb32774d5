#include "tlr/kernel.hpp"

#include "base/precisions.h"

namespace chol::tlr {

template <class T>
CovarianceKernel<T>::CovarianceKernel(backend::TileOps<T>& ops, const chol_kernel_t& kernel,
                                      int dim, int64_t n, const double* points, int64_t ldp)
    : covariance_{kernel.kind, kernel.variance, kernel.nugget, kernel.nu, dim, n, nullptr} {
  std::vector<double> scaled(static_cast<size_t>(dim) * static_cast<size_t>(n));
  for (int d = 0; d < dim; ++d) {
    const double length = kernel.length[kernel.lengths == 1 ? 0 : d];
    for (int64_t i = 0; i < n; ++i) scaled[d * n + i] = points[d + i * ldp] / length;
  }
  const auto count =
      static_cast<int64_t>((scaled.size() * sizeof(double) + sizeof(T) - 1) / sizeof(T));
  scaled.resize((static_cast<size_t>(count) * sizeof(T) + sizeof(double) - 1) / sizeof(double));
  coordinates_ = ops.buffer(count);
  ops.transfer(count, 1, reinterpret_cast<const T*>(scaled.data()), count, coordinates_.get(),
               count);
  covariance_.coordinates = reinterpret_cast<const double*>(coordinates_.get());
}

#define CHOL_INSTANTIATE(prefix, T, R) template class CovarianceKernel<T>;
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
