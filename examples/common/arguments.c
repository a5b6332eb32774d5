#include "arguments.h"

#include <errno.h>
#include <stdlib.h>

bool parse_integer(const char* option, const char* text, long lowest, long highest, long* value,
                   failure_t* failure) {
  char* end;
  errno = 0;
  long number = strtol(text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || number < lowest || number > highest) {
    return fail(failure, kExitUsage, "--%s = '%s', must be an integer from %ld to %ld", option,
                text, lowest, highest);
  }
  *value = number;
  return true;
}

bool parse_real(const char* option, const char* text, double lowest, double highest, double* value,
                failure_t* failure) {
  char* end;
  double number = strtod(text, &end);
  /* Written so that a NaN fails too. */
  if (end == text || *end != '\0' || !(number >= lowest && number <= highest)) {
    return fail(failure, kExitUsage, "--%s = '%s', must be a number from %g to %g", option, text,
                lowest, highest);
  }
  *value = number;
  return true;
}
