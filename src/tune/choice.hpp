// A method of a backend and its parameters: what serves a call.
#pragma once

#include <array>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <string_view>

#include "tune/params.hpp"

namespace chol {

/// An implementation of a routine, with the name used in traces and tuning rows.
struct MethodInfo {
  const char* name;
  std::span<const Knob> knobs;  ///< Params::kMost at most
  /// Whether posv forward-substitutes one right-hand side (not none, not several) during the
  /// factorization.
  bool is_of_one_rhs = false;
};

/// A method, and the values of its knobs in their order.
struct Choice {
  const MethodInfo* method = nullptr;
  std::array<int, Params::kMost> values = {};

  constexpr Choice() = default;
  /// A knob that is not named is 0.
  constexpr Choice(const MethodInfo& its_method, std::initializer_list<Param> params = {})
      : method(&its_method) {
    for (const Param& param : params) set(param.name, param.value);
  }

  constexpr bool is(const MethodInfo& other) const { return method == &other; }
  /// The value of a knob by its position among those of the method.
  constexpr int at(int knob) const { return values[static_cast<size_t>(knob)]; }
  constexpr void set(std::string_view name, int value) {
    for (size_t k = 0; k < method->knobs.size(); ++k)
      if (name == method->knobs[k].name) {
        values[k] = value;
        return;
      }
    throw std::invalid_argument("no such knob");
  }
  constexpr bool is_in_range() const {
    for (size_t k = 0; k < method->knobs.size(); ++k)
      if (values[k] < method->knobs[k].least || values[k] > method->knobs[k].most) return false;
    return true;
  }
  friend constexpr bool operator==(const Choice& a, const Choice& b) {
    return a.method == b.method && a.values == b.values;
  }
};

/// "method(name=value,...)", as the trace prints it.
inline void print_choice(char* text, size_t size, const Choice& choice) {
  size_t at = size_t(std::snprintf(text, size, "%s", choice.method->name));
  const std::span<const Knob> knobs = choice.method->knobs;
  for (size_t k = 0; k < knobs.size(); ++k)
    if (at < size)
      at += size_t(std::snprintf(text + at, size - at, "%s%s=%d", k == 0 ? "(" : ",", knobs[k].name,
                                 choice.values[k]));
  if (at < size && !knobs.empty()) std::snprintf(text + at, size - at, ")");
}

}  // namespace chol
