// The kernels of cluster/kernel.cuh that are built (cluster/instances.def).
#pragma once

#include "batched/left_looking/shape.hpp"
#include "common/instances.hpp"

namespace chol::cuda {

template <class T, bool kSwapped>
struct ClusterListOf {
  using Type = decltype(ShapeList<>{}
#define CHOL_INSTANCE(precision, triangle, warps, depth, blocks, columns, by, options) \
  +list_if<is_of<T>(#precision) && is_of(Triangle::triangle, kSwapped),                \
           LeftLookingShape<warps, depth, blocks, columns, ProductBy::by, options>>()
#include "batched/cluster/instances.def"
  );
};
template <class T, bool kSwapped>
using ClusterList = typename ClusterListOf<T, kSwapped>::Type;

}  // namespace chol::cuda
