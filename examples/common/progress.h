/** Wall-clock time, and one line on stderr that says how far long work has come. */
#ifndef CHOL_EXAMPLES_PROGRESS_H
#define CHOL_EXAMPLES_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/** Seconds on a clock that never steps back. */
double wall_seconds(void);

enum { kMostRepeats = 99 /**< of a timed run */ };

typedef struct {
  const char* what;
  int64_t total;
  double begin, last;
  bool terminal, shown;
} progress_t;

/** Starts work of `total` steps; nothing is printed until it has taken half a second. */
progress_t progress_begin(const char* what, int64_t total);
void progress_step(progress_t* progress, int64_t done);
/** Ends the line, if there is one. */
void progress_end(progress_t* progress);

/** Says at once what a call that cannot be interrupted is about to do. */
void announce(const char* format, ...) __attribute__((format(printf, 1, 2)));

#endif
