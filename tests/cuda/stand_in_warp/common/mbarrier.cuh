#pragma once

#include <cstdint>

#include "warp.hpp"

namespace chol::cuda {

struct ProgressBarrier {
  int64_t raised;

  void prepare() { raised = 0; }
  /// By all lanes.
  void raise(unsigned phase) {
    if (phase > 0) wait(phase - 1);
    precede(place_of(phase));
    count_arrival();
    HostBlock::current->note_step();
  }
  /// By their parity, as on a device: a wait for a phase that is too early returns at once.
  void wait(unsigned phase) const {
    while (is_down(phase)) HostBlock::current->give_way();
    follow(place_of(phase));
  }

 private:
  CHOL_UNINSTRUMENTED void count_arrival() { ++raised; }
  CHOL_UNINSTRUMENTED bool is_down(unsigned phase) const { return raised / 32 % 2 == phase % 2; }
  const char* place_of(unsigned phase) const {
    return reinterpret_cast<const char*>(&raised) + phase % 2;
  }
};

}  // namespace chol::cuda
