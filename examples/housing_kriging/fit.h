/** Range and nugget by restricted maximum likelihood. */
#ifndef CHOL_EXAMPLES_FIT_H
#define CHOL_EXAMPLES_FIT_H

#include "systems.h"

/**
 * Searches a grid of ranges and nuggets for the pair that makes the values of some training
 * neighbourhoods most likely: the sum over them of the restricted log-likelihood, mean and variance
 * of each profiled out (Patterson, Thompson 1971; a composite likelihood, as neighbourhoods may
 * overlap). For every pair all systems are one batch of posv and one of logdet.
 * @param sample number of neighbourhoods, spread over the training blocks.
 * @param[in,out] model range and nugget that are already > 0 stay, the others are searched.
 */
bool fit_model(chol_handle_t handle, const housing_t* housing, const reach_t* reach, int64_t sample,
               model_t* model, failure_t* failure);

#endif
