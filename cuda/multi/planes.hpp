// Products by residues on one of several devices, over the kernels of native/residues.
#pragma once

#include <memory>

#include "backend/plane_ops.hpp"
#include "multi/queues.hpp"
#include "tune/store.hpp"

namespace chol::cuda::multi {

/// @param tuning orders for which this is faster.
template <class T>
std::unique_ptr<backend::PlaneOps<T>> make_planes(Queues& queues, const TuningStore& tuning);

}  // namespace chol::cuda::multi
