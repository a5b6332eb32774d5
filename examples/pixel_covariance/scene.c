#include "scene.h"

#include <math.h>
#include <stdlib.h>

#include "memory.h"

enum { kFields = 3, kSpacing = 64 };

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t next_bits(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* About normal, variance 1: a sum of four uniform numbers. */
static double noise(uint64_t* state) {
  double sum = 0;
  for (int i = 0; i < 4; ++i) sum += (double)(next_bits(state) >> 11) * 0x1p-53 - 0.5;
  return sum * sqrt(3.0);
}

static double weight(int64_t band, int field, double x, double y) {
  return sin(1.0 + 1.7 * (double)band + 2.3 * field) +
         0.5 * cos(6.3 * (x + field * y) + (double)band);
}

static void fill_pixels(scene_t* scene, uint64_t* state) {
  const int64_t pixels = scene->width * scene->height;
  for (int64_t p = 0; p < pixels; ++p) {
    double field[kFields];
    const double x = (double)(p % scene->width) / (double)scene->width;
    const double y = (double)(p / scene->width) / (double)scene->height;
    for (int f = 0; f < kFields; ++f) field[f] = 3 * noise(state);
    for (int64_t k = 0; k < scene->bands; ++k) {
      double value = 20 + 5 * x + 0.3 * noise(state);
      for (int f = 0; f < kFields; ++f) value += weight(k, f, x, y) * field[f];
      scene->values[k * pixels + p] = value;
    }
  }
}

bool simulate_scene(int64_t width, int64_t height, int64_t bands, scene_t* scene,
                    failure_t* failure) {
  const int64_t across = width / kSpacing, down = height / kSpacing;
  uint64_t state = 2017;
  *scene = (scene_t){width, height, bands, NULL, 0, NULL};
  scene->values = allocate_doubles((size_t)(width * height * bands), "the scene", failure);
  if (!scene->values) return false;
  scene->places = malloc((size_t)(across * down + 1) * sizeof *scene->places);
  if (!scene->places) return fail(failure, kExitLibrary, "no memory for the places");
  fill_pixels(scene, &state);
  for (int64_t j = 0; j < down; ++j)
    for (int64_t i = 0; i < across; ++i) {
      const int64_t p = (j * kSpacing + kSpacing / 2) * width + i * kSpacing + kSpacing / 2;
      scene->places[scene->planted++] = p;
      for (int64_t k = 0; k < bands; ++k)
        scene->values[k * width * height + p] += k % 2 ? 2.5 : -2.5;
    }
  return true;
}

void free_scene(scene_t* scene) {
  free(scene->values);
  free(scene->places);
}
