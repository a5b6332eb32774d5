// The kernels of shared/factor.cuh that are built (shared/instances.def).
#pragma once

#include "common/instances.hpp"
#include "interleaved/shapes.hpp"
#include "interleaved/task.hpp"

namespace chol::cuda {

template <InterleavedTask kTask, class T>
struct SharedShapesOf {
  using List = decltype(ShapeList<>{}
#define CHOL_INSTANCE(precision, task, ...)                        \
  +list_if<is_of<T>(#precision) && InterleavedTask::task == kTask, \
           InterleavedSharedShape<__VA_ARGS__>>()
#include "interleaved/shared/instances.def"
  );
};

}  // namespace chol::cuda
