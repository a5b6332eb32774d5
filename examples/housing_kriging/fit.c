#include "fit.h"

#include <math.h>
#include <stdlib.h>

#include "library.h"
#include "progress.h"
#include "trend.h"

static const double kRanges[] = {2, 4, 8, 12, 18, 27, 40, 80, 160, 320};
static const double kNuggets[] = {.02, .05, .1, .15, .2, .3, .4, .6};
enum {
  kRangeCount = sizeof kRanges / sizeof *kRanges,
  kNuggetCount = sizeof kNuggets / sizeof *kNuggets
};

/* The restricted log-likelihood of all systems, without a constant. */
static bool likelihood(chol_handle_t handle, systems_t* s, const model_t* model, double logdet[],
                       double* sum, failure_t* failure) {
  systems_assemble(s, model);
  if (!systems_solve(handle, s, failure)) return false;
  if (!library(handle,
               chol_dlogdet_vbatched(handle, CHOL_LOWER, s->max_n, s->n, (const double* const*)s->A,
                                     s->n, logdet, s->batch),
               failure)) {
    return false;
  }
  *sum = 0;
  for (int64_t k = 0; k < s->batch; ++k) {
    trend_t trend = trend_fit(s, k);
    if (s->n[k] <= trend.terms) continue;
    double freedom = (double)(s->n[k] - trend.terms);
    *sum -= 0.5 * (logdet[k] + trend.log_determinant + freedom * log(trend.variance));
  }
  return true;
}

static bool search(chol_handle_t handle, systems_t* s, model_t* model, double logdet[],
                   failure_t* failure) {
  const bool ranges = !(model->range > 0), nuggets = !(model->nugget > 0);
  const int range_count = ranges ? kRangeCount : 1, nugget_count = nuggets ? kNuggetCount : 1;
  double best = -INFINITY;
  model_t trial = *model;
  progress_t progress = progress_begin("fitting range and nugget", range_count * nugget_count);
  for (int r = 0; r < range_count; ++r) {
    for (int g = 0; g < nugget_count; ++g) {
      double sum;
      if (ranges) trial.range = kRanges[r];
      if (nuggets) trial.nugget = kNuggets[g];
      if (!likelihood(handle, s, &trial, logdet, &sum, failure)) return false;
      if (sum > best) {
        best = sum;
        *model = trial;
      }
      progress_step(&progress, r * nugget_count + g);
    }
  }
  progress_end(&progress);
  return true;
}

bool fit_model(chol_handle_t handle, const housing_t* housing, const reach_t* reach, int64_t sample,
               model_t* model, failure_t* failure) {
  if (model->range > 0 && model->nugget > 0) return true;
  neighbourhoods_t where;
  systems_t systems = {0};
  if (sample > housing->training) sample = housing->training;
  double* logdet = malloc((size_t)sample * sizeof(double));
  bool done = neighbourhoods_find(housing, housing->blocks, sample, housing->training / sample,
                                  reach, &where, failure) &&
              systems_create(housing, &where, model->income, &systems, failure) &&
              (logdet || fail(failure, kExitLibrary, "no memory")) &&
              search(handle, &systems, model, logdet, failure);
  free(logdet);
  systems_free(&systems);
  neighbourhoods_free(&where);
  return done;
}
