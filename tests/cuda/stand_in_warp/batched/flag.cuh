#pragma once

#include "warp.hpp"

namespace chol::cuda {

struct Flag {
  int64_t raised;

  void prepare() { raised = 0; }
  /// By all lanes.
  void raise(unsigned phase) {
    if (phase > 0) wait(phase - 1);
    ++raised;
    HostBlock::current->note_step();
  }
  /// By their parity, as on a device: who waits for a phase before its turn does not wait.
  void wait(unsigned phase) const {
    while (raised / 32 % 2 == phase % 2) HostBlock::current->give_way();
  }
};

}  // namespace chol::cuda
