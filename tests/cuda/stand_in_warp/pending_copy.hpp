// A copy that a thread of a block has started.
#pragma once

namespace chol::cuda {

/// An asynchronous copy, executed when it is waited for.
struct PendingCopy {
  unsigned char* to;
  const void* from;
  int bytes, zeros;  ///< which follow
};

}  // namespace chol::cuda
