// Elimination in a cyclic layout, in which lanes finish their columns at different steps.
#pragma once

#include <type_traits>

#include "common/scalar.cuh"

namespace chol::cuda {

/// All lanes execute the multiply-adds of a column, also those that have finished it. Masked,
/// finished columns keep their values; unmasked, a product with zero is subtracted from them, which
/// changes them if the other factor is not finite, since 0·NaN is NaN. Masks are free in single
/// precision, whose multiply-adds are predicated; in double precision the elimination runs unmasked
/// first.
/// @param eliminate loads and eliminates, given a std::bool_constant, whether masked; returns info.
template <class T, class Eliminate>
__device__ __forceinline__ int factor_masked_if_needed(Eliminate&& eliminate) {
  constexpr bool kFree = sizeof(Real<T>) == 4;
  int info = eliminate(std::bool_constant<kFree>{});
  // Non-finite elements lead to a bad pivot and may have changed finished columns: run again,
  // masked.
  if constexpr (!kFree)
    if (__any_sync(kFullWarp, info != 0)) info = eliminate(std::true_type{});
  return info;
}

}  // namespace chol::cuda
