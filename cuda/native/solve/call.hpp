// Arguments of the kernel that solves with one matrix.
#pragma once

#include "native/solve/config.hpp"
#include "native/solve/schedule.hpp"

namespace chol::cuda::solve {

template <class T>
struct Call {
  Factor<T> factor;
  T* B;
  int64_t ldb;
  int nrhs;
  const int* info;        ///< the kernel does nothing unless it is 0; or nullptr
  int* begun;             ///< number of strips taken, minus one
  T *forward, *backward;  ///< solutions of the sweeps
  T* sums;                ///< sums of strips on which others of their link depend, in either sweep
  T* near_tiles;  ///< of each block: products with the tiles of the strips directly before its own

  CHOL_ANYWHERE Order order() const {
    return Order{(factor.n + Config<T>::kOrder - 1) / Config<T>::kOrder};
  }
};

}  // namespace chol::cuda::solve
