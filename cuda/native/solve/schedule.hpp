// The order in which a solve with one matrix takes its strips.
#pragma once

#include "native/persistent/schedule.hpp"

namespace chol::cuda::solve {

/// A strip of unknowns, in the sweep with L or in the one with L^H that follows it.
struct Strip {
  bool forward;
  int index;
};

/// All strips of the first sweep, then those of the second one from the last to the first.
///
/// A strip depends only on strips before it in this order. Running blocks take strips in this
/// order, and each finishes its strip before it takes another: the first unfinished strip waits for
/// none. Progress is therefore guaranteed with one running block.
struct Order {
  int strips;

  CHOL_ANYWHERE int count() const { return 2 * strips; }
  CHOL_ANYWHERE Strip at(int position) const {
    if (position < strips) return {true, position};
    return {false, 2 * strips - 1 - position};
  }
  /// Strips of the same sweep before this one, all of which it waits for.
  CHOL_ANYWHERE int before(Strip strip) const {
    return strip.forward ? strip.index : strips - 1 - strip.index;
  }
  /// The kth strip of a sweep.
  CHOL_ANYWHERE int in_sweep(bool forward, int k) const { return forward ? k : strips - 1 - k; }
};

}  // namespace chol::cuda::solve
