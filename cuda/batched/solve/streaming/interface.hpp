// Interface of the solve that streams the triangle.
#pragma once

#include "common/batch_view.cuh"
#include "common/launch.hpp"

namespace chol::cuda {

/// Solves of any order. @param inverse the right-hand sides are the columns of the identity, of
/// whose solution only the lower triangle is needed.
template <class T>
Status run_stream_solve(const BatchProblem<T>& problem, bool inverse, cudaStream_t stream);

}  // namespace chol::cuda
