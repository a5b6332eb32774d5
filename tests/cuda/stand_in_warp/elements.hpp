// Elements of the kernels' types for tests of kernels on the host.
#pragma once

#include <cmath>
#include <random>
#include <type_traits>

#include "common/scalar.cuh"
#include "race_detection.hpp"

namespace chol::cuda {

inline std::mt19937_64 engine(1);

template <class T>
T random_element() {
  std::uniform_real_distribution<Real<T>> uniform(-1, 1);
  if constexpr (Traits<T>::is_complex)
    return {uniform(engine), uniform(engine)};
  else
    return uniform(engine);
}
/// Calls body(element) with an element of each type; where races are looked for, of two, since the
/// barriers of all types are the same and the compiler takes long.
template <class Body>
void for_each_type(Body&& body) {
  body(float{});
  body(Complex<double>{});
  if constexpr (!kFindsRaces) {
    body(double{});
    body(Complex<float>{});
  }
}
/// The same for either storage: body(T, std::bool_constant of whether it is swapped).
template <class Body>
void for_each_storage(Body&& body) {
  for_each_type([&]<class T>(T x) {
    body(x, std::false_type{});
    body(x, std::true_type{});
  });
}
template <class T>
double magnitude(T x) {
  if constexpr (Traits<T>::is_complex)
    return std::hypot(x.re, x.im);
  else
    return std::abs(x);
}

}  // namespace chol::cuda
