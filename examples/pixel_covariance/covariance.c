#include "covariance.h"

#include <stdlib.h>

#include "memory.h"

static int64_t pairs_of(int64_t bands) { return bands * (bands + 1) / 2; }

static const double* row_of(const scene_t* s, int64_t band, int64_t y) {
  return s->values + (band * s->height + y) * s->width;
}

/* Adds row y to the sums over the window's columns, or takes it away. */
static void add_row(covariance_t* c, int64_t y, double sign) {
  const scene_t* s = c->scene;
  double* sum = c->sums;
  for (int64_t k = 0; k < s->bands; ++k, sum += s->width) {
    const double* p = row_of(s, k, y);
    for (int64_t x = 0; x < s->width; ++x) sum[x] += sign * p[x];
  }
  for (int64_t j = 0; j < s->bands; ++j)
    for (int64_t i = j; i < s->bands; ++i, sum += s->width) {
      const double *p = row_of(s, i, y), *q = row_of(s, j, y);
      for (int64_t x = 0; x < s->width; ++x) sum[x] += sign * p[x] * q[x];
    }
}

/* Sums of 2 * radius + 1 columns, every pixel's own, so that no error runs along the row. */
static void sum_window(const covariance_t* c, int64_t which, double* window) {
  const int64_t side = 2 * c->radius + 1, count = c->scene->width - 2 * c->radius;
  const double* sum = c->sums + which * c->scene->width;
  for (int64_t b = 0; b < count; ++b) window[b] = sum[b];
  for (int64_t k = 1; k < side; ++k)
    for (int64_t b = 0; b < count; ++b) window[b] += sum[b + k];
}

bool start_covariance(const scene_t* scene, int64_t radius, covariance_t* c, failure_t* failure) {
  const size_t rows = (size_t)(scene->bands + pairs_of(scene->bands));
  *c = (covariance_t){scene, radius, NULL, NULL};
  c->sums = allocate_doubles(rows * (size_t)scene->width, "the sums", failure);
  if (!c->sums) return false;
  c->window = allocate_doubles((size_t)(scene->bands * scene->width), "the means", failure);
  if (!c->window) return false;
  for (int64_t y = 0; y < 2 * radius; ++y) add_row(c, y, 1);
  return true;
}

void end_covariance(covariance_t* c) {
  free(c->sums);
  free(c->window);
}

void covariance_of_row(covariance_t* c, int64_t y, double* A, double* d) {
  const scene_t* s = c->scene;
  const int64_t n = s->bands, r = c->radius, side = 2 * r + 1, count = s->width - 2 * r;
  const double samples = (double)(side * side);
  add_row(c, y + r, 1);
  for (int64_t k = 0; k < n; ++k) {
    const double* pixel = row_of(s, k, y) + r;
    double* mean = c->window + k * s->width;
    sum_window(c, k, mean);
    for (int64_t b = 0; b < count; ++b) mean[b] /= samples;
    for (int64_t b = 0; b < count; ++b) d[k * count + b] = pixel[b] - mean[b];
  }
  int64_t which = n;
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = j; i < n; ++i, ++which) {
      double* plane = A + (j * n + i) * count;
      const double *mi = c->window + i * s->width, *mj = c->window + j * s->width;
      sum_window(c, which, plane);
      for (int64_t b = 0; b < count; ++b)
        plane[b] = (plane[b] - samples * mi[b] * mj[b]) / (samples - 1);
    }
  add_row(c, y - r, -1);
}
