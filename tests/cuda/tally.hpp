// Counts the cases of a test of kernels on the host, and the failures.
#pragma once

#include <cstdio>

namespace chol::cuda {

struct Tally {
  int cases = 0, failures = 0;

  /// Counts a case. @return whether it was right.
  bool count(bool right) {
    ++cases;
    failures += !right;
    return right;
  }
  /// Exit code.
  int report() const {
    std::printf("%d of %d wrong\n", failures, cases);
    return failures > 0;
  }
};

}  // namespace chol::cuda
