#pragma once

#include "warp.hpp"

namespace chol::cuda {

/// C (8 x 8) += A (8 x 4) B (4 x 8), the elements in lanes as the device has them.
inline void tensor_multiply(double& c0, double& c1, double a, double b) {
  HostBlock& block = *HostBlock::current;
  const int lane = HostBlock::running % 32;
  put_relaxed(block.self().operands[0], a);
  put_relaxed(block.self().operands[1], b);
  block.exchange();
  const auto given = [&](int its_lane, int k) {
    return get_relaxed<double>(block.of_warp(its_lane).operands[k]);
  };
  for (int k = 0; k < 4; ++k) {
    const double of_a = given(lane / 4 * 4 + k, 0);
    c0 += of_a * given(2 * (lane % 4) * 4 + k, 1);
    c1 += of_a * given((2 * (lane % 4) + 1) * 4 + k, 1);
  }
  block.exchange();
}
inline void tensor_multiply(double (&c)[2][2], const double (&a)[2], double b) {
  for (int i = 0; i < 2; ++i) tensor_multiply(c[i][0], c[i][1], a[i], b);
}

}  // namespace chol::cuda
