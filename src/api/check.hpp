// Argument checks as data: each argument of a call is a row of name, value and rule; the first row
// that breaks its rule makes the message.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>

#include "base/status.hpp"
#include "chol.h"

namespace chol::api {

struct Argument {
  enum class Rule : uint8_t {
    triangle,
    at_least,
    at_most,
    not_null,
    finite_not_negative,
    no_overflow,
    no_product_overflow
  };
  Rule rule;
  const char* name;
  int64_t value = 0;
  int64_t bound = 0;
  const char* bound_text = nullptr;  ///< of at_least its name, such as "max(1, n)"; of at_most why
  const void* pointer = nullptr;
  double real = 0;
  /// In elements of value bytes: f0 * f1 + f2 * f3, or the product of all four.
  int64_t factors[4] = {0, 0, 0, 0};
};

inline Argument triangle(chol_uplo_t uplo) {
  return {Argument::Rule::triangle, "uplo", static_cast<int64_t>(uplo)};
}
inline Argument at_least(const char* name, int64_t value, int64_t bound,
                         const char* bound_text = nullptr) {
  return {Argument::Rule::at_least, name, value, bound, bound_text};
}
inline Argument at_most(const char* name, int64_t value, int64_t bound, const char* reason = "") {
  return {Argument::Rule::at_most, name, value, bound, reason};
}
/// Of an order: info is an int and counts up to it.
inline Argument countable(const char* name, int64_t order) {
  return at_most(name, order, std::numeric_limits<int>::max(), ", since info is an int");
}
inline Argument leading_dimension(const char* name, int64_t value, int64_t n) {
  return at_least(name, value, n > 1 ? n : 1, "max(1, n)");
}
/// An array that must not be NULL because it has elements.
inline Argument array(const char* name, const void* pointer, bool has_elements) {
  Argument argument{Argument::Rule::not_null, name, has_elements};
  argument.pointer = pointer;
  return argument;
}
inline Argument finite_not_negative(const char* name, double value) {
  Argument argument{Argument::Rule::finite_not_negative, name};
  argument.real = value;
  return argument;
}
/// The size of rows * columns + distance * steps elements of `size` bytes fits 63 bits.
inline Argument extent(const char* name, int64_t size, int64_t rows, int64_t columns,
                       int64_t distance = 0, int64_t steps = 0) {
  Argument argument{Argument::Rule::no_overflow, name, size};
  argument.factors[0] = rows;
  argument.factors[1] = columns;
  argument.factors[2] = distance;
  argument.factors[3] = steps;
  return argument;
}

/// The same for whole chunks of `chunk` matrices of ld by `columns` elements.
inline Argument interleaved_extent(const char* name, int64_t size, int64_t ld, int64_t columns,
                                   int64_t chunk, int64_t batch) {
  Argument argument =
      extent(name, size, ld, columns, chunk, batch > 0 ? (batch - 1) / chunk + 1 : 0);
  argument.rule = Argument::Rule::no_product_overflow;
  return argument;
}

/// Whether the size of rows * columns elements of `size` bytes exceeds 63 bits.
inline bool spans_too_much(int64_t size, int64_t rows, int64_t columns) {
  int64_t elements, bytes;
  return __builtin_mul_overflow(rows, columns, &elements) ||
         __builtin_mul_overflow(elements, size, &bytes);
}

/// The first broken rule as INVALID_VALUE with its message, or success.
Status check(const char* function, std::initializer_list<Argument> arguments);

}  // namespace chol::api
