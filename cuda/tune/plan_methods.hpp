// Methods of interleaved batches, whose knobs are those of Plan: interleaved_rows.hpp says how they
// read.
#pragma once

#include <climits>
#include <iterator>

#include "tune/plan.hpp"
#include "tune/row.hpp"

namespace chol::cuda {

inline constexpr Knob kPlanKnobs[] = {{"block", 0, INT_MAX, "see docs/tuning.md"},
                                      {"tile", 0, INT_MAX, "see docs/tuning.md"},
                                      {"threads", 0, INT_MAX, "see docs/tuning.md"}};
/// In the order of Method.
inline constexpr MethodInfo kPlanMethods[] = {{"lanes", kPlanKnobs},
                                              {"panel", kPlanKnobs},
                                              {"tiles", kPlanKnobs},
                                              {"fused", kPlanKnobs},
                                              {"blocked", kPlanKnobs}};
inline bool is_plan(const Choice& choice) {
  return std::begin(kPlanMethods) <= choice.method && choice.method < std::end(kPlanMethods);
}

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
