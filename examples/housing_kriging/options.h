/** Command line of housing_kriging. */
#ifndef CHOL_EXAMPLES_OPTIONS_H
#define CHOL_EXAMPLES_OPTIONS_H

#include "neighbours.h"
#include "systems.h"

typedef struct {
  const char *file, *map; /* map is NULL for none */
  double share;
  uint64_t seed;
  reach_t reach;
  model_t model; /* range and nugget are 0 where they are to be fitted */
  int64_t sample, repeat;
  int threads;
  bool lapack;
} options_t;

/** Prints the help and sets *help if requested. */
bool options_parse(int argc, char** argv, options_t* options, bool* help, failure_t* failure);

#endif
