#include "tune/method_list.hpp"

#include <vector>

#include "tune/interleaved_methods.hpp"
#include "tune/methods.hpp"
#include "tune/solve_rows.hpp"

namespace chol::cuda {

std::span<const MethodInfo* const> all_methods() {
  static const std::vector<const MethodInfo*> all = [] {
    std::vector<const MethodInfo*> methods = {
        &kPersistentPotrf,       &kRecursivePotrf,   &kOneSolve,        &kCublasSolve,
        &kInPlaceInverse,        &kRegisterPosv,     &kLeftLookingPosv, &kRegisterPotrf,
        &kVbatchedRegisterPotrf, &kLeftLookingPotrf, &kMultiPanelPotrf, &kBatchedInverse,
        &kConditionEstimate,     &kLogDeterminant};
    for (const MethodInfo& method : solve_infos()) methods.push_back(&method);
    for (const MethodInfo* method : kInterleavedMethods) methods.push_back(method);
    return methods;
  }();
  return all;
}

}  // namespace chol::cuda
