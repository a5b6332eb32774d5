// What a factorization says about its columns while it is queued: for those who bring them and
// take them away meanwhile.
#pragma once

#include <cstdint>

#include "base/status.hpp"

namespace chol::cuda {

class ColumnWatch {
 public:
  virtual ~ColumnWatch() = default;
  /// What is queued next touches columns before `columns`.
  virtual Status need(int64_t columns) = 0;
  /// What was queued so far finishes columns before `columns`.
  virtual Status finished(int64_t columns) = 0;
};

}  // namespace chol::cuda
