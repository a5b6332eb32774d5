/**
 * Reads symmetric matrices from Matrix Market files and, for each, factors it, solves a system
 * whose solution is known, and says how far the answer can be trusted: the residual, the true error
 * and the condition estimate that explains it.
 */
#include <chol.h>
#include <float.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "failure.h"
#include "lapack_peer.h"
#include "library.h"
#include "matrix_market.h"
#include "progress.h"

static const char kHelp[] =
    "Usage: stiffness [OPTION]... FILE.mtx...\n"
    "Factors the symmetric positive definite matrix of each Matrix Market file, solves a system\n"
    "with a known solution, and prints the residual, the error and the condition estimate.\n\n"
    "  -r, --nrhs=COUNT     right-hand sides (default 1)\n"
    "  -t, --threads=COUNT  threads (default: chol's own)\n"
    "  -l, --lapack         solve with LAPACK too and compare\n"
    "  -h, --help           this text\n\n"
    "residual  |b - A x| / (|A| |x| eps) in the 1-norm; passes below 30, LAPACK's threshold\n"
    "error     |x - exact| / |exact|\n"
    "rcond     reciprocal condition number; an error near eps / rcond is what to "
    "expect\n\n" EXIT_CODE_HELP;

static const double kThreshold = 30.0;
static const double kEps = DBL_EPSILON / 2; /* LAPACK's dlamch('E') */

typedef struct {
  long nrhs, threads;
  bool lapack;
} options_t;

/** One matrix, its system and what came out. After posv the lower triangle of A holds the factor;
 *  the strict upper one is as it was and, with `diagonal`, still knows the whole matrix. */
typedef struct {
  int64_t n, entries, nrhs;
  double *A, *diagonal, *exact, *b, *x;
  double anorm, residual, error, rcond, logdet, seconds, lapack_seconds;
} problem_t;

/* y += a x, reading the strict upper triangle and the diagonal only, column by column. */
static void add_product(const problem_t* p, double a, const double* x, double* y) {
  for (int64_t j = 0; j < p->n; ++j) {
    const double* column = p->A + j * p->n;
    double sum = p->diagonal[j] * x[j];
    for (int64_t i = 0; i < j; ++i) {
      y[i] += a * column[i] * x[j];
      sum += column[i] * x[i];
    }
    y[j] += a * sum;
  }
}

static double sum_of_magnitudes(const double* v, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += fabs(v[i]);
  return sum;
}

/* The 1-norm. pocon needs that of the matrix, so it has to be taken before posv. */
static double matrix_norm(const problem_t* p) {
  double norm = 0;
  for (int64_t j = 0; j < p->n; ++j) {
    norm = fmax(norm, sum_of_magnitudes(p->A + j * p->n, p->n));
  }
  return norm;
}

static bool prepare(problem_t* p, int64_t nrhs, failure_t* failure) {
  size_t bytes = (size_t)(p->n * nrhs + 1) * sizeof(double);
  p->nrhs = nrhs;
  p->diagonal = malloc((size_t)(p->n + 1) * sizeof(double));
  p->exact = malloc(bytes);
  p->b = calloc(1, bytes);
  p->x = malloc(bytes);
  if (!p->diagonal || !p->exact || !p->b || !p->x) {
    return fail(failure, kExitLibrary, "no memory for %" PRId64 " right-hand sides", nrhs);
  }
  for (int64_t i = 0; i < p->n; ++i) p->diagonal[i] = p->A[i + i * p->n];
  p->anorm = matrix_norm(p);
  for (int64_t k = 0; k < nrhs; ++k) {
    for (int64_t i = 0; i < p->n; ++i) p->exact[i + k * p->n] = 1.0 + (double)((i + k) % 7) / 7.0;
    add_product(p, 1.0, p->exact + k * p->n, p->b + k * p->n);
  }
  memcpy(p->x, p->b, (size_t)(p->n * nrhs) * sizeof(double));
  return true;
}

static bool solve(chol_handle_t handle, const char* path, problem_t* p, failure_t* failure) {
  int info = 0;
  double begin = wall_seconds();
  if (!library(handle, chol_dposv(handle, CHOL_LOWER, p->n, p->nrhs, p->A, p->n, p->x, p->n, &info),
               failure)) {
    return false;
  }
  p->seconds = wall_seconds() - begin;
  if (info > 0) {
    return fail(failure, kExitNotPositiveDefinite,
                "%s: the matrix is not positive definite: its leading minor of order %d is not",
                path, info);
  }
  return library(handle, chol_dpocon(handle, CHOL_LOWER, p->n, p->A, p->n, p->anorm, &p->rcond),
                 failure) &&
         library(handle, chol_dlogdet(handle, CHOL_LOWER, p->n, p->A, p->n, &p->logdet), failure);
}

/* The largest residual and error over the right-hand sides in LAPACK's measure. */
static void measure(problem_t* p) {
  p->residual = p->error = 0;
  for (int64_t k = 0; k < p->nrhs; ++k) {
    const double *x = p->x + k * p->n, *exact = p->exact + k * p->n;
    double *r = p->b + k * p->n, difference = 0;
    add_product(p, -1.0, x, r);
    for (int64_t i = 0; i < p->n; ++i) difference += fabs(x[i] - exact[i]);
    double scale = p->anorm * sum_of_magnitudes(x, p->n) * kEps;
    if (scale > 0) p->residual = fmax(p->residual, sum_of_magnitudes(r, p->n) / scale);
    if (p->n > 0) p->error = fmax(p->error, difference / sum_of_magnitudes(exact, p->n));
  }
}

