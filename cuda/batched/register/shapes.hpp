// Shapes of the kernels of matrices in registers, and those that are built
// (register/instances.def).
#pragma once

#include "common/instances.hpp"

namespace chol::cuda {

/// Tasks with one right-hand side use a grid of lanes.
enum class SmallTask { factor, solve, factor_and_solve, solve_one, factor_and_solve_one };
template <SmallTask kTask>
inline constexpr bool kFactors = !(kTask == SmallTask::solve || kTask == SmallTask::solve_one);
template <SmallTask kTask>
inline constexpr bool kIsOfOne = kTask >= SmallTask::solve_one;
/// Orders up to kOrder, kLanes lanes a matrix.
template <int kMaxOrder, int kLaneCount>
struct SmallClass {
  static constexpr int kLeast = 0, kOrder = kMaxOrder, kLanes = kLaneCount;
};
/// register/kernel.cuh: the same, warps a block, blocks a multiprocessor (which bounds the
/// registers).
template <int kMaxOrder, int kLaneCount, int kWarpCount, int kBlockCount>
struct SmallShape : SmallClass<kMaxOrder, kLaneCount> {
  static constexpr int kWarps = kWarpCount, kBlocks = kBlockCount;
};
/// For one right-hand side, from order kLeast on.
template <int kLeastOrder, int kMaxOrder, int kLaneCount, int kWarpCount, int kBlockCount>
struct GridShape : SmallShape<kMaxOrder, kLaneCount, kWarpCount, kBlockCount> {
  static constexpr int kLeast = kLeastOrder;
};
/// register/vbatched_kernel.cuh: warps a block, blocks a multiprocessor, classes in the order in
/// which they are worked on.
template <int kWarpCount, int kBlockCount, class... Class>
struct VbatchedShape {
  static constexpr int kWarps = kWarpCount, kBlocks = kBlockCount;
  static constexpr int kShare = 16 * kWarps;  ///< most matrices of a block
  static constexpr int kOrder = larger(Class::kOrder...);
};

/// The kernels of a task, in the order in which they are tried.
template <SmallTask kTask, class T>
struct SmallShapesOf {
  using Type = decltype(ShapeList<>{}
#define CHOL_INSTANCE(precision, task, ...) \
  +list_if<is_of<T>(#precision) && SmallTask::task == kTask, SmallShape<__VA_ARGS__>>()
#define CHOL_GRID_INSTANCE(precision, task, ...) \
  +list_if<is_of<T>(#precision) && SmallTask::task == kTask, GridShape<__VA_ARGS__>>()
#include "batched/register/instances.def"
  );
};
template <SmallTask kTask, class T>
using SmallShapes = typename SmallShapesOf<kTask, T>::Type;

/// Kernels that are tried first in a solve with one right-hand side.
template <class T>
struct OneRhsShapesOf {
  using Type = decltype(ShapeList<>{}
#define CHOL_ONE_RHS_INSTANCE(precision, ...) \
  +list_if<is_of<T>(#precision), SmallShape<__VA_ARGS__>>()
#include "batched/register/instances.def"
  );
};
template <class T>
using OneRhsShapes = typename OneRhsShapesOf<T>::Type;

/// The one of register/vbatched_kernel.cuh.
template <class T>
struct VbatchedShapeOf {
  template <class Shape>
  static Shape only(ShapeList<Shape>);
  using Type = decltype(only(ShapeList<>{}
#define CHOL_VBATCHED_INSTANCE(precision, ...) \
  +list_if<is_of<T>(#precision), VbatchedShape<__VA_ARGS__>>()
#include "batched/register/instances.def"
                             ));
};
template <class T>
using VbatchedRegisterShape = typename VbatchedShapeOf<T>::Type;

}  // namespace chol::cuda
