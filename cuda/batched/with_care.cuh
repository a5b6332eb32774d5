// Elimination by lanes some of whose columns are eliminated before others.
#pragma once

#include <type_traits>

#include "common/scalar.cuh"

namespace chol::cuda {

/// A lane's columns share its multiply-adds, so that eliminated ones are in the way of those of
/// others. With care they are left alone; without, zero times something is subtracted from them,
/// which is not a number if that is not finite. Care is free where multiply-adds have conditions,
/// which those of double precision do not get.
/// @param eliminate loads and eliminates, given a std::bool_constant, whether with care; returns
/// info.
template <class T, class Eliminate>
__device__ __forceinline__ int with_care(Eliminate&& eliminate) {
  constexpr bool kFree = sizeof(Real<T>) == 4;
  int info = eliminate(std::bool_constant<kFree>{});
  // What is not finite ends in a bad pivot. Columns before it may be spoilt then: once more.
  if constexpr (!kFree)
    if (__any_sync(kFullWarp, info != 0)) info = eliminate(std::true_type{});
  return info;
}

}  // namespace chol::cuda
