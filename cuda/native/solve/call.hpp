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

/// Inverses of diagonal blocks.
template <class T>
struct Inverses {
  T* first;          ///< lines of `order` elements: element (i, i) is at i * (order + 1)
  int64_t order;     ///< of a block
  Real<T>* sums;     ///< of the rows of |L| within the blocks; nullptr: inverses are not tested
  int* substitutes;  ///< of each block: not 0 if products with its inverse are not accurate
};

/// Right-hand sides of a diagonal block.
template <class T>
struct DiagonalCall {
  Factor<T> factor;  ///< the block
  T* B;
  int64_t ldb, nrhs;
  const T* product;        ///< of the inverse and B, without gaps
  const int* substitutes;  ///< where not 0, B := the solutions by substitution, else the product
};

}  // namespace chol::cuda::solve
