/** One symmetric positive definite matrix and a system whose solution is known. */
#ifndef CHOL_EXAMPLES_PROBLEM_H
#define CHOL_EXAMPLES_PROBLEM_H

#include <chol.h>

#include "failure.h"

/**
 * posv writes the factor over the lower triangle of A and keeps every bit of the other one, which,
 * with the diagonal put aside, still knows the whole matrix: no copy is needed to measure the
 * residual or to start anew.
 */
typedef struct {
  const char* path;
  int64_t n, entries, nrhs;
  double *A, *diagonal; /* n * n elements with leading dimension n; n */
  double *exact, *b, *x,
      *r;       /* n * nrhs: known solutions, A * exact, what posv made of b, b - A x */
  double anorm; /* 1-norm of A */
  double seconds, lapack_seconds;
  double rcond, logdet, residual, error;
} problem_t;

/** Reads the matrix and makes the right-hand sides; to be freed with problem_free() in any case. */
bool problem_read(const char* path, int64_t nrhs, problem_t* problem, failure_t* failure);
void problem_free(problem_t* problem);

/** Solves by posv, `repeat` times for the clock (the median counts), then rcond and logdet. */
bool problem_solve(chol_handle_t handle, int64_t repeat, problem_t* problem, failure_t* failure);

/** The largest residual, in LAPACK's measure, and error over the right-hand sides. */
void problem_measure(problem_t* problem);

/** Solves by LAPACK for its time. */
bool problem_solve_by_lapack(int64_t repeat, problem_t* problem, failure_t* failure);

#endif
