// The kernels of cluster/kernel.cuh that are built, for each element type and storage. Block
// columns are as wide as those of the kernels for larger batches.
#pragma once

#include "batched/left_looking/shape.hpp"

namespace chol::cuda {

template <class T>
struct ClusterShapes;
template <>
struct ClusterShapes<float> {
  using Column =
      ShapeList<LeftLookingShape<4, 16, 4, 32, ProductBy::tensor, kPastFirst | kReadsAhead>>;
  using Row = ShapeList<LeftLookingShape<4, 16, 4, 32, ProductBy::tensor, kReadsAhead>>;
};
template <>
struct ClusterShapes<double> {
  using Column = ShapeList<LeftLookingShape<8, 8, 2, 32, ProductBy::tensor>>;
  using Row = ShapeList<LeftLookingShape<4, 16, 2, 32, ProductBy::tensor, kReadsAhead>,
                        LeftLookingShape<8, 16, 1, 32, ProductBy::tensor>>;
};
template <>
struct ClusterShapes<Complex<float>> {
  using Column = ShapeList<LeftLookingShape<4, 16, 3, 16, ProductBy::tensor>,
                           LeftLookingShape<8, 16, 1, 16, ProductBy::tensor, kReadsAhead>>;
  using Row =
      ShapeList<LeftLookingShape<4, 16, 3, 16, ProductBy::tensor, kPast>,
                LeftLookingShape<8, 16, 1, 16, ProductBy::tensor, kPastFirst | kReadsAhead>>;
};
template <>
struct ClusterShapes<Complex<double>> {
  using Column = ShapeList<LeftLookingShape<4, 8, 2, 16, ProductBy::tensor>,
                           LeftLookingShape<8, 8, 1, 16, ProductBy::tensor>>;
  using Row = Column;
};

}  // namespace chol::cuda
