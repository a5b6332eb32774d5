// All methods that tuning rows of a CUDA device may name.
#pragma once

#include <array>

#include "tune/interleaved_methods.hpp"
#include "tune/methods.hpp"
#include "tune/solve_rows.hpp"

namespace chol::cuda {

inline constexpr auto kMethods = [] {
  constexpr const MethodInfo* kFactorMethods[] = {
      &kPersistentPotrf,       &kRecursivePotrf,   &kOneSolve,        &kCublasSolve,
      &kInPlaceInverse,        &kRegisterPosv,     &kLeftLookingPosv, &kRegisterPotrf,
      &kVbatchedRegisterPotrf, &kLeftLookingPotrf, &kMultiPanelPotrf, &kBatchedInverse,
      &kConditionEstimate,     &kLogDeterminant};
  std::array<const MethodInfo*,
             std::size(kFactorMethods) + std::size(kSolveInfos) + std::size(kInterleavedMethods)>
      all{};
  size_t count = 0;
  for (const MethodInfo* method : kFactorMethods) all[count++] = method;
  for (const MethodInfo& method : kSolveInfos) all[count++] = &method;
  for (const MethodInfo* method : kInterleavedMethods) all[count++] = method;
  return all;
}();

}  // namespace chol::cuda
