// What updates columns behind a panel.
#pragma once

#include <cstdint>
#include <type_traits>

namespace chol::cuda::native {

/// Whether updates beside the kernel of persistent/ are by cuBLAS rather than by that of update/:
/// in double precision those of an upper triangle, which run at 0.78 of the rate of a lower one
/// there, and of matrices so large that the device's power bounds them, of which cuBLAS takes less.
template <class T>
constexpr bool updates_by_blas(bool swapped, int64_t n) {
  constexpr int64_t kPowerBound = 14000;
  return std::is_same_v<T, double> && (swapped || n > kPowerBound);
}

}  // namespace chol::cuda::native
