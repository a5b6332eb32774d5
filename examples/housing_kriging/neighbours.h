/** The training blocks near a block, by a search in square cells. */
#ifndef CHOL_EXAMPLES_NEIGHBOURS_H
#define CHOL_EXAMPLES_NEIGHBOURS_H

#include "housing.h"

/** How far to look. */
typedef struct {
  double radius;        /* km; doubled until `fewest` blocks are inside */
  int64_t fewest, most; /* of more than `most` blocks the nearest are taken */
} reach_t;

/** The neighbours of block k are index[first[k]] ... index[first[k + 1] - 1], nearest first. */
typedef struct {
  int64_t count;
  const block_t** centre;
  int64_t *first, *index;
} neighbourhoods_t;

/**
 * Finds the training blocks around each of some centres.
 * @param housing whose training blocks are searched.
 * @param centres, count, step every step-th of the blocks from centres on, count of them.
 * @param reach how far to look.
 * @param[out] found to be freed with neighbourhoods_free(), also after a failure.
 */
bool neighbourhoods_find(const housing_t* housing, const block_t* centres, int64_t count,
                         int64_t step, const reach_t* reach, neighbourhoods_t* found,
                         failure_t* failure);
void neighbourhoods_free(neighbourhoods_t* found);

/** Orders of the systems that the neighbourhoods lead to. */
int64_t neighbourhood_size(const neighbourhoods_t* found, int64_t k);

#endif
