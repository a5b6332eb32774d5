// The knobs of the methods by which one matrix on the device is factored in place, by name.
#pragma once

#include "tune/methods.hpp"

namespace chol::cuda::native {

/// The knobs of a tuning row as members.
struct Params {
  int panel = 0;              ///< columns that one kernel factors, with updates in between; 0: all
  int groups = 1;             ///< tiles that a multiprocessor works on at a time
  int leaf_threads = 0;       ///< of the block that factors a leaf of the recursion
  bool blas_updates = false;  ///< the updates in between by cuBLAS, not by the kernel of update/
  int whole_square = 0;       ///< largest square on the diagonal that cuBLAS updates as one; 0: any

  static constexpr Params of(const Choice& choice) {
    if (choice.is(kPersistentPotrf))
      return {choice.at(0), choice.at(1), choice.at(2), choice.at(3) != 0, choice.at(4)};
    return {0, 1, choice.is(kRecursivePotrf) ? choice.at(0) : 0};
  }
  constexpr Choice persistent() const {
    return {kPersistentPotrf,
            {{"panel", panel},
             {"groups", groups},
             {"leaf_threads", leaf_threads},
             {"blas_updates", blas_updates},
             {"whole_square", whole_square}}};
  }
  constexpr Choice recursive() const { return {kRecursivePotrf, {{"leaf_threads", leaf_threads}}}; }
  /// Whether a device can run this.
  constexpr bool is_valid() const {
    return panel % 64 == 0 && leaf_threads % 32 == 0 && groups >= 1 && groups <= 2;
  }
};

}  // namespace chol::cuda::native
