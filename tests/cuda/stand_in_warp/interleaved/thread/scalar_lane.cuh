#pragma once

#include "common/scalar.cuh"
#include "warp.hpp"

// Access to elements of matrices across lanes, without arithmetic.
namespace chol::gpu_lane {

template <class R>
struct Vec {
  R v;
};
template <class V>
struct ComplexLane {
  V re, im;
};
template <class E>
struct LaneMatrix {
  E* base;
  int64_t rs, cs;
  E& at(int64_t i, int64_t j) const { return base[i * rs + j * cs]; }
};

}  // namespace chol::gpu_lane

namespace chol::cuda {

template <class T>
struct LaneElement {
  using Type = gpu_lane::Vec<T>;
};
template <class R>
struct LaneElement<Complex<R>> {
  using Type = gpu_lane::ComplexLane<gpu_lane::Vec<R>>;
};
template <class T>
using Lane = typename LaneElement<T>::Type;
template <class E>
using LaneMatrix = gpu_lane::LaneMatrix<E>;

}  // namespace chol::cuda
