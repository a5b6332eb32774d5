/** The systems solved by chol and by a loop over LAPACK: how long each takes, how they agree. */
#ifndef CHOL_EXAMPLES_COMPARE_H
#define CHOL_EXAMPLES_COMPARE_H

#include "systems.h"

/** Seconds are medians, on one thread and on all; 0 for a way that is not there. */
typedef struct {
  int threads;
  double chol[2], lapack[2], cuda;
  double lapack_difference, cuda_difference; /* of the solutions from those of chol on the host,
                                                relative to the largest of a system */
} comparison_t;

/**
 * Solves the systems `repeat` times in every way that is here and leaves the solutions of chol on
 * the host, on all its threads.
 * @param lapack whether LAPACK is one of the ways.
 */
bool compare(chol_handle_t handle, systems_t* systems, const model_t* model, int64_t repeat,
             bool lapack, comparison_t* result, failure_t* failure);

#endif
