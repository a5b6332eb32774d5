// All methods that tuning rows of a CUDA device may name.
#pragma once

#include "tune/methods.hpp"
#include "tune/plan_methods.hpp"
#include "tune/solve_rows.hpp"

namespace chol::cuda {

inline constexpr const MethodInfo* kMethods[] = {
    &kPersistentPotrf,       &kRecursivePotrf,   &kOneSolve,        &kCublasSolve,
    &kInPlaceInverse,        &kRegisterPosv,     &kLeftLookingPosv, &kRegisterPotrf,
    &kVbatchedRegisterPotrf, &kLeftLookingPotrf, &kMultiPanelPotrf, &kBatchedInverse,
    &kConditionEstimate,     &kLogDeterminant,   &kSolveInfos[0],   &kSolveInfos[1],
    &kSolveInfos[2],         &kSolveInfos[3],    &kSolveInfos[4],   &kSolveInfos[5],
    &kSolveInfos[6],         &kPlanMethods[0],   &kPlanMethods[1],  &kPlanMethods[2],
    &kPlanMethods[3],        &kPlanMethods[4]};

}  // namespace chol::cuda
