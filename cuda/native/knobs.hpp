// The knobs of the methods by which one matrix on the device is factored in place, by name.
#pragma once

#include "tune/plan.hpp"

namespace chol::cuda::native {

/// The knobs of a tuning row under their names here.
struct Params {
  int panel;         ///< columns that one kernel factors, with updates between; 0: all
  int groups;        ///< tiles that a multiprocessor works on at a time
  int leaf_threads;  ///< of the block that factors a leaf of the recursion

  static constexpr Params of(const Plan& plan) { return {plan.block, plan.tile, plan.threads}; }
  constexpr Plan plan() const { return {Method::persistent, panel, groups, leaf_threads}; }
};

/// A knob, and the values that it takes.
struct Knob {
  const char* name;
  int (*value)(const Params& params);
  int least, most, step;

  bool takes(const Params& params) const {
    const int given = value(params);
    return given >= least && given <= most && (given - least) % step == 0;
  }
};
inline constexpr Knob kPersistentKnobs[] = {
    {"panel", [](const Params& params) { return params.panel; }, 0, 1 << 20, 64},
    {"groups", [](const Params& params) { return params.groups; }, 1, 2, 1}};
inline constexpr Knob kBlockedKnobs[] = {
    {"leaf_threads", [](const Params& params) { return params.leaf_threads; }, 0, 1024, 32}};

/// Whether a plan of one matrix is one of these methods.
constexpr bool is_native(const Plan& plan) {
  return plan.method == Method::blocked || plan.method == Method::persistent;
}

}  // namespace chol::cuda::native
