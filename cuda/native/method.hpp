// The methods by which one matrix on the device is factored in place, and their knobs by name.
#pragma once

#include "tune/plan.hpp"

namespace chol::cuda::native {

/// A knob of a method, and the values that it takes.
struct Knob {
  const char* name;
  int least, most, step;

  constexpr bool takes(int value) const {
    return value >= least && value <= most && (value - least) % step == 0;
  }
};
/// Columns that one kernel factors, with products by cuBLAS between; 0: all.
inline constexpr Knob kPanel{"panel", 0, 1 << 20, 64};
/// Tiles that a multiprocessor works on at a time.
inline constexpr Knob kGroups{"groups", 1, 2, 1};

/// The knobs of a tuning row under their names here.
struct Params {
  int panel;         ///< of `persistent`
  int groups;        ///< of `persistent`
  int leaf_threads;  ///< of the block that factors a leaf of `blocked`

  static constexpr Params of(const Plan& plan) { return {plan.block, plan.tile, plan.threads}; }
  constexpr Plan plan() const { return {Method::persistent, panel, groups, leaf_threads}; }
};

/// Whether a plan of one matrix is one of these methods.
constexpr bool is_native(const Plan& plan) {
  return plan.method == Method::blocked || plan.method == Method::persistent;
}

}  // namespace chol::cuda::native
