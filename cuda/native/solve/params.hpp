// The knobs of a solve with one matrix on the device.
#pragma once

#include "tune/methods.hpp"

namespace chol::cuda::solve {

/// The knobs of a tuning row as members.
struct Params {
  int few = 16;     ///< most right-hand sides of the kernel
  int block = 512;  ///< order of the inverted diagonal blocks for more; z: 256 on an H100
  int linked = 0;   ///< most right-hand sides of the kernel whose links have two strips

  static constexpr Params of(const Choice& choice) {
    return {choice.at(0), choice.at(1), choice.at(2)};
  }
  constexpr Choice choice() const {
    return {kOneSolve, {{"few_rhs", few}, {"block", block}, {"linked_rhs", linked}}};
  }
  /// Strips a link of the chain.
  constexpr int link_of(int64_t nrhs) const { return nrhs <= linked ? 2 : 1; }
  /// The order of the blocks is that of the tiles times a power of two.
  constexpr bool is_valid() const {
    return few >= 0 && linked >= 0 && linked <= few && block >= 64 && block <= 2048 &&
           (block & (block - 1)) == 0;
  }
};

}  // namespace chol::cuda::solve
