/** The mean and covariance of the window around every pixel of a row, laid out interleaved. */
#ifndef CHOL_EXAMPLES_COVARIANCE_H
#define CHOL_EXAMPLES_COVARIANCE_H

#include "scene.h"

/** Sums over the window's columns, kept from row to row. */
typedef struct {
  const scene_t* scene;
  int64_t radius;
  double* sums;   /**< a row of pixels a band, then one a pair of bands */
  double* window; /**< one such row summed over the window */
} covariance_t;

bool start_covariance(const scene_t* scene, int64_t radius, covariance_t* c, failure_t* failure);
void end_covariance(covariance_t* c);

/**
 * Row y, radius <= y < height - radius, in ascending order from radius on. For every pixel with a
 * whole window, x = radius + b: the lower triangle of matrix b of A, and vector b of d, the pixel
 * minus the mean. Both interleaved in chunks of `chunk` = width - 2 * radius pixels, so that a
 * plane of A is a row of pixels and the loops run along it.
 */
void covariance_of_row(covariance_t* c, int64_t y, double* A, double* d);

#endif
