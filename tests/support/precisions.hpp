// The four types of elements, for suites of typed tests.
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <string>

#include "base/scalar.hpp"

namespace chol::test {

using Precisions = testing::Types<float, double, std::complex<float>, std::complex<double>>;

/// Names of such suites: s, d, c, z.
struct PrecisionNames {
  template <class T>
  static std::string GetName(int) {
    return {precision_letter<T>};
  }
};

}  // namespace chol::test
