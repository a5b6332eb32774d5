/**
 * How the examples report that something went wrong: a function returns false and leaves an exit
 * code and one sentence for the user; main prints the sentence and returns the code.
 */
#ifndef CHOL_EXAMPLES_FAILURE_H
#define CHOL_EXAMPLES_FAILURE_H

#include <stdbool.h>

/** Exit codes of the examples; --help lists them. */
enum {
  kExitOk = 0,
  kExitCheckFailed = 1,         /**< A result is not as accurate as it must be. */
  kExitUsage = 2,               /**< A wrong option or argument. */
  kExitNoInput = 3,             /**< A file cannot be opened or read. */
  kExitBadInput = 4,            /**< A file holds something else than it should. */
  kExitNotPositiveDefinite = 5, /**< A matrix has no Cholesky factor. */
  kExitLibrary = 6              /**< chol reported an error, or memory ran out. */
};

#define EXIT_CODE_HELP                                                       \
  "Exit codes: 0 done, 1 a result failed its check, 2 wrong command line,\n" \
  "            3 a file cannot be read, 4 a file is malformed,\n"            \
  "            5 a matrix is not positive definite, 6 chol failed or no memory\n"

typedef struct {
  int code;
  char message[512];
} failure_t;

/** Fills in the failure and returns false, so that callers write `return fail(...)`. */
bool fail(failure_t* failure, int code, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

/** Prints "program: message" to stderr and returns the exit code. */
int report(const char* program, const failure_t* failure);

#endif
