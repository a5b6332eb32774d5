// Progress reports of a factorization while it is being queued, for concurrent transfers of its
// columns.
#pragma once

#include <cstdint>

#include "base/status.hpp"

namespace chol::cuda {

class ColumnWatch {
 public:
  virtual ~ColumnWatch() = default;
  /// The work queued next accesses columns before `columns`.
  virtual Status need(int64_t columns) = 0;
  /// The work queued so far finishes columns before `columns`.
  virtual Status finished(int64_t columns) = 0;
};

}  // namespace chol::cuda
