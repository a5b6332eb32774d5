// The element types of kernels and of calls, for instantiations at the end of a file.
#pragma once

#include <complex>

#include "common/scalar.cuh"

#define CHOL_FOR_EACH_DEVICE_TYPE(instantiate)                                   \
  instantiate(float) instantiate(double) instantiate(chol::cuda::Complex<float>) \
      instantiate(chol::cuda::Complex<double>)
#define CHOL_FOR_EACH_HOST_TYPE(instantiate)                              \
  instantiate(float) instantiate(double) instantiate(std::complex<float>) \
      instantiate(std::complex<double>)
