// The kernels' element type for each of the library's.
#pragma once

#include <complex>

#include "common/scalar.cuh"

namespace chol::cuda {

template <class T>
struct DeviceScalar {
  using Type = T;
};
template <class R>
struct DeviceScalar<std::complex<R>> {
  using Type = Complex<R>;
};
/// The kernels' type with the bits of the public T.
template <class T>
using Device = typename DeviceScalar<T>::Type;

}  // namespace chol::cuda
