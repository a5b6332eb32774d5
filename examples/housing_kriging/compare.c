#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "numbers.h"
#include "progress.h"

enum { kLapackOneThread, kLapack, kCholOneThread, kChol, kWays };

typedef struct {
  chol_handle_t handle;
  systems_t* systems;
  int threads;
} job_t;

static bool solve_in_a_way(const job_t* job, int way, failure_t* failure) {
  const int threads = way == kChol || way == kLapack ? job->threads : 1;
  if (way <= kLapack) return systems_solve_by_lapack(job->systems, threads, failure);
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
      difference = worse(difference, fabs(x[i] - y[i]));
    }
    worst = worse(worst, difference / size);
  }
  return worst;
}

/* Ways take turns, so that a change of the machine's pace meets all of them alike; chol on all its
   threads comes last and leaves its solution. */
static bool run_all(const job_t* job, const model_t* model, int64_t repeat, bool lapack,
                    double* times, double* by_lapack, comparison_t* result, failure_t* failure) {
  progress_t progress = progress_begin("solving all systems", repeat * kWays);
  for (int64_t r = 0; r < repeat; ++r) {
    for (int way = lapack ? 0 : kCholOneThread; way < kWays; ++way) {
      systems_assemble(job->systems, model);
      double begin = wall_seconds();
      if (!solve_in_a_way(job, way, failure)) return false;
      times[way * repeat + r] = wall_seconds() - begin;
      if (way == kLapack) {
        memcpy(by_lapack, job->systems->sides, (size_t)job->systems->side_count * sizeof(double));
      }
      progress_step(&progress, r * kWays + way);
    }
  }
  progress_end(&progress);
  for (int all = 0; all < 2; ++all) {
    result->chol[all] = median(times + (kCholOneThread + all) * repeat, repeat);
    if (lapack) result->lapack[all] = median(times + (kLapackOneThread + all) * repeat, repeat);
  }
  if (lapack) result->difference = largest_difference(job->systems, by_lapack);
  return true;
}

bool compare(chol_handle_t handle, systems_t* systems, const model_t* model, int64_t repeat,
             bool lapack, comparison_t* result, failure_t* failure) {
  job_t job = {.handle = handle, .systems = systems};
  *result = (comparison_t){0};
  if (!library(handle, chol_get_num_threads(handle, &job.threads), failure)) return false;
  double* times = malloc((size_t)(kWays * repeat) * sizeof(double));
  double* by_lapack = malloc((size_t)systems->side_count * sizeof(double));
  result->threads = job.threads;
  bool done = (times && by_lapack) || fail(failure, kExitLibrary, "no memory to compare");
  done = done && run_all(&job, model, repeat, lapack, times, by_lapack, result, failure);
  free(times);
  free(by_lapack);
  return done;
}
