/*
 * Fractional diffusion in the unit cube: (L u)(x) = integral of (a(x) + a(y)) / 2 (u(x) - u(y)) /
 * |x - y|^4 dy, the operator of order 2s = 1, with a diffusivity that varies by five orders of
 * magnitude and u = 0 outside. On a grid it is a dense matrix with a condition number of some 1e7.
 * A coarse factor of it, in tiles of low rank, is the preconditioner of conjugate gradients.
 */
#include <chol.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "library.h"
#include "memory.h"
#include "seconds.h"

static const char kUsage[] =
    "usage: fractional [--side=M] [--tile=N] [--fine=E] [--tolerance=T] [--threads=T]\n"
    "Solves a fractional diffusion problem on M * M * M points by conjugate gradients, with "
    "factors\n"
    "of A + eps I for several eps as the preconditioner; prints iterations against eps. A itself "
    "is\n"
    "kept to the error E. All are relative to the largest element.\n" EXIT_CODE_HELP;

typedef struct {
  long side, tile, threads;
  double fine, tolerance;
} options_t;

/* The matrix by its elements. */
typedef struct {
  int64_t n;
  int (*place)[3];     /* of each point on the grid */
  double* diffusivity; /* of each point */
  double* diagonal;
  double* weights; /* by the square of the distance in steps of the grid */
} operator_t;

