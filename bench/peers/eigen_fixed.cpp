// The orders known at compile time, one object file for each element type (CHOL_BENCH_ELEMENT).
#include <complex>

#include "peers/eigen_llt.hpp"

namespace chol::bench {
namespace {

template <class T, int... kOrders>
EigenKernel<T> pick(int64_t n, std::integer_sequence<int, kOrders...>) {
  EigenKernel<T> kernel = nullptr;
  ((kOrders == n ? void(kernel = &eigen_factor<T, kOrders, Eigen::Lower>) : void()), ...);
  return kernel;
}

}  // namespace

template <class T>
EigenKernel<T> eigen_fixed_kernel(int64_t n) {
#ifdef CHOL_BENCH_FEW_ORDERS  // where nothing is measured
  using Real = std::integer_sequence<int, 8>;
  using Complex = Real;
#else
  using Real = std::integer_sequence<int, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 32>;
  using Complex = std::integer_sequence<int, 4, 8, 12, 16, 24, 32>;
#endif
  return pick<T>(n, std::conditional_t<Eigen::NumTraits<T>::IsComplex, Complex, Real>{});
}
template EigenKernel<CHOL_BENCH_ELEMENT> eigen_fixed_kernel<CHOL_BENCH_ELEMENT>(int64_t);

}  // namespace chol::bench