/* Undoes the factorization: the lower triangle again mirrors the upper one. */
static void restore(problem_t* p) {
  for (int64_t j = 0; j < p->n; ++j) {
    p->A[j + j * p->n] = p->diagonal[j];
    for (int64_t i = j + 1; i < p->n; ++i) p->A[i + j * p->n] = p->A[j + i * p->n];
  }
}

static bool compare_with_lapack(const char* path, problem_t* p, failure_t* failure) {
  restore(p);
  memset(p->x, 0, (size_t)(p->n * p->nrhs) * sizeof(double));
  for (int64_t k = 0; k < p->nrhs; ++k) {
    add_product(p, 1.0, p->exact + k * p->n, p->x + k * p->n);
  }
  double begin = wall_seconds();
  int info = lapack_dposv(p->n, p->nrhs, p->A, p->n, p->x, p->n);
  p->lapack_seconds = wall_seconds() - begin;
  return info == 0 || fail(failure, kExitCheckFailed, "%s: LAPACK's dposv returned %d", path, info);
}

static void print_header(const options_t* options) {
  printf("%-16s %6s %8s %10s %8s %9s %9s %9s %12s", "matrix", "n", "entries", "posv ms", "Gflop/s",
         "residual", "error", "rcond", "logdet");
  if (options->lapack) printf(" %10s %7s", "LAPACK ms", "ratio");
  printf("\n");
}

static void print_row(const options_t* options, const char* path, const problem_t* p) {
  const char* slash = strrchr(path, '/');
  double n = (double)p->n, flops = n * n * n / 3 + 2 * n * n * (double)p->nrhs;
  printf("%-16s %6" PRId64 " %8" PRId64 " %10.3f %8.2f %9.2g %9.2g %9.2g %12.6g",
         slash ? slash + 1 : path, p->n, p->entries, 1e3 * p->seconds, 1e-9 * flops / p->seconds,
         p->residual, p->error, p->rcond, p->logdet);
  if (options->lapack) {
    printf(" %10.3f %7.2f", 1e3 * p->lapack_seconds, p->lapack_seconds / p->seconds);
  }
  printf("\n");
  fflush(stdout);
}

static bool work(chol_handle_t handle, const options_t* options, const char* path, problem_t* p,
                 failure_t* failure) {
  if (!matrix_market_read(path, &p->n, &p->entries, &p->A, failure)) return false;
  if (!prepare(p, options->nrhs, failure)) return false;
  if (p->n >= 2000) {
    announce("%s: factoring a %" PRId64 " x %" PRId64 " matrix (%.2f GB)", path, p->n, p->n,
             8e-9 * (double)p->n * (double)p->n);
  }
  if (!solve(handle, path, p, failure)) return false;
  measure(p);
  if (options->lapack && !compare_with_lapack(path, p, failure)) return false;
  print_row(options, path, p);
  if (p->residual < kThreshold) return true;
  return fail(failure, kExitCheckFailed, "%s: the residual is %g, must be below %g", path,
              p->residual, kThreshold);
}

static bool work_and_free(chol_handle_t handle, const options_t* options, const char* path,
                          failure_t* failure) {
  problem_t problem = {0};
  bool done = work(handle, options, path, &problem, failure);
  free(problem.A);
  free(problem.diagonal);
  free(problem.exact);
  free(problem.b);
  free(problem.x);
  return done;
}

static bool parse(int argc, char** argv, options_t* options, failure_t* failure) {
  static const struct option kOptions[] = {{"nrhs", required_argument, NULL, 'r'},
                                           {"threads", required_argument, NULL, 't'},
                                           {"lapack", no_argument, NULL, 'l'},
                                           {"help", no_argument, NULL, 'h'},
                                           {NULL, 0, NULL, 0}};
  static const char kTry[] = "try 'stiffness --help'";
  for (int c; (c = getopt_long(argc, argv, "r:t:lh", kOptions, NULL)) != -1;) {
    bool good = true;
    if (c == 'h') {
      fputs(kHelp, stdout);
      exit(kExitOk);
    } else if (c == 'r') {
      good = parse_integer("nrhs", optarg, 1, 10000, &options->nrhs, failure);
    } else if (c == 't') {
      good = parse_integer("threads", optarg, 1, 4096, &options->threads, failure);
    } else if (c == 'l') {
      options->lapack = true;
    } else {
      good = fail(failure, kExitUsage, "%s", kTry);
    }
    if (!good) return false;
  }
  if (optind == argc) return fail(failure, kExitUsage, "no file given; %s", kTry);
  if (options->lapack && !lapack_available()) {
    return fail(failure, kExitUsage, "--lapack: this program was built without LAPACKE");
  }
  return true;
}

int main(int argc, char** argv) {
  options_t options = {.nrhs = 1};
  failure_t failure = {0};
  chol_handle_t handle = NULL;
  if (!parse(argc, argv, &options, &failure)) return report("stiffness", &failure);
  if (!library_open((int)options.threads, &handle, &failure)) {
    chol_destroy(handle);
    return report("stiffness", &failure);
  }
  int code = kExitOk;
  print_header(&options);
  for (int f = optind; f < argc; ++f) {
    if (work_and_free(handle, &options, argv[f], &failure)) continue;
    report("stiffness", &failure);
    if (code == kExitOk) code = failure.code; /* the first failure decides, the rest still runs */
  }
  chol_destroy(handle);
  return code;
}
