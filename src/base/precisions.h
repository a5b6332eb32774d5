// The four precisions, the one place that lists them.
//
// CHOL_FOR_EACH_PRECISION(X) expands X(prefix, Element, Real): the letter of the routine names, the
// C++ element type behind the C one in chol.h, and its real type.
#pragma once

#include <complex>

#define CHOL_FOR_EACH_PRECISION(X) \
  X(s, float, float)               \
  X(d, double, double)             \
  X(c, std::complex<float>, float) \
  X(z, std::complex<double>, double)
