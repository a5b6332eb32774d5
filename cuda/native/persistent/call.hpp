// Arguments of the kernel.
#pragma once

#include "native/persistent/config.hpp"
#include "native/persistent/schedule.hpp"

namespace chol::cuda::persistent {

/// Columns [0, columns) of the n rows of a lower triangle, which have all updates by earlier
/// columns.
template <class T>
struct Call {
  T* A;
  T* const* array;  ///< in device memory, which holds A, or nullptr
  int64_t ld;
  int n, columns;
  int before;  ///< columns of the matrix before these, for info, which is set if that is 0
  int groups;  ///< of a block that take tasks
  int* info;
  int* flags;
  Doubled<T>* scratch;

  static constexpr int kOrder = Config<T>::kOrder;
  CHOL_ANYWHERE Schedule schedule() const {
    return {(n + kOrder - 1) / kOrder, (columns + kOrder - 1) / kOrder};
  }
  template <bool swapped>
  CHOL_ANYWHERE T* at(int64_t i, int64_t j) const {
    return swapped ? A + i * ld + j : A + j * ld + i;
  }
};

}  // namespace chol::cuda::persistent
