// Elements of the kernels' types for tests of kernels on the host.
#pragma once

#include <cmath>
#include <complex>
#include <random>
#include <type_traits>
#include <vector>

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
/// The element type of chol.h for one of the kernels.
template <class D>
struct PublicOf {
  using Type = D;
};
template <class R>
struct PublicOf<Complex<R>> {
  using Type = std::complex<R>;
};
/// Orders to test: few under ThreadSanitizer, where each access is slow.
inline std::vector<int> orders_to_try(const std::vector<int>& all, const std::vector<int>& few) {
  return kFindsRaces ? few : all;
}
/// Calls body(element) with an element of each type.
template <class Body>
void for_each_type(Body&& body) {
  body(float{});
  body(double{});
  body(Complex<float>{});
  body(Complex<double>{});
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
