// Orders of potrf whose last row is a border (left_looking/bordering.cuh): where that is faster,
// measured on an H200. They are the same for any number of matrices, which so does not change a
// bit.
#pragma once

#include <cstdint>

#include "common/scalar.cuh"

namespace chol::cuda {

struct EvenlySpaced {
  int first, last, step;
};
template <class T>
struct BorderedOrders;
template <>
struct BorderedOrders<float> {
  static constexpr EvenlySpaced kByColumns[] = {{49, 49, 1}, {81, 97, 16}, {161, 353, 32}};
  static constexpr EvenlySpaced kByRows[] = {{65, 113, 16}, {129, 449, 32}};
};
template <>
struct BorderedOrders<double> {
  static constexpr EvenlySpaced kByColumns[] = {{49, 65, 16}, {113, 145, 16}};
  static constexpr EvenlySpaced kByRows[] = {{49, 97, 16}, {129, 449, 32}};
};
template <>
struct BorderedOrders<Complex<float>> {
  static constexpr EvenlySpaced kByColumns[] = {{49, 385, 16}};
  static constexpr EvenlySpaced kByRows[] = {{49, 225, 16}};
};
template <>
struct BorderedOrders<Complex<double>> {
  static constexpr EvenlySpaced kByColumns[] = {{33, 289, 16}};
  static constexpr EvenlySpaced kByRows[] = {{33, 145, 16}};
};

/// Orders up to which matrices stored by rows go by register/kernel.cuh where a plan has
/// left_looking/kernel.cuh, unless their last row is a border.
template <class T>
inline constexpr int kRowLanes = 0;
template <>
inline constexpr int kRowLanes<float> = 62;
template <>
inline constexpr int kRowLanes<double> = 48;
template <>
inline constexpr int kRowLanes<Complex<double>> = 40;

template <class T>
bool is_faster_bordered(bool by_rows, int64_t n) {
  const auto have = [&](const auto& orders) {
    for (const EvenlySpaced& of : orders)
      if (of.first <= n && n <= of.last && (n - of.first) % of.step == 0) return true;
    return false;
  };
  return by_rows ? have(BorderedOrders<T>::kByRows) : have(BorderedOrders<T>::kByColumns);
}

}  // namespace chol::cuda
