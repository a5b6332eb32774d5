// Which family of kernels factors a batch, and how: what its kernels accept.
#pragma once

#include "batched/multi_panel/interface.hpp"
#include "batched/register/interface.hpp"
#include "tune/factor_rows.hpp"

namespace chol::cuda {

/// Whether a left-looking kernel is built and the device can run it for matrices of order n.
using CanRunLeftLooking = bool (*)(const LeftLookingParams& params, bool fused, int64_t n,
                                   bool upper, bool bordered);

/// Whether a list has a shape for order n, of so many lanes (0: any).
template <class... S>
bool has_order(ShapeList<S...>, int64_t n, int lanes) {
  return ((S::kLeast <= n && n <= S::kOrder && (lanes == 0 || lanes == S::kLanes)) || ...);
}

/// Clusters and kernels of several panels ask the device when they are launched.
template <class T>
bool accepts_choice(const Case& asked, const FactorChoice& choice, CanRunLeftLooking can_run) {
  const std::string_view method = choice.method;
  if (method == factor::kRegister)
    return has_order(SmallShapes<SmallTask::factor, T>{}, asked.n, choice.lanes);
  if (method == factor::kRegisterPosv)
    return has_order(SmallShapes<SmallTask::factor_and_solve, T>{}, asked.n, choice.lanes);
  if (method == factor::kRegisterGridPosv)
    return has_order(SmallShapes<SmallTask::factor_and_solve_one, T>{}, asked.n, choice.lanes);
  if (method == factor::kLeftLooking || method == factor::kLeftLookingPosv) {
    const bool fused = choice.bordered || method == factor::kLeftLookingPosv;
    return can_run(choice.left_looking, fused, asked.n, asked.upper, choice.bordered);
  }
  return method != factor::kVbatchedRegister || asked.n <= VbatchedRegisterShape<T>::kOrder;
}

}  // namespace chol::cuda
