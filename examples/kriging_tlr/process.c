#include "process.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "memory.h"
#include "seconds.h"

bool process_prepare(const housing_t* housing, int64_t n, long tile, process_t* process,
                     failure_t* failure) {
  process->n = n;
  process->order = malloc((size_t)n * sizeof(int64_t));
  process->points = allocate_doubles(3 * (size_t)n, "the points", failure);
  process->data = allocate_doubles(kColumns * (size_t)n, "the data", failure);
  process->solved = allocate_doubles(kColumns * (size_t)n, "the solutions", failure);
  double* unordered = allocate_doubles(3 * (size_t)n, "the points", failure);
  const bool good =
      process->order && process->points && process->data && process->solved && unordered;
  if (good) {
    for (int64_t i = 0; i < n; ++i)
      memcpy(unordered + 3 * i, housing->blocks[i].position, 3 * sizeof(double));
    chol_tlr_order_points(3, n, unordered, 3, tile, process->order);
    for (int64_t i = 0; i < n; ++i) {
      const block_t* block = housing->blocks + process->order[i];
      memcpy(process->points + 3 * i, block->position, 3 * sizeof(double));
      process->data[i + kValue * n] = block->log_value;
      process->data[i + kOne * n] = 1;
      process->data[i + kIncome * n] = block->log_income;
    }
  }
  free(unordered);
  return good || fail(failure, kExitLibrary, "no memory for %lld blocks", (long long)n);
}

void process_free(process_t* process) {
  free(process->order);
  free(process->points);
  free(process->data);
  free(process->solved);
}

double process_correlation(const options_t* options, const double x[3], const double y[3]) {
  double square = 0;
  for (int d = 0; d < 3; ++d) square += (x[d] - y[d]) * (x[d] - y[d]);
  const double r = sqrt(3 * square) / options->length;
  return r > 40 ? 0 : (1 + r) * exp(-r); /* 1e-16 of the variance */
}

static double dot(const double* x, const double* y, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

/* beta = (F' R^-1 F)^-1 F' R^-1 y for F = (1, v), and the variance about that mean. */
void process_fit_mean(process_t* p) {
  const int64_t n = p->n;
  const double *y = p->data, *one = y + n, *v = one + n;
  const double *Ry = p->solved, *R1 = Ry + n, *Rv = R1 + n;
  const double a = dot(one, R1, n), b = dot(one, Rv, n), c = dot(v, Rv, n);
  const double f = dot(one, Ry, n), g = dot(v, Ry, n);
  p->beta[0] = (c * f - b * g) / (a * c - b * b);
  p->beta[1] = (a * g - b * f) / (a * c - b * b);
  p->variance = (dot(y, Ry, n) - p->beta[0] * f - p->beta[1] * g) / (double)n;
  p->information[0] = a;
  p->information[1] = b;
  p->information[2] = c;
  p->likelihood = -0.5 * ((double)n * (log(2 * 3.14159265358979 * p->variance) + 1) + p->logdet);
}

bool process_solve(chol_handle_t handle, chol_tlr_t R, const options_t* options, bool verbose,
                   process_t* process, failure_t* failure) {
  const chol_kernel_t kernel = {sizeof kernel, CHOL_KERNEL_MATERN, 1, options->nugget,
                                1.5,           &options->length,   1};
  chol_tlr_options_t tlr;
  chol_tlr_stats_t stats = {.size = sizeof stats};
  int info = 0;
  chol_tlr_options_init(&tlr);
  tlr.eps = options->eps;
  memcpy(process->solved, process->data, kColumns * (size_t)process->n * sizeof(double));
  const double start = seconds();
  if (!library(handle, chol_tlr_from_kernel(handle, R, &kernel, 3, process->points, 3, &tlr),
               failure))
    return false;
  const double assembled = seconds();
  if (!library(handle, chol_tlr_factor(handle, R, &tlr, &info), failure)) return false;
  if (info > 0)
    return fail(failure, kExitNotPositiveDefinite,
                "the leading minor of order %d is not positive definite", info);
  const double factored = seconds();
  if (!library(handle, chol_tlr_logdet(handle, R, &process->logdet, NULL), failure) ||
      !library(handle, chol_tlr_solve(handle, R, kColumns, process->solved, process->n), failure) ||
      !library(handle, chol_tlr_stats(R, &stats), failure))
    return false;
  process_fit_mean(process);
  if (!verbose) return true;
  printf("order %lld, tile %lld: assembly %.2f s, factor %.2f s, solve %.2f s\n",
         (long long)stats.n, (long long)stats.tile, assembled - start, factored - assembled,
         seconds() - factored);
  printf("factor: %.3f GB (dense triangle %.3f), mean rank %.1f\n", 1e-9 * (double)stats.bytes,
         4e-9 * (double)stats.n * (double)stats.n, stats.mean_rank);
  return true;
}
