/*
 * Covariances of grid points in tiles of low rank: time, memory and error of the factor for several
 * thresholds, and a picture of the ranks of its tiles.
 */
#include <chol.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "gnuplot.h"
#include "library.h"
#include "memory.h"
#include "seconds.h"

static const char kUsage[] =
    "usage: covariance [--dim=2|3] [--points=N] [--tile=N] [--eps=E] [--length=L] [--nugget=G]\n"
    "                  [--check=STEPS] [--threads=T] [--ranks=FILE.png]\n"
    "Factors the exponential covariance of N grid points (a power of two) in the unit square or\n"
    "cube for eps = 1e-2, 1e-4 and 1e-6, or the one that is given; measures the error by so many\n"
    "steps of power iteration against the exact covariance (0: not at all), and draws the ranks "
    "of\n"
    "the tiles of the last factor.\n" EXIT_CODE_HELP;

typedef struct {
  long dim, points, tile, check, threads;
  double eps, length, nugget;
  const char* ranks;
} options_t;

static bool parse_word(const char* word, options_t* options, failure_t* failure) {
  const char* value = strchr(word, '=');
  if (!value) return fail(failure, kExitUsage, "'%s' is not an option; try --help", word);
  const struct {
    const char* name;
    long lowest, highest;
    long* to;
  } integers[] = {{"--dim", 2, 3, &options->dim},
                  {"--points", 16, 1L << 24, &options->points},
                  {"--tile", 16, 4096, &options->tile},
                  {"--check", 0, 1000, &options->check},
                  {"--threads", 0, 1024, &options->threads}};
  const struct {
    const char* name;
    double lowest, highest;
    double* to;
  } reals[] = {{"--eps", 1e-12, 1, &options->eps},
               {"--length", 1e-3, 1e3, &options->length},
               {"--nugget", 0, 1e3, &options->nugget}};
  const size_t length = (size_t)(value - word);
  for (size_t i = 0; i < sizeof integers / sizeof *integers; ++i)
    if (strlen(integers[i].name) == length && strncmp(word, integers[i].name, length) == 0)
      return parse_integer(integers[i].name, value + 1, integers[i].lowest, integers[i].highest,
                           integers[i].to, failure);
  for (size_t i = 0; i < sizeof reals / sizeof *reals; ++i)
    if (strlen(reals[i].name) == length && strncmp(word, reals[i].name, length) == 0)
      return parse_real(reals[i].name, value + 1, reals[i].lowest, reals[i].highest, reals[i].to,
                        failure);
  if (strncmp(word, "--ranks=", 8) != 0)
    return fail(failure, kExitUsage, "'%s' is not an option; try --help", word);
  options->ranks = value + 1;
  return true;
}

/* Grid points in an order with compact tiles. */
static double* make_points(const options_t* options, failure_t* failure) {
  const long n = options->points, dim = options->dim;
  long sides[3] = {1, 1, 1};
  for (long left = n, d = 0; left > 1; left /= 2, d = (d + 1) % dim) sides[d] *= 2;
  double* grid = allocate_doubles((size_t)(n * dim), "the points", failure);
  double* points = allocate_doubles((size_t)(n * dim), "the points", failure);
  int64_t* order = malloc((size_t)n * sizeof(int64_t));
  if (grid && points && order) {
    for (long i = 0; i < n; ++i)
      for (long d = 0, rest = i; d < dim; rest /= sides[d++])
        grid[i * dim + d] = (double)(rest % sides[d]) / (double)sides[d];
    chol_tlr_order_points((int)dim, n, grid, dim, options->tile, order);
    for (long i = 0; i < n; ++i)
      memcpy(points + i * dim, grid + order[i] * dim, (size_t)dim * sizeof(double));
  } else {
    fail(failure, kExitLibrary, "no memory for %ld points", n);
    free(points);
    points = NULL;
  }
  free(grid);
  free(order);
  return points;
}

/* Assembles, factors and prints a line. */
static bool factor(chol_handle_t handle, chol_tlr_t A, const options_t* options, double eps,
                   const double* points, failure_t* failure) {
  const chol_kernel_t kernel = {
      sizeof kernel, CHOL_KERNEL_EXPONENTIAL, 1, options->nugget, 0, &options->length, 1};
  const int dim = (int)options->dim;
  chol_tlr_options_t tlr;
  chol_tlr_stats_t stats = {.size = sizeof stats};
  int info = 0;
  chol_tlr_options_init(&tlr);
  tlr.eps = eps;
  const double start = seconds();
  if (!library(handle, chol_tlr_from_kernel(handle, A, &kernel, dim, points, dim, &tlr), failure))
    return false;
  const double assembled = seconds();
  if (!library(handle, chol_tlr_factor(handle, A, &tlr, &info), failure)) return false;
  const double factored = seconds();
  if (info > 0)
    return fail(failure, kExitNotPositiveDefinite,
                "the leading minor of order %d is not positive definite", info);
  if (!library(handle, chol_tlr_stats(A, &stats), failure)) return false;
  printf("%8.0e %9.2f %9.2f %9.1f %9.4f %9.4f %9.1f %6lld %6lld", eps, assembled - start,
         factored - assembled, 1e-9 * stats.flops / (factored - assembled),
         1e-9 * (double)stats.bytes, 4e-9 * (double)stats.n * (double)stats.n, stats.mean_rank,
         (long long)stats.max_rank, (long long)stats.compensated);
  if (options->check > 0) {
    double error = 0;
    if (!library(handle,
                 chol_tlr_error_kernel(handle, A, &kernel, dim, points, dim, (int)options->check,
                                       &error),
                 failure))
      return false;
    printf(" %9.2e\n", error);
    if (!(error <= eps))
      return fail(failure, kExitCheckFailed, "the error is %g, must be at most %g", error, eps);
    return true;
  }
  printf("\n");
  return true;
}

