// The kernels of warp/block_kernel.cuh that are built (warp/instances.def).
#pragma once

#include "common/instances.hpp"
#include "interleaved/shapes.hpp"
#include "interleaved/task.hpp"

namespace chol::cuda {

template <InterleavedTask kTask, class T>
struct WarpShapesOf {
  static constexpr auto kAs =
      kTask == InterleavedTask::solve ? InterleavedTask::solve : InterleavedTask::factor;
  using List = decltype(ShapeList<>{}
#define CHOL_INSTANCE(precision, task, ...) \
  +list_if<is_of<T>(#precision) && InterleavedTask::task == kAs, WarpFactorShape<__VA_ARGS__>>()
#include "interleaved/warp/instances.def"
  );
};
template <InterleavedTask kTask, class T>
using WarpShapes = typename WarpShapesOf<kTask, T>::List;

}  // namespace chol::cuda
