#pragma once

#include "warp.hpp"

namespace chol::cuda {

/// C (8 x 8) += A (8 x 4) B (4 x 8), the elements in lanes as the device has them.
inline void tensor_multiply(double& c0, double& c1, double a, double b) {
  HostBlock& block = *HostBlock::current;
  const int lane = HostBlock::running % 32;
  block.self().operands[0] = a;
  block.self().operands[1] = b;
  __syncwarp();
  for (int k = 0; k < 4; ++k) {
    const double of_a = block.of_warp(lane / 4 * 4 + k).operands[0];
    c0 += of_a * block.of_warp(2 * (lane % 4) * 4 + k).operands[1];
    c1 += of_a * block.of_warp((2 * (lane % 4) + 1) * 4 + k).operands[1];
  }
  __syncwarp();
}
inline void tensor_multiply(double (&c)[2][2], const double (&a)[2], double b) {
  for (int i = 0; i < 2; ++i) tensor_multiply(c[i][0], c[i][1], a[i], b);
}

}  // namespace chol::cuda
