/** One Gaussian process of all blocks, its correlations in tiles of low rank. */
#ifndef CHOL_EXAMPLES_PROCESS_H
#define CHOL_EXAMPLES_PROCESS_H

#include <chol.h>

#include "housing.h"

typedef struct {
  double eps, length, nugget, share;
  long tile, fit, dense, threads;
  bool deviation;
  const char *file, *map;
} options_t;

/** The columns of the solved system: R^-1 (y, 1, v), y the log values and v the log incomes. */
enum { kValue, kOne, kIncome, kColumns };

typedef struct {
  int64_t n;
  int64_t* order; /* which training block comes i-th */
  double* points; /* 3 a block, in that order */
  double* data;   /* n by kColumns: y, 1, v */
  double* solved; /* R^-1 of them */
  double logdet;
  double beta[2];        /* of the mean */
  double information[3]; /* F' R^-1 F for F = (1, v): its elements 11, 21, 22 */
  double variance;       /* of the process */
  double likelihood;     /* its logarithm */
} process_t;

/** The first n training blocks; to be freed by process_free() in any case. */
bool process_prepare(const housing_t* housing, int64_t n, long tile, process_t* process,
                     failure_t* failure);
void process_free(process_t* process);

/** The correlation of two blocks that are not the same one. */
double process_correlation(const options_t* options, const double x[3], const double y[3]);

/** Assembles and factors the correlations R, and fits all but the correlation function. */
bool process_solve(chol_handle_t handle, chol_tlr_t R, const options_t* options, bool verbose,
                   process_t* process, failure_t* failure);

/** What follows from `solved` and `logdet`: the mean, the variance, the likelihood. */
void process_fit_mean(process_t* process);

/** Maximizes the likelihood over length and nugget; left in the options. */
bool process_optimize(chol_handle_t handle, chol_tlr_t R, options_t* options, process_t* process,
                      failure_t* failure);

/** The likelihood of the first blocks and that of a dense factor. */
bool process_compare(chol_handle_t handle, const options_t* options, const housing_t* housing,
                     failure_t* failure);

/** Predicts the blocks that were held back. */
bool process_predict(chol_handle_t handle, chol_tlr_t R, const options_t* options,
                     const housing_t* housing, const process_t* process, failure_t* failure);

#endif
