/** The systems solved by chol and by a loop over LAPACK: how long each takes, and that both agree.
 */
#ifndef CHOL_EXAMPLES_COMPARE_H
#define CHOL_EXAMPLES_COMPARE_H

#include "systems.h"

/** Seconds, medians; on one thread and on all. */
typedef struct {
  int threads;
  double chol[2], lapack[2]; /* lapack is 0 where it was left out */
  double difference;         /* of the solutions, relative to the largest of a system */
} comparison_t;

/** Leaves the systems solved by chol on all its threads. */
bool compare(chol_handle_t handle, systems_t* systems, const model_t* model, int64_t repeat,
             bool lapack, comparison_t* result, failure_t* failure);

#endif
