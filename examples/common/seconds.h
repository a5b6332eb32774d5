/** The time that passes. */
#ifndef CHOL_EXAMPLES_SECONDS_H
#define CHOL_EXAMPLES_SECONDS_H

#include <time.h>

static inline double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
