/** Predictions from solved systems, and how good they are. */
#ifndef CHOL_EXAMPLES_KRIGING_H
#define CHOL_EXAMPLES_KRIGING_H

#include "systems.h"

typedef struct {
  double value;         /* dollars: exp of the predicted log value */
  double log_value;     /* kriging predictor (Cressie 1993, section 3.4) */
  double log_deviation; /* square root of the kriging variance of a new value */
} prediction_t;

/**
 * Predicts the centre of every system after systems_solve().
 * @param[out] predictions one a system.
 * @return the largest relative difference of two ways to the same number: c' R^-1 (y - F beta) plus
 *         the mean, and the kriging weights times y. Of the size of the rounding errors.
 */
double kriging_predict(const systems_t* systems, prediction_t predictions[]);

/** Errors in dollars over a set of blocks. */
typedef struct {
  double rmse, mae;
} score_t;
score_t score(const block_t* const centres[], const double predicted[], int64_t count);

#endif
