/*
 * Anomalies in a multispectral scene by the detector of Reed and Yu (1990): each pixel is compared
 * with the mean m and the covariance A of the window around it, (p - m)' inverse(A) (p - m). That
 * is one small symmetric positive definite system a pixel, a million of them, interleaved from the
 * start: chunk = the pixels of a row.
 */
#include <chol.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "covariance.h"
#include "library.h"
#include "memory.h"
#include "progress.h"

typedef struct {
  long width, height, bands, radius;
} options_t;

static const char kHelp[] =
    "usage: pixel_covariance [--width=N] [--height=N] [--bands=N] [--radius=N]\n"
    "Finds what does not belong in a simulated scene (1024 x 1024 pixels, 8 bands,\n"
    "covariances over windows of radius 6).\n" EXIT_CODE_HELP;

static bool parse(int argc, char** argv, options_t* o, failure_t* failure) {
  const struct {
    const char* name;
    long lowest, highest, *value;
  } known[] = {{"width", 64, 1 << 14, &o->width},
               {"height", 64, 1 << 14, &o->height},
               {"bands", 1, 32, &o->bands},
               {"radius", 2, 15, &o->radius}};
  for (int i = 1; i < argc; ++i) {
    const char* value = strchr(argv[i], '=');
    size_t k = 0;
    for (; k < sizeof known / sizeof *known; ++k)
      if (value && strncmp(argv[i], "--", 2) == 0 &&
          strlen(known[k].name) == (size_t)(value - argv[i] - 2) &&
          strncmp(argv[i] + 2, known[k].name, strlen(known[k].name)) == 0)
        break;
    if (k == sizeof known / sizeof *known)
      return fail(failure, kExitUsage, "'%s' is not an option (see --help)", argv[i]);
    if (!parse_integer(known[k].name, value + 1, known[k].lowest, known[k].highest, known[k].value,
                       failure))
      return false;
  }
  if ((2 * o->radius + 1) * (2 * o->radius + 1) <= 2 * o->bands)
    return fail(failure, kExitUsage, "--radius = '%ld', must give more than 2 pixels a band",
                o->radius);
  return true;
}

typedef struct {
  double *A, *d, *x, *scores;
  int* info;
  double covariance_seconds, solve_seconds;
} work_t;

static bool allocate(const scene_t* s, int64_t count, work_t* w, failure_t* failure) {
  const size_t row = (size_t)(s->bands * count);
  w->A = allocate_doubles(row * (size_t)s->bands, "the covariances", failure);
  w->d = w->A ? allocate_doubles(row, "the pixels", failure) : NULL;
  w->x = w->d ? allocate_doubles(row, "the solutions", failure) : NULL;
  w->scores = w->x ? allocate_doubles((size_t)(s->width * s->height), "the scores", failure) : NULL;
  if (!w->scores) return false;
  w->info = malloc((size_t)count * sizeof *w->info);
  return w->info || fail(failure, kExitLibrary, "no memory for info");
}

/* One row of pixels is one call. */
static bool score_row(chol_handle_t handle, covariance_t* c, int64_t y, work_t* w,
                      failure_t* failure) {
  const int64_t n = c->scene->bands, r = c->radius, count = c->scene->width - 2 * r;
  const double start = wall_seconds();
  covariance_of_row(c, y, w->A, w->d);
  memcpy(w->x, w->d, (size_t)(n * count) * sizeof *w->x);
  const double middle = wall_seconds();
  if (!library(
          handle,
          chol_dposv_interleaved(handle, CHOL_LOWER, n, 1, w->A, n, w->x, n, count, w->info, count),
          failure))
    return false;
  w->solve_seconds += wall_seconds() - middle;
  w->covariance_seconds += middle - start;
  double* scores = w->scores + y * c->scene->width + r;
  for (int64_t k = 0; k < n; ++k)
    for (int64_t b = 0; b < count; ++b) scores[b] += w->d[k * count + b] * w->x[k * count + b];
  for (int64_t b = 0; b < count; ++b)
    if (w->info[b] > 0)
      return fail(failure, kExitNotPositiveDefinite,
                  "the covariance at (%lld, %lld) is not positive definite (minor of order %d)",
                  (long long)(b + r), (long long)y, w->info[b]);
  return true;
}

static int descending(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return a < b ? 1 : a > b ? -1 : 0;
}

/* How many of the pixels with the highest scores, as many as were planted, are planted ones. */
static int64_t count_found(const scene_t* s, const double* scores, failure_t* failure) {
  const size_t pixels = (size_t)(s->width * s->height);
  double* sorted = allocate_doubles(pixels, "the ranking", failure);
  if (!sorted) return -1;
  memcpy(sorted, scores, pixels * sizeof *sorted);
  qsort(sorted, pixels, sizeof *sorted, descending);
  int64_t found = 0;
  for (int64_t i = 0; i < s->planted; ++i) found += scores[s->places[i]] >= sorted[s->planted - 1];
  free(sorted);
  return found;
}

static bool detect(chol_handle_t handle, const scene_t* s, int64_t radius, failure_t* failure) {
  const int64_t count = s->width - 2 * radius, rows = s->height - 2 * radius;
  covariance_t c;
  work_t w = {0};
  bool ok = start_covariance(s, radius, &c, failure) && allocate(s, count, &w, failure);
  for (int64_t y = radius; ok && y < s->height - radius; ++y)
    ok = score_row(handle, &c, y, &w, failure);
  const int64_t found = ok ? count_found(s, w.scores, failure) : -1;
  if (found >= 0) {
    const double systems = (double)(count * rows);
    printf("systems %.0f of order %lld\n", systems, (long long)s->bands);
    printf("covariances %.3f s, solves %.3f s (%.1f million a second)\n", w.covariance_seconds,
           w.solve_seconds, systems / w.solve_seconds * 1e-6);
    printf("planted %lld, found %lld\n", (long long)s->planted, (long long)found);
    ok = 10 * found >= 9 * s->planted ||
         fail(failure, kExitCheckFailed, "fewer than nine in ten of the planted pixels were found");
  }
  end_covariance(&c);
  free(w.A);
  free(w.d);
  free(w.x);
  free(w.scores);
  free(w.info);
  return ok && found >= 0;
}

int main(int argc, char** argv) {
  options_t options = {1024, 1024, 8, 6};
  failure_t failure = {0, ""};
  scene_t scene = {0};
  chol_handle_t handle = NULL;
  if (argc == 2 && strcmp(argv[1], "--help") == 0) {
    fputs(kHelp, stdout);
    return kExitOk;
  }
  bool ok = parse(argc, argv, &options, &failure);
  ok = ok && library_open(0, &handle, &failure) &&
       simulate_scene(options.width, options.height, options.bands, &scene, &failure) &&
       detect(handle, &scene, options.radius, &failure);
  free_scene(&scene);
  chol_destroy(handle);
  return ok ? kExitOk : report("pixel_covariance", &failure);
}
