/*
 * All census blocks of California as one Gaussian process: the covariance of 16,500 points is kept
 * in tiles of low rank, factored once, and gives the generalized least squares fit of the mean, the
 * likelihood and the predictions of the blocks that were held back.
 */
#include <chol.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "library.h"
#include "process.h"

static const char kUsage[] =
    "usage: kriging_tlr [--eps=E] [--length=KM] [--nugget=G] [--tile=N] [--share=S] [--fit=N]\n"
    "                   [--dense=N] [--deviation] [--map=FILE.png] [--threads=T] FILE.csv\n"
    "Predicts the house values that are held back from all others by one Gaussian process with\n"
    "Matern covariance (nu = 3/2) and a mean that is linear in the log income.\n"
    "--fit       maximizes the likelihood over length and nugget in at most N evaluations (NLopt)\n"
    "--dense     compares the likelihood of the first N blocks with that of a dense factor\n"
    "--deviation predicts how far the values may be off; --map draws it too\n" EXIT_CODE_HELP;

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
    } else if (strncmp(word, "--fit=", 6) == 0) {
      good = parse_integer("--fit", value + 1, 1, 10000, &options->fit, failure);
    } else if (strncmp(word, "--dense=", 8) == 0) {
      good = parse_integer("--dense", value + 1, 1, 40000, &options->dense, failure);
    } else if (strncmp(word, "--threads=", 10) == 0) {
      good = parse_integer("--threads", value + 1, 0, 1024, &options->threads, failure);
    } else if (strcmp(word, "--deviation") == 0) {
      options->deviation = true;
    } else if (strncmp(word, "--map=", 6) == 0) {
      options->map = value + 1;
    } else {
      good = fail(failure, kExitUsage, "'%s' is not an option; try --help", word);
    }
    if (!good) return false;
  }
  return options->file || fail(failure, kExitUsage, "no file given; try --help");
}

static bool work(chol_handle_t handle, options_t* options, const housing_t* housing,
                 process_t* process, failure_t* failure) {
  chol_tlr_t R = NULL;
  if (options->dense && !process_compare(handle, options, housing, failure)) return false;
  bool good = process_prepare(housing, housing->training, options->tile, process, failure) &&
              library(handle, chol_tlr_create(handle, CHOL_TYPE_D, process->n, options->tile, &R),
                      failure) &&
              (!options->fit || process_optimize(handle, R, options, process, failure)) &&
              process_solve(handle, R, options, true, process, failure);
  if (good)
    printf("mean %.3f + %.3f log income, log-likelihood %.1f\n", process->beta[0], process->beta[1],
           process->likelihood);
  good = good && process_predict(handle, R, options, housing, process, failure);
  chol_tlr_destroy(R);
  return good;
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
                    library_open((int)options.threads, &handle, &failure) &&
                    work(handle, &options, &housing, &process, &failure);
  chol_destroy(handle);
  housing_free(&housing);
  process_free(&process);
  return good ? kExitOk : report("kriging_tlr", &failure);
}
