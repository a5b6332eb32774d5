// The numbers that a kernel of left_looking/kernel.cuh is compiled for.
#pragma once

namespace chol::cuda {

struct LeftLookingParams {
  int warps = 0;    ///< of a matrix
  int depth = 0;    ///< columns that are staged at a time
  int blocks = 0;   ///< thread blocks a multiprocessor, which bound the registers
  int columns = 0;  ///< of a block column
  bool mma = false;
  int options = 0;  ///< a set of LeftLookingOption

  friend constexpr bool operator==(const LeftLookingParams&, const LeftLookingParams&) = default;
};

}  // namespace chol::cuda
