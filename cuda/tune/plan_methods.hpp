// Methods whose knobs are still those of Plan: cuda/tune/rows.cpp says how they read.
#pragma once

#include <climits>

#include "tune/plan.hpp"
#include "tune/row.hpp"

namespace chol::cuda {

inline constexpr Knob kPlanKnobs[] = {{"block", 0, INT_MAX, "see docs/tuning.md"},
                                      {"tile", 0, INT_MAX, "see docs/tuning.md"},
                                      {"threads", 0, INT_MAX, "see docs/tuning.md"}};
/// In the order of Method.
inline constexpr MethodInfo kPlanMethods[] = {{"lanes", kPlanKnobs},     {"panel", kPlanKnobs},
                                              {"tiles", kPlanKnobs},     {"fused", kPlanKnobs},
                                              {"blocked", kPlanKnobs},   {"blas_tiles", kPlanKnobs},
                                              {"persistent", kPlanKnobs}};
inline constexpr const MethodInfo* kMethods[] = {&kPlanMethods[0], &kPlanMethods[1],
                                                 &kPlanMethods[2], &kPlanMethods[3],
                                                 &kPlanMethods[4], &kPlanMethods[6]};

constexpr Plan plan_of(const Choice& choice) {
  return {static_cast<Method>(choice.method - kPlanMethods), choice.at(0), choice.at(1),
          choice.at(2)};
}
constexpr Choice choice_of(const Plan& plan) {
  Choice choice(kPlanMethods[static_cast<int>(plan.method)]);
  choice.values = {plan.block, plan.tile, plan.threads};
  return choice;
}
/// The plan of those rows for order n.
inline Plan plan_for(const RowTable& rows, int64_t n) {
  Case asked;
  asked.n = n;
  return plan_of(rows.choose(asked));
}

}  // namespace chol::cuda
