#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "progress.h"

enum { kByLapack, kByOneThread, kByChol, kWays };

typedef struct {
  chol_handle_t handle;
  systems_t* systems;
  int threads;
} job_t;

static bool solve_in_a_way(const job_t* job, int way, failure_t* failure) {
  if (way == kByLapack) return systems_solve_by_lapack(job->systems, failure);
  int threads = way == kByOneThread ? 1 : job->threads;
  return library(job->handle, chol_set_num_threads(job->handle, threads), failure) &&
         systems_solve(job->handle, job->systems, failure);
}

/* Largest difference of two sets of solutions, each system relative to its largest element. */
static double largest_difference(const systems_t* s, const double* other) {
  double worst = 0;
  for (int64_t k = 0; k < s->batch; ++k) {
    const double* x = s->B[k];
    const double* y = other + (s->B[k] - s->sides);
    double size = 0, difference = 0;
    for (int64_t i = 0; i < s->n[k] * s->columns; ++i) {
      size = fmax(size, fabs(x[i]));
      difference = fmax(difference, fabs(x[i] - y[i]));
    }
    worst = fmax(worst, difference / size);
  }
  return worst;
}

static int ascending(const void* left, const void* right) {
  double a = *(const double*)left, b = *(const double*)right;
  return a < b ? -1 : a > b;
}

static double median(double* times, int64_t count) {
  qsort(times, (size_t)count, sizeof(double), ascending);
  return times[count / 2];
}

/* Ways take turns, so that a change of the machine's pace meets all of them alike; chol on all its
   threads comes last and leaves its solution. */
static bool run_all(const job_t* job, const model_t* model, int64_t repeat, bool lapack,
                    double* times, double* by_lapack, comparison_t* result, failure_t* failure) {
  progress_t progress = progress_begin("comparing with LAPACK", repeat * kWays);
  for (int64_t r = 0; r < repeat; ++r) {
    for (int way = lapack ? kByLapack : kByOneThread; way < kWays; ++way) {
      systems_assemble(job->systems, model);
      double begin = wall_seconds();
      if (!solve_in_a_way(job, way, failure)) return false;
      times[way * repeat + r] = wall_seconds() - begin;
      if (way == kByLapack) {
        memcpy(by_lapack, job->systems->sides, (size_t)job->systems->side_count * sizeof(double));
      }
      progress_step(&progress, r * kWays + way);
    }
  }
  progress_end(&progress);
  result->chol = median(times + kByChol * repeat, repeat);
  result->chol_one_thread = median(times + kByOneThread * repeat, repeat);
  if (lapack) {
    result->lapack = median(times + kByLapack * repeat, repeat);
    result->difference = largest_difference(job->systems, by_lapack);
  }
  return true;
}

bool compare(chol_handle_t handle, systems_t* systems, const model_t* model, int64_t repeat,
             bool lapack, comparison_t* result, failure_t* failure) {
  job_t job = {.handle = handle, .systems = systems};
  *result = (comparison_t){0};
  if (!library(handle, chol_get_num_threads(handle, &job.threads), failure)) return false;
  double* times = malloc((size_t)(kWays * repeat) * sizeof(double));
  double* by_lapack = malloc((size_t)systems->side_count * sizeof(double));
  bool done = (times && by_lapack) || fail(failure, kExitLibrary, "no memory to compare");
  done = done && run_all(&job, model, repeat, lapack, times, by_lapack, result, failure);
  free(times);
  free(by_lapack);
  return done;
}
