#include "problem.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lapack_peer.h"
#include "library.h"
#include "matrix_market.h"
#include "memory.h"
#include "numbers.h"
#include "progress.h"

static const double kEps = DBL_EPSILON / 2; /* LAPACK's dlamch('E') */

static double sum_of_magnitudes(const double* v, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += fabs(v[i]);
  return sum;
}

/* The 1-norm. pocon needs that of the matrix, so it must be computed before posv. */
static double matrix_norm(const problem_t* p) {
  double norm = 0;
  for (int64_t j = 0; j < p->n; ++j) norm = fmax(norm, sum_of_magnitudes(p->A + j * p->n, p->n));
  return norm;
}

/* y += a A x, reading the strict upper triangle and the diagonal only, column by column. */
static void add_product(const problem_t* p, double a, const double* x, double* y) {
  for (int64_t j = 0; j < p->n; ++j) {
    const double* column = p->A + j * p->n;
    double sum = p->diagonal[j] * x[j];
    for (int64_t i = 0; i < j; ++i) {
      y[i] += a * column[i] * x[j];
      sum += column[i] * x[i];
    }
    y[j] += a * sum;
  }
}

/* Undoes posv: the lower triangle again mirrors the upper one, and x is b. */
static void restore(problem_t* p) {
  for (int64_t j = 0; j < p->n; ++j) {
    p->A[j + j * p->n] = p->diagonal[j];
    for (int64_t i = j + 1; i < p->n; ++i) p->A[i + j * p->n] = p->A[j + i * p->n];
  }
  memcpy(p->x, p->b, (size_t)(p->n * p->nrhs) * sizeof(double));
}

bool problem_read(const char* path, int64_t nrhs, problem_t* p, failure_t* failure) {
  *p = (problem_t){.path = path, .nrhs = nrhs};
  if (!matrix_market_read(path, &p->n, &p->entries, &p->A, failure)) return false;
  const size_t count = (size_t)(p->n * nrhs);
  double** const arrays[] = {&p->exact, &p->b, &p->x, &p->r};
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; ++a) {
    *arrays[a] = allocate_doubles(count, "the right-hand sides", failure);
    if (!*arrays[a]) return false;
  }
  p->diagonal = allocate_doubles((size_t)p->n, "the diagonal", failure);
  if (!p->diagonal) return false;
  p->anorm = matrix_norm(p);
  for (int64_t i = 0; i < p->n; ++i) p->diagonal[i] = p->A[i + i * p->n];
  for (int64_t k = 0; k < nrhs; ++k) {
    for (int64_t i = 0; i < p->n; ++i) p->exact[i + k * p->n] = 1.0 + (double)((i + k) % 7) / 7.0;
    add_product(p, 1.0, p->exact + k * p->n, p->b + k * p->n);
  }
  return true;
}

void problem_free(problem_t* p) {
  free(p->A);
  free(p->diagonal);
  free(p->exact);
  free(p->b);
  free(p->x);
  free(p->r);
}

/* Runs posv of chol, or of LAPACK when there is no handle, and gives the median of the times. */
static bool timed_posv(chol_handle_t handle, int64_t repeat, problem_t* p, double* seconds,
                       failure_t* failure) {
  double times[kMostRepeats];
  for (int64_t r = 0; r < repeat; ++r) {
    int info = 0;
    restore(p);
    double begin = wall_seconds();
    if (!handle) {
      info = lapack_dposv(p->n, p->nrhs, p->A, p->n, p->x, p->n);
    } else if (!library(
                   handle,
                   chol_dposv(handle, CHOL_LOWER, p->n, p->nrhs, p->A, p->n, p->x, p->n, &info),
                   failure)) {
      return false;
    }
    times[r] = wall_seconds() - begin;
    if (info < 0) {
      return fail(failure, kExitLibrary, "%s: LAPACK's dposv returned %d", p->path, info);
    }
    if (info > 0) {
      return fail(failure, kExitNotPositiveDefinite,
                  "%s: the matrix is not positive definite: its leading minor of order %d is not",
                  p->path, info);
    }
  }
  *seconds = median(times, repeat);
  return true;
}

bool problem_solve(chol_handle_t handle, int64_t repeat, problem_t* p, failure_t* failure) {
  return timed_posv(handle, repeat, p, &p->seconds, failure) &&
         library(handle, chol_dpocon(handle, CHOL_LOWER, p->n, p->A, p->n, p->anorm, &p->rcond),
                 failure) &&
         library(handle, chol_dlogdet(handle, CHOL_LOWER, p->n, p->A, p->n, &p->logdet), failure);
}

bool problem_solve_by_lapack(int64_t repeat, problem_t* p, failure_t* failure) {
  return timed_posv(NULL, repeat, p, &p->lapack_seconds, failure);
}

void problem_measure(problem_t* p) {
  memcpy(p->r, p->b, (size_t)(p->n * p->nrhs) * sizeof(double));
  p->residual = p->error = 0;
  for (int64_t k = 0; k < p->nrhs; ++k) {
    const double *x = p->x + k * p->n, *exact = p->exact + k * p->n;
    double *r = p->r + k * p->n, difference = 0;
    add_product(p, -1.0, x, r);
    for (int64_t i = 0; i < p->n; ++i) difference += fabs(x[i] - exact[i]);
    double scale = p->anorm * sum_of_magnitudes(x, p->n) * kEps;
    p->residual = worse(p->residual, sum_of_magnitudes(r, p->n) / scale);
    p->error = worse(p->error, difference / sum_of_magnitudes(exact, p->n));
  }
}
