#include "failure.h"

#include <stdarg.h>
#include <stdio.h>

bool fail(failure_t* failure, int code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(failure->message, sizeof failure->message, format, arguments);
  va_end(arguments);
  failure->code = code;
  return false;
}

int report(const char* program, const failure_t* failure) {
  fprintf(stderr, "%s: %s\n", program, failure->message);
  return failure->code;
}
