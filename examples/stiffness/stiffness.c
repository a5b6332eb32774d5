/**
 * Reads symmetric matrices from Matrix Market files and, for each, factors it, solves a system
 * whose solution is known, and says how far the answer can be trusted: the residual, the true error
 * and the condition estimate that explains it.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "failure.h"
#include "lapack_peer.h"
#include "library.h"
#include "problem.h"
#include "progress.h"

static const char kHelp[] =
    "Usage: stiffness [OPTION]... FILE.mtx...\n"
    "Factors the symmetric positive definite matrix of each Matrix Market file, solves a system\n"
    "with a known solution, and prints the residual, the error and the condition estimate.\n\n"
    "  -r, --nrhs=COUNT     right-hand sides (default 1)\n"
    "  -t, --threads=COUNT  threads (default: chol's own)\n"
    "  -l, --lapack         solve with LAPACK too, for its time\n"
    "      --repeat=COUNT   timed runs, the median counts (default 1)\n"
    "  -h, --help           this text\n\n"
    "residual  |b - A x| / (|A| |x| eps) in the 1-norm; passes below 30, LAPACK's threshold\n"
    "error     |x - exact| / |exact|\n"
    "rcond     reciprocal condition number; an error near eps / rcond is what to "
    "expect\n\n" EXIT_CODE_HELP;

static const double kThreshold = 30.0;

typedef struct {
  long nrhs, threads, repeat;
  bool lapack;
} options_t;

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
  if (!problem_read(path, options->nrhs, p, failure)) return false;
  if (p->n >= 2000) {
    announce("%s: factoring a %" PRId64 " x %" PRId64 " matrix (%.2f GB)", path, p->n, p->n,
             8e-9 * (double)p->n * (double)p->n);
  }
  if (!problem_solve(handle, options->repeat, p, failure)) return false;
  problem_measure(p);
  if (options->lapack && !problem_solve_by_lapack(options->repeat, p, failure)) return false;
  print_row(options, path, p);
  if (p->residual < kThreshold) return true;
  return fail(failure, kExitCheckFailed, "%s: the residual is %g, must be below %g", path,
              p->residual, kThreshold);
}

static bool parse(int argc, char** argv, options_t* options, failure_t* failure) {
  enum { kRepeat = 256 };
  static const struct option kOptions[] = {
      {"nrhs", required_argument, NULL, 'r'}, {"threads", required_argument, NULL, 't'},
      {"lapack", no_argument, NULL, 'l'},     {"repeat", required_argument, NULL, kRepeat},
      {"help", no_argument, NULL, 'h'},       {NULL, 0, NULL, 0}};
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
    } else if (c == kRepeat) {
      good = parse_integer("repeat", optarg, 1, kMostRepeats, &options->repeat, failure);
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
  options_t options = {.nrhs = 1, .repeat = 1};
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
    problem_t problem;
    bool done = work(handle, &options, argv[f], &problem, &failure);
    problem_free(&problem);
    if (done) continue;
    report("stiffness", &failure);
    if (code == kExitOk) code = failure.code; /* the first failure decides, the rest still runs */
  }
  chol_destroy(handle);
  return code;
}
