// The left-looking kernels that are built (left_looking/instances.def). Rows select among them
// (tune/factor_rows.cpp).
#pragma once

#include "batched/left_looking/shape.hpp"
#include "common/instances.hpp"

namespace chol::cuda {

template <class T, bool kSwapped, bool kFused>
struct LeftLookingListOf {
  using Type = decltype(ShapeList<>{}
#define CHOL_INSTANCE(precision, triangle, warps, depth, blocks, columns, by, options) \
  +list_if<is_of<T>(#precision) && is_of(Triangle::triangle, kSwapped),                \
           LeftLookingShape<warps, depth, blocks, columns, ProductBy::by, options>>()
#define CHOL_FUSED_INSTANCE(precision, triangle, warps, depth, blocks, columns, by, options) \
  +list_if<kFused && is_of<T>(#precision) && is_of(Triangle::triangle, kSwapped),            \
           LeftLookingShape<warps, depth, blocks, columns, ProductBy::by, options>>()
#include "batched/left_looking/instances.def"
  );
};
template <class T, bool kSwapped, bool kFused>
using LeftLookingList = typename LeftLookingListOf<T, kSwapped, kFused>::Type;

}  // namespace chol::cuda
