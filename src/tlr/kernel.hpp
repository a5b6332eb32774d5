// Covariance functions of points, evaluated by the operations of a backend.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/tile_ops.hpp"
#include "chol.h"

namespace chol::tlr {

/// A covariance function of the caller with the points of its matrix, in the memory of the
/// operations.
template <class T>
class CovarianceKernel {
 public:
  CovarianceKernel(backend::TileOps<T>& ops, const chol_kernel_t& kernel, int dim, int64_t n,
                   const double* points, int64_t ldp);
  const backend::Covariance& covariance() const { return covariance_; }

 private:
  /// Storage for doubles in elements of type T: an element holds one double or a part of it.
  Buffer<T> coordinates_;
  backend::Covariance covariance_;
};

}  // namespace chol::tlr
