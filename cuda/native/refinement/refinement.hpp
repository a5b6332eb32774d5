// Refinement in two precisions on a device.
#pragma once

#include <memory>

#include "backend/refinement.hpp"
#include "base/arena.hpp"
#include "native/blas.hpp"

namespace chol::cuda {

/// @param device the number of the device
/// @param arena where its memory for matrices of order n is taken; a null one counts.
template <class T>
std::unique_ptr<backend::Refinement<T>> make_refinement(int device, Blas& blas, cudaStream_t stream,
                                                        int64_t n, Arena& arena);

}  // namespace chol::cuda
