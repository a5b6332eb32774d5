/** The map of the predictions, drawn by gnuplot. */
#ifndef CHOL_EXAMPLES_MAP_H
#define CHOL_EXAMPLES_MAP_H

#include "housing.h"
#include "kriging.h"

/**
 * Writes FILE.dat (longitude, latitude, known value, predicted value, deviation of its logarithm)
 * and FILE.gp, and runs gnuplot on the latter to draw FILE. Where gnuplot is missing it says so and
 * how to draw the map later, which is no failure.
 * @param path FILE, ending in .png or .svg.
 */
bool map_draw(const char* path, const housing_t* housing, const block_t* const centres[],
              const prediction_t predictions[], int64_t count, failure_t* failure);

#endif
