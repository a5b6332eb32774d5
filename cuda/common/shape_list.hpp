// Lists of kernel shapes.
#pragma once

#include "common/scalar.cuh"

namespace chol::cuda {

template <class... Shapes>
struct ShapeList {};

/// Multiplier of kernels that can be built for either. Double precision is always by tensor cores,
/// single precision by those of double precision where the device has them at full rate.
enum class ProductBy : bool { fma, tensor };

/// Whether one of these shapes is of that many threads.
template <class... Shape>
constexpr bool has_threads(ShapeList<Shape...>, [[maybe_unused]] int threads) {
  return ((threads == 32 * Shape::kWarps) || ...);
}

}  // namespace chol::cuda
