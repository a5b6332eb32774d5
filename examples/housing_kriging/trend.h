/** Generalized least squares for the mean of one solved system. */
#ifndef CHOL_EXAMPLES_TREND_H
#define CHOL_EXAMPLES_TREND_H

#include "systems.h"

/** With R the correlations, F the columns (1, log income) and y the log values of a system. */
typedef struct {
  int terms;              /* 1, or 2 with income */
  double gram[2][2];      /* inverse of F' R^-1 F */
  double log_determinant; /* of F' R^-1 F */
  double coefficient[2];  /* beta = gram F' R^-1 y */
  double variance;        /* (y - F beta)' R^-1 (y - F beta) / (n - terms) */
} trend_t;

/**
 * Fits the mean of system k after systems_solve(). Falls back to a constant mean where the incomes
 * cannot tell the two columns of F apart.
 */
trend_t trend_fit(const systems_t* systems, int64_t k);

#endif
