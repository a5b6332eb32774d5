/**
 * Local kriging of California house values: every held-out census block is predicted from the
 * blocks around it. Every prediction is a dense covariance system of its own order; all of them are
 * factored and solved in one call of chol_dposv_vbatched().
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare.h"
#include "fit.h"
#include "kriging.h"
#include "library.h"
#include "map.h"
#include "numbers.h"
#include "options.h"
#include "progress.h"

/* Two ways to the same prediction, and two libraries, may differ by rounding errors only. */
static const double kTolerance = 1e-9;

static void print_systems(const systems_t* s, const options_t* options, const model_t* model) {
  int64_t smallest = s->max_n;
  double sum = 0;
  for (int64_t k = 0; k < s->batch; ++k) {
    if (s->n[k] < smallest) smallest = s->n[k];
    sum += (double)s->n[k];
  }
  printf("blocks       %lld known, %lld held out\n", (long long)s->housing->training,
         (long long)s->housing->held_out);
  printf("model        exponential, range %g km, nugget %g, local mean %s\n", model->range,
         model->nugget, model->income ? "linear in the log income" : "constant");
  printf(
      "systems      %lld of order %lld to %lld, %.1f on average, %lld right-hand sides each, "
      "radius %g km\n",
      (long long)s->batch, (long long)smallest, (long long)s->max_n, sum / (double)s->batch,
      (long long)s->columns, options->reach.radius);
}

static void print_row(const char* name, const double values[2], double scale) {
  printf("%-24s %10.2f %10.2f\n", name, values[0] * scale, values[1] * scale);
}

static void print_times(const systems_t* s, const comparison_t* times) {
  const double* chol = times->chol;
  const double rate[2] = {systems_flops(s) / chol[0], systems_flops(s) / chol[1]};
  printf("%-24s %10d %10d\n", "threads", 1, times->threads);
  print_row("chol, one batch: ms", chol, 1e3);
  print_row("  Gflop/s", rate, 1e-9);
  if (times->lapack[0] > 0) {
    const double ratio[2] = {times->lapack[0] / chol[0], times->lapack[1] / chol[1]};
    print_row("LAPACK loop: ms", times->lapack, 1e3);
    print_row("  chol is faster by", ratio, 1);
    printf("solutions of chol and LAPACK differ by %.1e\n", times->lapack_difference);
  }
  if (times->cuda > 0) {
    printf("chol on the GPU: ms       %.2f, %.1f Gflop/s; solutions differ by %.1e\n",
           1e3 * times->cuda, 1e-9 * systems_flops(s) / times->cuda, times->cuda_difference);
  }
}

static void print_score(const char* name, score_t s) {
  printf("%-24s %10.0f %10.0f\n", name, s.rmse, s.mae);
}

/* Baselines: the mean of all known values, and the value of the nearest known block. */
static void print_simple(const systems_t* s, double* predicted) {
  const block_t* blocks = s->housing->blocks;
  double mean = 0;
  for (int64_t i = 0; i < s->housing->training; ++i) mean += blocks[i].value;
  for (int64_t k = 0; k < s->batch; ++k) predicted[k] = mean / (double)s->housing->training;
  print_score("mean", score(s->where->centre, predicted, s->batch));
  for (int64_t k = 0; k < s->batch; ++k) {
    predicted[k] = blocks[s->where->index[s->where->first[k]]].value;
  }
  print_score("nearest neighbour", score(s->where->centre, predicted, s->batch));
}

static void print_scores(const systems_t* s, const prediction_t* predictions, double* predicted) {
  double covered = 0, squares = 0;
  printf("%-24s %10s %10s\n", "error in dollars", "RMSE", "MAE");
  print_simple(s, predicted);
  for (int64_t k = 0; k < s->batch; ++k) {
    double z =
        (s->where->centre[k]->log_value - predictions[k].log_value) / predictions[k].log_deviation;
    predicted[k] = predictions[k].value;
    covered += fabs(z) < 1.96;
    squares += z * z;
  }
  print_score("kriging", score(s->where->centre, predicted, s->batch));
  printf("kriging's own 95 %% intervals hold %.1f %% of the values; mean squared z %.2f\n",
         100 * covered / (double)s->batch, squares / (double)s->batch);
}

static bool predict(chol_handle_t handle, const options_t* options, systems_t* systems,
                    prediction_t* predictions, failure_t* failure) {
  comparison_t times;
  if (!compare(handle, systems, &options->model, options->repeat, options->lapack, &times,
               failure)) {
    return false;
  }
  double* predicted = malloc((size_t)systems->batch * sizeof(double));
  if (!predicted) return fail(failure, kExitLibrary, "no memory for the predictions");
  double difference = kriging_predict(systems, predictions);
  print_systems(systems, options, &options->model);
  print_times(systems, &times);
  print_scores(systems, predictions, predicted);
  free(predicted);
  printf("cross-check  two ways to each prediction differ by %.1e\n", difference);
  difference = worse(difference, worse(times.lapack_difference, times.cuda_difference));
  if (difference < kTolerance) return true;
  return fail(failure, kExitCheckFailed, "the results differ by more than %g", kTolerance);
}

static bool work(chol_handle_t handle, options_t* options, housing_t* housing,
                 neighbourhoods_t* where, systems_t* systems, failure_t* failure) {
  if (!housing_read(options->file, options->share, options->seed, housing, failure) ||
      !fit_model(handle, housing, &options->reach, options->sample, &options->model, failure) ||
      !neighbourhoods_find(housing, housing->blocks + housing->training, housing->held_out, 1,
                           &options->reach, where, failure) ||
      !systems_create(housing, where, options->model.income, systems, failure)) {
    return false;
  }
  prediction_t* predictions = malloc((size_t)systems->batch * sizeof(prediction_t));
  bool done = predictions || fail(failure, kExitLibrary, "no memory for the predictions");
  done = done && predict(handle, options, systems, predictions, failure);
  if (done && options->map) {
    done = map_draw(options->map, housing, where->centre, predictions, systems->batch, failure);
  }
  free(predictions);
  return done;
}

int main(int argc, char** argv) {
  options_t options;
  bool help;
  failure_t failure = {0};
  chol_handle_t handle = NULL;
  housing_t housing = {0};
  neighbourhoods_t where = {0};
  systems_t systems = {0};
  if (!options_parse(argc, argv, &options, &help, &failure)) {
    return report("housing_kriging", &failure);
  }
  if (help) return kExitOk;
  bool done = library_open(options.threads, &handle, &failure) &&
              work(handle, &options, &housing, &where, &systems, &failure);
  systems_free(&systems);
  neighbourhoods_free(&where);
  housing_free(&housing);
  chol_destroy(handle);
  return done ? kExitOk : report("housing_kriging", &failure);
}
