/** The census block groups, cut into those that are known and those whose value is to be predicted.
 */
#ifndef CHOL_EXAMPLES_HOUSING_H
#define CHOL_EXAMPLES_HOUSING_H

#include <stdint.h>

#include "failure.h"

typedef struct {
  double longitude, latitude; /* degrees */
  double income;              /* median, 10,000 dollars */
  double value;               /* median house value, dollars */
  double log_income, log_value;
  double position[3]; /* on a sphere, km from the centre of the earth */
} block_t;

/** training blocks first, then the held-out ones. */
typedef struct {
  int64_t training, held_out;
  block_t* blocks;
} housing_t;

/**
 * Reads the file and holds back a share of it, the same blocks for the same seed on every machine.
 * @param[out] housing to be freed with housing_free(), also after a failure.
 */
bool housing_read(const char* path, double share, uint64_t seed, housing_t* housing,
                  failure_t* failure);
void housing_free(housing_t* housing);

/** Length of the chord between two blocks in km: within 0.001 % of the great circle below 100 km.
 */
double block_distance(const block_t* a, const block_t* b);

#endif
