/*
 * All census blocks of California as one Gaussian process: the covariance of 16,500 points is kept
 * in tiles of low rank, factored once, and gives the generalized least squares fit of the mean, the
 * likelihood and the predictions of the blocks that were held back.
 */
#include <chol.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arguments.h"
#include "housing.h"
#include "library.h"
#include "memory.h"

static const char kUsage[] =
    "usage: kriging_tlr [--eps=E] [--length=KM] [--nugget=G] [--tile=N] [--share=S] FILE.csv\n"
    "Predicts the house values that are held back from all others by one Gaussian process with\n"
    "Matern covariance (nu = 3/2) and a mean that is linear in the log income.\n" EXIT_CODE_HELP;

typedef struct {
  double eps, length, nugget, share;
  long tile;
  const char* file;
} options_t;

/* The columns of the solved system: R^-1 (y, 1, v), with y the log values and v the log incomes. */
enum { kValue, kOne, kIncome, kColumns };

typedef struct {
  int64_t n;
  int64_t* order; /* which training block comes i-th */
  double* points; /* 3 a block, in that order */
  double* data;   /* n by kColumns: y, 1, v */
  double* solved; /* R^-1 of them */
  double logdet;
  double beta[2];  /* of the mean */
  double variance; /* of the process */
} process_t;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool parse(int argc, char** argv, options_t* options, failure_t* failure) {
  for (int a = 1; a < argc; ++a) {
    const char* word = argv[a];
    const char* value = strchr(word, '=');
    bool good = true;
    if (strncmp(word, "--", 2) != 0) {
      options->file = word;
    } else if (strncmp(word, "--eps=", 6) == 0) {
      good = parse_real("--eps", value + 1, 1e-10, 1, &options->eps, failure);
    } else if (strncmp(word, "--length=", 9) == 0) {
      good = parse_real("--length", value + 1, 0.1, 1e4, &options->length, failure);
    } else if (strncmp(word, "--nugget=", 9) == 0) {
      good = parse_real("--nugget", value + 1, 1e-3, 100, &options->nugget, failure);
    } else if (strncmp(word, "--share=", 8) == 0) {
      good = parse_real("--share", value + 1, 0.01, 0.99, &options->share, failure);
    } else if (strncmp(word, "--tile=", 7) == 0) {
      good = parse_integer("--tile", value + 1, 16, 4096, &options->tile, failure);
    } else {
      good = fail(failure, kExitUsage, "'%s' is not an option; try --help", word);
    }
    if (!good) return false;
  }
  return options->file || fail(failure, kExitUsage, "no file given; try --help");
}

static bool prepare(const housing_t* housing, long tile, process_t* process, failure_t* failure) {
  const int64_t n = process->n = housing->training;
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
    memcpy(process->solved, process->data, kColumns * (size_t)n * sizeof(double));
  }
  free(unordered);
  return good || fail(failure, kExitLibrary, "no memory for %lld blocks", (long long)n);
}

/* Assembles and factors the correlations R and solves with them. */
static bool solve(chol_handle_t handle, chol_tlr_t R, const options_t* options, process_t* process,
                  failure_t* failure) {
  const chol_kernel_t kernel = {sizeof kernel, CHOL_KERNEL_MATERN, 1, options->nugget,
                                1.5,           &options->length,   1};
  chol_tlr_options_t tlr;
  chol_tlr_stats_t stats = {.size = sizeof stats};
  int info = 0;
  chol_tlr_options_init(&tlr);
  tlr.eps = options->eps;
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
  printf("order %lld, tile %lld: assembly %.2f s, factor %.2f s, solve %.2f s\n",
         (long long)stats.n, (long long)stats.tile, assembled - start, factored - assembled,
         seconds() - factored);
  printf("factor: %.3f GB (dense triangle %.3f), mean rank %.1f\n", 1e-9 * (double)stats.bytes,
         4e-9 * (double)stats.n * (double)stats.n, stats.mean_rank);
  return true;
}

static double dot(const double* x, const double* y, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

/* beta = (F' R^-1 F)^-1 F' R^-1 y for F = (1, v), and the variance about that mean. */
static void fit_mean(process_t* p) {
  const int64_t n = p->n;
  const double *y = p->data, *one = y + n, *v = one + n;
  const double *Ry = p->solved, *R1 = Ry + n, *Rv = R1 + n;
  const double a = dot(one, R1, n), b = dot(one, Rv, n), c = dot(v, Rv, n);
  const double f = dot(one, Ry, n), g = dot(v, Ry, n);
  p->beta[0] = (c * f - b * g) / (a * c - b * b);
  p->beta[1] = (a * g - b * f) / (a * c - b * b);
  p->variance = (dot(y, Ry, n) - p->beta[0] * f - p->beta[1] * g) / (double)n;
}

/* Root of the mean squared error in dollars of the blocks that were held back. */
static void predict(const housing_t* housing, const options_t* options, const process_t* p) {
  const int64_t n = p->n;
  double squares = 0, plain = 0;
  for (int64_t h = 0; h < housing->held_out; ++h) {
    const block_t* block = housing->blocks + n + h;
    const double mean = p->beta[0] + p->beta[1] * block->log_income;
    double value = mean;
    for (int64_t i = 0; i < n; ++i) {
      double square = 0;
      for (int d = 0; d < 3; ++d) square += pow(block->position[d] - p->points[3 * i + d], 2);
      const double r = sqrt(3 * square) / options->length;
      if (r > 40) continue; /* 1e-16 of the variance */
      value += (1 + r) * exp(-r) *
               (p->solved[i] - p->beta[0] * p->solved[i + n] - p->beta[1] * p->solved[i + 2 * n]);
    }
    squares += pow(exp(value) - block->value, 2);
    plain += pow(exp(mean) - block->value, 2);
  }
  const double held = (double)housing->held_out;
  printf("RMSE of %lld predictions: %.0f dollars, by the income alone %.0f\n",
         (long long)housing->held_out, sqrt(squares / held), sqrt(plain / held));
}

static bool work(chol_handle_t handle, const options_t* options, const housing_t* housing,
                 process_t* process, failure_t* failure) {
  chol_tlr_t R = NULL;
  if (!prepare(housing, options->tile, process, failure)) return false;
  bool good =
      library(handle, chol_tlr_create(handle, CHOL_TYPE_D, process->n, options->tile, &R), failure);
  good = good && solve(handle, R, options, process, failure);
  chol_tlr_destroy(R);
  if (!good) return false;
  fit_mean(process);
  const double n = (double)process->n;
  printf("mean %.3f + %.3f log income, log-likelihood %.1f\n", process->beta[0], process->beta[1],
         -0.5 * (n * log(2 * 3.14159265358979 * process->variance) + process->logdet + n));
  predict(housing, options, process);
  return true;
}

int main(int argc, char** argv) {
  options_t options = {.eps = 1e-4, .length = 10, .nugget = 0.3, .share = 0.2, .tile = 256};
  failure_t failure = {0};
  housing_t housing = {0};
  process_t process = {0};
  chol_handle_t handle = NULL;
  for (int a = 1; a < argc; ++a)
    if (strcmp(argv[a], "--help") == 0) return fputs(kUsage, stdout) < 0;
  const bool good = parse(argc, argv, &options, &failure) &&
                    housing_read(options.file, options.share, 1, &housing, &failure) &&
                    library_open(0, &handle, &failure) &&
                    work(handle, &options, &housing, &process, &failure);
  chol_destroy(handle);
  housing_free(&housing);
  free(process.order);
  free(process.points);
  free(process.data);
  free(process.solved);
  return good ? kExitOk : report("kriging_tlr", &failure);
}