static int square(const int a[3], const int b[3]) {
  int sum = 0;
  for (int d = 0; d < 3; ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

static int fill(void* context, int64_t row, int64_t column, int64_t rows, int64_t columns,
                void* block, int64_t ldb) {
  const operator_t* L = context;
  for (int64_t j = 0; j < columns; ++j) {
    double* to = (double*)block + j * ldb;
    const int* place = L->place[column + j];
    const double a = L->diffusivity[column + j];
    for (int64_t i = 0; i < rows; ++i)
      to[i] = -0.5 * (L->diffusivity[row + i] + a) * L->weights[square(L->place[row + i], place)];
    if (column + j >= row && column + j < row + rows)
      to[column + j - row] = L->diagonal[column + j];
  }
  return 0;
}

static bool allocate(const options_t* options, operator_t* L, double** points, int64_t** order,
                     failure_t* failure) {
  const int64_t m = options->side, n = L->n = m * m * m;
  L->place = malloc((size_t)n * sizeof *L->place);
  L->diffusivity = allocate_doubles((size_t)n, "the diffusivity", failure);
  L->diagonal = allocate_doubles((size_t)n, "the diagonal", failure);
  L->weights = allocate_doubles((size_t)(3 * m * m), "the weights", failure);
  *points = allocate_doubles((size_t)(3 * n), "the points", failure);
  *order = malloc((size_t)n * sizeof(int64_t));
  return (L->place && L->diffusivity && L->diagonal && L->weights && *points && *order) ||
         fail(failure, kExitLibrary, "no memory for %lld points", (long long)n);
}

static bool discretize(const options_t* options, operator_t* L, failure_t* failure) {
  const double pi = 3.14159265358979, m = (double)options->side;
  double* points = NULL;
  int64_t* order = NULL;
  const bool good = allocate(options, L, &points, &order, failure);
  if (good) {
    const int64_t n = L->n;
    for (int64_t i = 0; i < n; ++i) {
      points[3 * i] = (double)(i % options->side);
      points[3 * i + 1] = (double)(i / options->side % options->side);
      points[3 * i + 2] = (double)(i / options->side / options->side);
    }
    chol_tlr_order_points(3, n, points, 3, options->tile, order);
    for (int64_t i = 0; i < n; ++i) {
      const double* x = points + 3 * order[i];
      for (int d = 0; d < 3; ++d) L->place[i][d] = (int)x[d];
      L->diffusivity[i] =
          pow(10, 2.5 * (cos(3 * pi * x[0] / m) * cos(2 * pi * x[1] / m) * cos(pi * x[2] / m) - 1));
    }
    /* In units of the inverse step of the grid; the weight of a point itself is zero. */
    for (int64_t k = 1; k < 3 * options->side * options->side; ++k)
      L->weights[k] = 1 / ((double)k * (double)k);
    double largest = 0;
    for (int64_t i = 0; i < n; ++i) {
      double sum = 4 * pi / m * L->diffusivity[i]; /* the part outside, approximately */
      for (int64_t j = 0; j < n; ++j)
        sum += 0.5 * (L->diffusivity[i] + L->diffusivity[j]) *
               L->weights[square(L->place[i], L->place[j])];
      L->diagonal[i] = sum;
      largest = fmax(largest, sum);
    }
    for (int64_t i = 0; i < n; ++i) {
      L->diagonal[i] /= largest;
      L->diffusivity[i] /= largest;
    }
  }
  free(points);
  free(order);
  return good;
}

/* A factor of A + eps I to the error eps, and the iterations with it. */
static bool precondition(chol_handle_t handle, chol_tlr_t A, operator_t* L, double eps,
                         const options_t* options, const double* b, double* x, failure_t* failure) {
  enum { kMost = 1000 };
  chol_tlr_t M = NULL;
  chol_tlr_options_t tlr;
  chol_tlr_stats_t stats = {.size = sizeof stats};
  int info = 0, iterations = 0;
  chol_tlr_options_init(&tlr);
  tlr.eps = tlr.shift = eps;
  const double start = seconds();
  bool good =
      library(handle, chol_tlr_create(handle, CHOL_TYPE_D, L->n, options->tile, &M), failure) &&
      library(handle, chol_tlr_from_blocks(handle, M, fill, L, &tlr), failure);
  const double assembled = seconds();
  good = good && library(handle, chol_tlr_factor(handle, M, &tlr, &info), failure);
  const double factored = seconds();
  if (good && info > 0)
    good = fail(failure, kExitNotPositiveDefinite,
                "the leading minor of order %d is not positive definite", info);
  good = good && library(handle, chol_tlr_stats(M, &stats), failure) &&
         library(handle,
                 chol_tlr_pcg(handle, A, M, 1, b, L->n, x, L->n, options->tolerance, kMost,
                              &iterations, NULL),
                 failure);
  if (good)
    printf("%8.0e %10.2f %10.2f %10.4f %10.1f %11d %10.2f\n", eps, assembled - start,
           factored - assembled, 1e-9 * (double)stats.bytes, stats.mean_rank, iterations,
           seconds() - factored);
  chol_tlr_destroy(M);
  if (good && iterations < 0)
    return fail(failure, kExitCheckFailed, "no convergence within %d iterations", kMost);
  return good;
}

static bool work(chol_handle_t handle, const options_t* options, operator_t* L,
                 failure_t* failure) {
  if (!discretize(options, L, failure)) return false;
  chol_tlr_t A = NULL;
  chol_tlr_options_t tlr;
  chol_tlr_options_init(&tlr);
  tlr.eps = options->fine;
  double* b = allocate_doubles((size_t)L->n, "the right-hand side", failure);
  double* x = allocate_doubles((size_t)L->n, "the solution", failure);
  bool good =
      b && x &&
      library(handle, chol_tlr_create(handle, CHOL_TYPE_D, L->n, options->tile, &A), failure) &&
      library(handle, chol_tlr_from_blocks(handle, A, fill, L, &tlr), failure);
  if (good) {
    printf("%lld points, tile %ld\n%8s %10s %10s %10s %10s %11s %10s\n", (long long)L->n,
           options->tile, "eps", "assembly s", "factor s", "GB", "mean rank", "iterations",
           "solve s");
    for (int64_t i = 0; i < L->n; ++i) b[i] = 1;
  }
  for (double eps = 1e-2; good && eps > 0.5e-5; eps /= 10)
    good = precondition(handle, A, L, eps, options, b, x, failure);
  chol_tlr_destroy(A);
  free(b);
  free(x);
  return good;
}

int main(int argc, char** argv) {
  options_t options = {.side = 16, .tile = 256, .fine = 1e-10, .tolerance = 1e-8};
  failure_t failure = {0};
  operator_t L = {0};
  chol_handle_t handle = NULL;
  bool good = true;
  for (int a = 1; good && a < argc; ++a) {
    const char *word = argv[a], *value = strchr(word, '=');
    if (strcmp(word, "--help") == 0) return fputs(kUsage, stdout) < 0;
    if (strncmp(word, "--side=", 7) == 0)
      good = parse_integer("--side", value + 1, 2, 128, &options.side, &failure);
    else if (strncmp(word, "--tile=", 7) == 0)
      good = parse_integer("--tile", value + 1, 16, 4096, &options.tile, &failure);
    else if (strncmp(word, "--threads=", 10) == 0)
      good = parse_integer("--threads", value + 1, 0, 1024, &options.threads, &failure);
    else if (strncmp(word, "--fine=", 7) == 0)
      good = parse_real("--fine", value + 1, 1e-14, 1, &options.fine, &failure);
    else if (strncmp(word, "--tolerance=", 12) == 0)
      good = parse_real("--tolerance", value + 1, 1e-14, 1, &options.tolerance, &failure);
    else
      good = fail(&failure, kExitUsage, "'%s' is not an option; try --help", word);
  }
  good = good && library_open((int)options.threads, &handle, &failure) &&
         work(handle, &options, &L, &failure);
  chol_destroy(handle);
  free(L.place);
  free(L.diffusivity);
  free(L.diagonal);
  free(L.weights);
  return good ? kExitOk : report("fractional", &failure);
}