/* FILE.dat with the ranks of the tiles, FILE.gp for gnuplot, and FILE. */
static bool draw_ranks(chol_handle_t handle, chol_tlr_t A, const char* path, failure_t* failure) {
  chol_tlr_stats_t stats = {.size = sizeof stats};
  if (!library(handle, chol_tlr_stats(A, &stats), failure)) return false;
  const int64_t tiles = stats.tiles;
  char data[4096], script[4096];
  if (snprintf(data, sizeof data, "%s.dat", path) >= (int)sizeof data)
    return fail(failure, kExitUsage, "--ranks: the path is too long");
  snprintf(script, sizeof script, "%s.gp", path);
  int64_t* ranks = malloc((size_t)(tiles * tiles) * sizeof(int64_t));
  FILE *table = fopen(data, "w"), *commands = fopen(script, "w");
  bool good = ranks && table && commands;
  if (!good) fail(failure, kExitNoInput, "%s: %s", path, strerror(errno));
  good = good && library(handle, chol_tlr_ranks(A, ranks), failure);
  for (int64_t i = 0; good && i < tiles; ++i, fputc('\n', table))
    for (int64_t j = 0; j < tiles; ++j) /* those on the diagonal are dense */
      fprintf(table, "%lld ",
              (long long)(j == i  ? stats.tile
                          : j < i ? ranks[i + j * tiles]
                                  : ranks[j + i * tiles]));
  if (good) {
    gnuplot_output(commands, path, 900, 800);
    fprintf(commands,
            "set title 'ranks of %lld tiles of order %lld, n = %lld, eps = %g' font ',14'\n"
            "set size ratio 1\nset yrange [%lld.5:-0.5]\nset xrange [-0.5:%lld.5]\n"
            "set palette defined (0 '#fcd53b', 1 '#f58f46', 2 '#d9506a', 3 '#9c2a8c', "
            "4 '#43109c', 5 '#0c0a4d')\n"
            "set cblabel 'rank'\nset cbrange [0:%lld]\nset tics out nomirror\nunset key\nplot ",
            (long long)(tiles * (tiles - 1) / 2), (long long)stats.tile, (long long)stats.n,
            stats.eps, (long long)tiles - 1, (long long)tiles - 1,
            (long long)(stats.dense_tiles > 0 ? stats.tile : stats.max_rank));
    fputc('\'', commands);
    for (const char* c = data; *c; ++c) fprintf(commands, *c == '\'' ? "''" : "%c", *c);
    fputs("' matrix with image\n", commands);
  }
  if (table) good = fclose(table) == 0 && good;
  if (commands) good = fclose(commands) == 0 && good;
  free(ranks);
  return good && gnuplot_run(script, path, failure);
}

static bool work(chol_handle_t handle, const options_t* options, failure_t* failure) {
  static const double kThresholds[] = {1e-2, 1e-4, 1e-6};
  double* points = make_points(options, failure);
  chol_tlr_t A = NULL;
  bool good =
      points &&
      library(handle, chol_tlr_create(handle, CHOL_TYPE_D, options->points, options->tile, &A),
              failure);
  if (good)
    printf("%ld points in %ld dimensions, tile %ld\n%8s %9s %9s %9s %9s %9s %9s %6s %6s%s\n",
           options->points, options->dim, options->tile, "eps", "assembly", "factor s", "Gflop/s",
           "GB", "dense GB", "mean rank", "most", "shifts", options->check > 0 ? "     error" : "");
  if (good && options->eps > 0) good = factor(handle, A, options, options->eps, points, failure);
  for (int i = 0; good && options->eps == 0 && i < 3; ++i)
    good = factor(handle, A, options, kThresholds[i], points, failure);
  if (good && options->ranks) good = draw_ranks(handle, A, options->ranks, failure);
  chol_tlr_destroy(A);
  free(points);
  return good;
}

int main(int argc, char** argv) {
  options_t options = {.dim = 3, .points = 4096, .check = 12};
  failure_t failure = {0};
  chol_handle_t handle = NULL;
  bool good = true;
  for (int a = 1; good && a < argc; ++a) {
    if (strcmp(argv[a], "--help") == 0) return fputs(kUsage, stdout) < 0;
    good = parse_word(argv[a], &options, &failure);
  }
  if (good && (options.points & (options.points - 1)) != 0)
    good = fail(&failure, kExitUsage, "--points must be a power of two, not %ld", options.points);
  if (options.length == 0) options.length = options.dim == 2 ? 0.1 : 0.2;
  if (options.tile == 0) options.tile = options.dim == 2 ? 1024 : 512;
  if (options.tile > options.points / 4) options.tile = options.points / 4;
  good = good && library_open((int)options.threads, &handle, &failure) &&
         work(handle, &options, &failure);
  chol_destroy(handle);
  return good ? kExitOk : report("covariance", &failure);
}
