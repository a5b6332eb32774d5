/** A simulated multispectral scene: correlated clutter in which a few pixels do not belong. */
#ifndef CHOL_EXAMPLES_SCENE_H
#define CHOL_EXAMPLES_SCENE_H

#include <stdint.h>

#include "failure.h"

typedef struct {
  int64_t width, height, bands;
  double*
      values; /**< a plane a band: pixel (x, y) of band k at values[(k * height + y) * width + x] */
  int64_t planted; /**< pixels that carry the signature */
  int64_t* places; /**< where, y * width + x, ascending */
} scene_t;

/**
 * Bands are mixtures of a few fields whose weights change across the scene, so that no covariance
 * serves all of it, plus noise. Pixels far enough apart get a signature added that no single band
 * shows.
 */
bool simulate_scene(int64_t width, int64_t height, int64_t bands, scene_t* scene,
                    failure_t* failure);
void free_scene(scene_t* scene);

#endif
