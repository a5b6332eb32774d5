// Solutions that blocks exchange, for contexts of the host.
#pragma once

#include <algorithm>
#include <cstring>

#include "warp.hpp"

#define __grid_constant__

namespace chol::cuda::solve {

template <class R>
bool is_missing(R x) {
  unsigned char bytes[sizeof(R)];
  std::memcpy(bytes, &x, sizeof x);
  return std::all_of(bytes, bytes + sizeof x, [](unsigned char byte) { return byte == 0xFF; });
}
/// A solution is its own flag, so it is read without a preceding wait. It depends on the right-hand
/// side read by its thread, which the reader of the solution may overwrite.
template <class R>
R load_relaxed(const R* p) {
  const R x = [&] {
    const Unseen unseen;
    return *p;
  }();
  if (!is_missing(x)) follow(p);
  return x;
}
template <class R>
void store_relaxed(R* p, R x) {
  precede(p);
  const Unseen unseen;
  *p = x;
  HostBlock::current->note_step();
}
/// A thread that has waited may continue without a barrier or store until the next wait.
struct Patience {
  bool has_waited = false;
  ~Patience() {
    if (has_waited) HostBlock::current->note_step();
  }
  void lose(unsigned long long, int) {
    has_waited = true;
    HostBlock::current->give_way();
  }
};

}  // namespace chol::cuda::solve
