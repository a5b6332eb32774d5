// What the kernel that solves with one matrix is told of a call.
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
  const int* info;        ///< nothing is done unless it is 0; or nullptr
  int* begun;             ///< strips that were taken, less one
  T *forward, *backward;  ///< solutions of the sweeps
  T* sums;                ///< of strips that others of their link wait for, in either sweep
  T* near_tiles;          ///< of each block those of the strips just before its own, multiplied

  CHOL_ANYWHERE Order order() const {
    return Order{(factor.n + Config<T>::kOrder - 1) / Config<T>::kOrder};
  }
};

}  // namespace chol::cuda::solve
