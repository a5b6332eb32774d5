#include "api/check.hpp"

#include <cinttypes>
#include <cmath>

namespace chol::api {
namespace {

Status broken_bound(const char* function, const Argument& argument) {
  if (argument.bound_text)
    return Status::error(CHOL_STATUS_INVALID_VALUE,
                         "%s: %s = %" PRId64 ", must be at least %s = %" PRId64, function,
                         argument.name, argument.value, argument.bound_text, argument.bound);
  return Status::error(CHOL_STATUS_INVALID_VALUE, "%s: %s = %" PRId64 ", must be at least %" PRId64,
                       function, argument.name, argument.value, argument.bound);
}

bool overflows(const Argument& argument) {
  const int64_t* f = argument.factors;
  int64_t matrix, distance, elements, bytes;
  return __builtin_mul_overflow(f[0], f[1], &matrix) ||
         __builtin_mul_overflow(f[2], f[3], &distance) ||
         __builtin_add_overflow(matrix, distance, &elements) ||
         __builtin_mul_overflow(elements, argument.value, &bytes);
}

bool product_overflows(const Argument& argument) {
  const int64_t* f = argument.factors;
  int64_t matrix, chunk, elements, bytes;
  return __builtin_mul_overflow(f[0], f[1], &matrix) ||
         __builtin_mul_overflow(matrix, f[2], &chunk) ||
         __builtin_mul_overflow(chunk, f[3], &elements) ||
         __builtin_mul_overflow(elements, argument.value, &bytes);
}

Status check_one(const char* function, const Argument& argument) {
  switch (argument.rule) {
    case Argument::Rule::triangle:
      if (argument.value == CHOL_LOWER || argument.value == CHOL_UPPER) break;
      return Status::error(CHOL_STATUS_INVALID_VALUE,
                           "%s: uplo = %" PRId64
                           ", must be CHOL_LOWER ('L' = 76) or CHOL_UPPER ('U' = 85)",
                           function, argument.value);
    case Argument::Rule::at_least:
      if (argument.value >= argument.bound) break;
      return broken_bound(function, argument);
    case Argument::Rule::at_most:
      if (argument.value <= argument.bound) break;
      return Status::error(CHOL_STATUS_INVALID_VALUE,
                           "%s: %s = %" PRId64 ", must be at most %" PRId64 "%s", function,
                           argument.name, argument.value, argument.bound, argument.bound_text);
    case Argument::Rule::not_null:
      if (argument.pointer || !argument.value) break;
      return Status::error(CHOL_STATUS_INVALID_VALUE, "%s: %s = NULL, must point to its elements",
                           function, argument.name);
    case Argument::Rule::finite_not_negative:
      if (std::isfinite(argument.real) && argument.real >= 0) break;
      return Status::error(CHOL_STATUS_INVALID_VALUE, "%s: %s = %g, must be finite and at least 0",
                           function, argument.name, argument.real);
    case Argument::Rule::no_overflow:
    case Argument::Rule::no_product_overflow:
      if (argument.rule == Argument::Rule::no_overflow ? !overflows(argument)
                                                       : !product_overflows(argument))
        break;
      return Status::error(CHOL_STATUS_INVALID_VALUE,
                           "%s: %s spans more than 2^63 bytes, must be addressable", function,
                           argument.name);
  }
  return Status::success();
}

}  // namespace

Status check(const char* function, std::initializer_list<Argument> arguments) {
  for (const Argument& argument : arguments) {
    Status status = check_one(function, argument);
    if (!status.ok()) return status;
  }
  return Status::success();
}

}  // namespace chol::api
