#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnuplot.h"
#include "library.h"
#include "memory.h"
#include "process.h"

/* The prediction of a block, of its log value, and the correlations with all others. */
static double predict(const options_t* options, const process_t* p, const block_t* block,
                      double* correlations) {
  const int64_t n = p->n;
  double value = p->beta[0] + p->beta[1] * block->log_income;
  for (int64_t i = 0; i < n; ++i) {
    correlations[i] = process_correlation(options, block->position, p->points + 3 * i);
    value += correlations[i] *
             (p->solved[i] - p->beta[0] * p->solved[i + n] - p->beta[1] * p->solved[i + 2 * n]);
  }
  return value;
}

/* Of the part of the deviation that the mean adds: (f - F' R^-1 c)' (F' R^-1 F)^-1 (the same). */
static double mean_part(const process_t* p, const block_t* block, const double* correlations) {
  double g[2] = {1, block->log_income};
  for (int64_t i = 0; i < p->n; ++i) {
    g[0] -= correlations[i] * p->solved[i + kOne * p->n];
    g[1] -= correlations[i] * p->solved[i + kIncome * p->n];
  }
  const double *m = p->information, determinant = m[0] * m[2] - m[1] * m[1];
  return (m[2] * g[0] * g[0] - 2 * m[1] * g[0] * g[1] + m[0] * g[1] * g[1]) / determinant;
}

/* values and deviations of the log values; deviations may be NULL. */
static bool predict_all(chol_handle_t handle, chol_tlr_t R, const options_t* options,
                        const housing_t* housing, const process_t* p, double* values,
                        double* deviations, failure_t* failure) {
  enum { kBlock = 64 };
  const int64_t n = p->n;
  double* c = allocate_doubles((size_t)(kBlock * n), "the correlations", failure);
  bool good = c != NULL;
  for (int64_t first = 0; good && first < housing->held_out; first += kBlock) {
    const int64_t count = housing->held_out - first < kBlock ? housing->held_out - first : kBlock;
    const block_t* blocks = housing->blocks + housing->training + first;
    for (int64_t h = 0; h < count; ++h) {
      values[first + h] = predict(options, p, blocks + h, c + h * n);
      if (deviations) deviations[first + h] = mean_part(p, blocks + h, c + h * n);
    }
    if (!deviations) continue;
    /* c' R^-1 c = ||L^-1 c||^2 */
    good = library(handle, chol_tlr_solve_half(handle, R, 0, count, c, n), failure);
    for (int64_t h = 0; good && h < count; ++h) {
      double known = 0;
      for (int64_t i = 0; i < n; ++i) known += c[i + h * n] * c[i + h * n];
      deviations[first + h] =
          sqrt(p->variance * fmax(0, 1 + options->nugget - known + deviations[first + h]));
    }
  }
  free(c);
  return good;
}

/* FILE.dat, FILE.gp for gnuplot, and FILE: the predictions and their deviations. */
static bool draw(const char* path, const housing_t* housing, const double* values,
                 const double* deviations, failure_t* failure) {
  char data[4096], script[4096];
  if (snprintf(data, sizeof data, "%s.dat", path) >= (int)sizeof data)
    return fail(failure, kExitUsage, "--map: the path is too long");
  snprintf(script, sizeof script, "%s.gp", path);
  FILE *table = fopen(data, "w"), *commands = fopen(script, "w");
  bool good = table && commands;
  if (!good) fail(failure, kExitNoInput, "%s: %s", path, strerror(errno));
  for (int64_t h = 0; good && h < housing->held_out; ++h) {
    const block_t* block = housing->blocks + housing->training + h;
    fprintf(table, "%.4f %.4f %.1f %.4f\n", block->longitude, block->latitude,
            exp(values[h]) / 1000, deviations[h]);
  }
  if (good) {
    gnuplot_output(commands, path, 1400, 800);
    fputs("data = ", commands);
    gnuplot_quote(commands, data);
    fputs(
        "set palette defined (0 '#fcd53b', 1 '#f58f46', 2 '#d9506a', 3 '#9c2a8c', 4 '#43109c', "
        "5 '#0c0a4d')\n"
        "set size ratio -1.25\nunset key\nset multiplot layout 1,2\n"
        "set title 'predicted median house value, 1000 dollars'\nset cbrange [0:500]\n"
        "plot data using 1:2:3 with points pointtype 7 pointsize 0.4 linecolor palette\n"
        "set title 'predictive deviation of its logarithm'\nset cbrange [*:*]\n"
        "plot data using 1:2:4 with points pointtype 7 pointsize 0.4 linecolor palette\n",
        commands);
  }
  if (table) good = fclose(table) == 0 && good;
  if (commands) good = fclose(commands) == 0 && good;
  return good && gnuplot_run(script, path, failure);
}

bool process_predict(chol_handle_t handle, chol_tlr_t R, const options_t* options,
                     const housing_t* housing, const process_t* p, failure_t* failure) {
  const size_t held = (size_t)housing->held_out;
  const bool deviates = options->deviation || options->map;
  double* values = allocate_doubles(held, "the predictions", failure);
  double* deviations = deviates ? allocate_doubles(held, "the deviations", failure) : NULL;
  bool good = values && (deviations || !deviates) &&
              predict_all(handle, R, options, housing, p, values, deviations, failure);
  if (good) {
    double squares = 0, plain = 0;
    int64_t within = 0;
    for (size_t h = 0; h < held; ++h) {
      const block_t* block = housing->blocks + housing->training + h;
      squares += pow(exp(values[h]) - block->value, 2);
      plain += pow(exp(p->beta[0] + p->beta[1] * block->log_income) - block->value, 2);
      if (deviates) within += fabs(values[h] - block->log_value) <= 1.96 * deviations[h];
    }
    printf("RMSE of %zu predictions: %.0f dollars, by the income alone %.0f\n", held,
           sqrt(squares / (double)held), sqrt(plain / (double)held));
    if (deviates)
      printf("%.1f %% of the values are within 1.96 predictive deviations\n",
             100 * (double)within / (double)held);
  }
  if (good && options->map) good = draw(options->map, housing, values, deviations, failure);
  free(values);
  free(deviations);
  return good;
}
