#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "library.h"
#include "numbers.h"
#include "progress.h"

/* The last one leaves its solutions in the systems. */
enum { kCuda, kLapackOneThread, kLapack, kCholOneThread, kChol, kWays };

typedef struct {
  chol_handle_t handle;
  systems_t* systems;
  int threads;
  bool here[kWays];
  double* times[kWays];     /* a number a repetition */
  double* solutions[kWays]; /* of kCuda and kLapack */
} job_t;

static bool solve_in_a_way(const job_t* job, int way, double* seconds, failure_t* failure) {
  const int threads = way == kChol || way == kLapack ? job->threads : 1;
  if (way == kCuda) return device_solve(job->handle, job->systems, seconds, failure);
  if (!library(job->handle, chol_set_num_threads(job->handle, threads), failure)) return false;
  double begin = wall_seconds();
  bool done = way == kLapack || way == kLapackOneThread
                  ? systems_solve_by_lapack(job->systems, threads, failure)
                  : systems_solve(job->handle, job->systems, failure);
  *seconds = wall_seconds() - begin;
  return done;
}

/* The methods take turns, so that a change of the machine's speed affects all of them equally. */
static bool run_all(const job_t* job, const model_t* model, int64_t repeat, failure_t* failure) {
  systems_t* systems = job->systems;
  progress_t progress = progress_begin("solving all systems", repeat * kWays);
  for (int64_t r = 0; r < repeat; ++r) {
    for (int way = 0; way < kWays; ++way) {
      if (!job->here[way]) continue;
      systems_assemble(systems, model);
      if (!solve_in_a_way(job, way, &job->times[way][r], failure)) return false;
      if (job->solutions[way]) {
        memcpy(job->solutions[way], systems->sides, (size_t)systems->side_count * sizeof(double));
      }
      progress_step(&progress, r * kWays + way);
    }
  }
  progress_end(&progress);
  return true;
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

static comparison_t evaluate(const job_t* job, int64_t repeat) {
  double seconds[kWays] = {0};
  for (int way = 0; way < kWays; ++way) {
    if (job->here[way]) seconds[way] = median(job->times[way], repeat);
  }
  comparison_t result = {.threads = job->threads,
                         .chol = {seconds[kCholOneThread], seconds[kChol]},
                         .lapack = {seconds[kLapackOneThread], seconds[kLapack]},
                         .cuda = seconds[kCuda]};
  if (job->here[kLapack]) {
    result.lapack_difference = largest_difference(job->systems, job->solutions[kLapack]);
  }
  if (job->here[kCuda]) {
    result.cuda_difference = largest_difference(job->systems, job->solutions[kCuda]);
  }
  return result;
}

static bool prepare(job_t* job, int64_t repeat, bool lapack, failure_t* failure) {
  const char* name;
  if (!library(job->handle, chol_get_num_threads(job->handle, &job->threads), failure))
    return false;
  job->here[kChol] = job->here[kCholOneThread] = true;
  job->here[kLapack] = job->here[kLapackOneThread] = lapack;
  job->here[kCuda] = device_available(job->handle, &name);
  bool enough = true;
  for (int way = 0; way < kWays; ++way) {
    job->times[way] = calloc((size_t)repeat, sizeof(double));
    enough &= job->times[way] != NULL;
    if (!job->here[way] || (way != kCuda && way != kLapack)) continue;
    job->solutions[way] = malloc((size_t)job->systems->side_count * sizeof(double));
    enough &= job->solutions[way] != NULL;
  }
  return enough || fail(failure, kExitLibrary, "no memory to compare");
}

bool compare(chol_handle_t handle, systems_t* systems, const model_t* model, int64_t repeat,
             bool lapack, comparison_t* result, failure_t* failure) {
  job_t job = {.handle = handle, .systems = systems};
  bool done = prepare(&job, repeat, lapack, failure) && run_all(&job, model, repeat, failure);
  if (done) *result = evaluate(&job, repeat);
  for (int way = 0; way < kWays; ++way) {
    free(job.times[way]);
    free(job.solutions[way]);
  }
  return done;
}
