/** The covariance systems of many neighbourhoods: one batch of matrices of different orders. */
#ifndef CHOL_EXAMPLES_SYSTEMS_H
#define CHOL_EXAMPLES_SYSTEMS_H

#include <chol.h>

#include "housing.h"
#include "neighbours.h"

/**
 * Correlation of two blocks at a distance d: (1 - nugget) exp(-d / range), and 1 for a block with
 * itself. The nugget is the share of the variance that no distance explains; without it blocks that
 * coincide make the matrix singular. The mean is a constant or linear in the logarithm of the
 * income, unknown, and a different one in every neighbourhood.
 */
typedef struct {
  double range; /* km */
  double nugget;
  bool income;
} model_t;

/** Columns of right-hand sides: correlation with the centre, log value, 1, log income. */
enum { kToCentre, kLogValue, kOne, kLogIncome, kMostColumns };

typedef struct {
  const housing_t* housing;
  const neighbourhoods_t* where;
  model_t model; /* that the systems were assembled with */
  int64_t max_n, columns;
  /* The arrays that chol_dposv_vbatched() takes; system k is of order n[k]. */
  int64_t batch, *n, *nrhs;
  double **A, **B;
  int* info;
  double *elements, *sides; /* the memory behind A and B */
  int64_t element_count, side_count;
} systems_t;

/** Allocates the systems of these neighbourhoods; to be freed with systems_free() in any case. */
bool systems_create(const housing_t* housing, const neighbourhoods_t* where, bool income,
                    systems_t* systems, failure_t* failure);
void systems_free(systems_t* systems);

/** Fills every matrix (its lower triangle) and its right-hand sides. */
void systems_assemble(systems_t* systems, const model_t* model);

/** Factors and solves all systems in one call, and checks that every matrix had a factor. */
bool systems_solve(chol_handle_t handle, systems_t* systems, failure_t* failure);

/** The same by a loop over LAPACK's dposv, whose systems that many threads share. */
bool systems_solve_by_lapack(systems_t* systems, int threads, failure_t* failure);

/** Whether info is 0 everywhere; else a failure that names the system and who solved it. */
bool systems_all_positive_definite(const systems_t* systems, const char* by, failure_t* failure);

/** Row i of a right-hand side of system k as it was assembled (solving overwrites B). */
double systems_side(const systems_t* systems, int64_t k, int64_t i, int column);

/** Floating-point operations of factoring and solving. */
double systems_flops(const systems_t* systems);

#endif
