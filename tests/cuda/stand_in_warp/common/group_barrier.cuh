#pragma once

#include "warp.hpp"

namespace chol::cuda {

template <int kThreads>
void meet_group(int) {
  HostBlock::current->meet(kThreads);
}

}  // namespace chol::cuda
