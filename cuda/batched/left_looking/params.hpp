// Template parameters of a kernel of left_looking/kernel.cuh.
#pragma once

#include "tune/params.hpp"

namespace chol::cuda {

inline constexpr Knob kLeftLookingKnobs[] = {
    {"warps", 1, 8, "warps of the block that works on a matrix"},
    {"depth", 8, 16, "columns to the left that are staged at a time"},
    {"blocks", 1, 24, "thread blocks a multiprocessor, which bound the registers"},
    {"columns", 8, 32, "columns of a block column"},
    {"mma", 0, 1, "whether tensor cores multiply"},
    {"options", 0, 15, "a set of LeftLookingOption (left_looking/shape.hpp)"},
    {"bordered", 0, 1, "1: the last row is factored separately"}};

struct LeftLookingParams {
  int warps = 0;    ///< of a matrix
  int depth = 0;    ///< columns that are staged at a time
  int blocks = 0;   ///< thread blocks a multiprocessor, which bound the registers
  int columns = 0;  ///< of a block column
  bool mma = false;
  int options = 0;  ///< a set of LeftLookingOption

  static constexpr LeftLookingParams of(const Params& params) {
    return {params.of("warps"),   params.of("depth"),    params.of("blocks"),
            params.of("columns"), params.of("mma") != 0, params.of("options")};
  }
  constexpr Params params(bool bordered) const {
    return {{"warps", warps}, {"depth", depth},     {"blocks", blocks},    {"columns", columns},
            {"mma", mma},     {"options", options}, {"bordered", bordered}};
  }
  friend constexpr bool operator==(const LeftLookingParams&, const LeftLookingParams&) = default;
};

}  // namespace chol::cuda
