// The element types of the kernels, for instantiations at the end of a file.
#pragma once

#include "common/scalar.cuh"

#define CHOL_FOR_EACH_DEVICE_TYPE(instantiate)                                   \
  instantiate(float) instantiate(double) instantiate(chol::cuda::Complex<float>) \
      instantiate(chol::cuda::Complex<double>)
