#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "memory.h"
#include "process.h"
#include "seconds.h"

/* The same by a dense factor. */
static bool solve_dense(chol_handle_t handle, const options_t* options, process_t* process,
                        failure_t* failure) {
  const int64_t n = process->n;
  double* R = allocate_doubles((size_t)(n * n), "the dense correlations", failure);
  if (!R) return false;
  memcpy(process->solved, process->data, kColumns * (size_t)n * sizeof(double));
  const double start = seconds();
  for (int64_t j = 0; j < n; ++j) {
    R[j + j * n] = 1 + options->nugget;
    for (int64_t i = j + 1; i < n; ++i)
      R[i + j * n] = process_correlation(options, process->points + 3 * i, process->points + 3 * j);
  }
  const double assembled = seconds();
  int info = 0;
  bool good =
      library(handle, chol_dpotrf(handle, CHOL_LOWER, n, R, n, &info), failure) &&
      (info == 0 || fail(failure, kExitNotPositiveDefinite,
                         "the leading minor of order %d is not positive definite", info)) &&
      library(handle, chol_dpotrs(handle, CHOL_LOWER, n, kColumns, R, n, process->solved, n),
              failure) &&
      library(handle, chol_dlogdet(handle, CHOL_LOWER, n, R, n, &process->logdet), failure);
  free(R);
  if (!good) return false;
  process_fit_mean(process);
  printf("dense, order %lld: assembly %.2f s, factor and solve %.2f s, %.3f GB\n", (long long)n,
         assembled - start, seconds() - assembled, 8e-9 * (double)n * (double)n);
  return true;
}

bool process_compare(chol_handle_t handle, const options_t* options, const housing_t* housing,
                     failure_t* failure) {
  const int64_t n = options->dense < housing->training ? options->dense : housing->training;
  process_t process = {0};
  chol_tlr_t R = NULL;
  double likelihood = 0;
  bool good =
      process_prepare(housing, n, options->tile, &process, failure) &&
      library(handle, chol_tlr_create(handle, CHOL_TYPE_D, n, options->tile, &R), failure) &&
      process_solve(handle, R, options, true, &process, failure);
  likelihood = process.likelihood;
  good = good && solve_dense(handle, options, &process, failure);
  chol_tlr_destroy(R);
  process_free(&process);
  if (!good) return false;
  const double difference = fabs(likelihood - process.likelihood);
  printf("log-likelihood %.6f, dense %.6f\n", likelihood, process.likelihood);
  /* Its derivative by R is at most n / (2 times the smallest eigenvalue), the nugget at least. */
  const double bound = (double)n * options->eps / options->nugget;
  return difference <= bound ||
         fail(failure, kExitCheckFailed, "log-likelihoods differ by %g, must by %g at most",
              difference, bound);
}
