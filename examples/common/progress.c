#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

double wall_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

progress_t progress_begin(const char* what, int64_t total) {
  double now = wall_seconds();
  progress_t progress = {what, total, now, now, isatty(STDERR_FILENO) != 0, false};
  return progress;
}

static void show(progress_t* progress, int64_t done) {
  double percent = progress->total > 0 ? 100.0 * (double)done / (double)progress->total : 100.0;
  fprintf(stderr, "%s%s: %3.0f %%  %.1f s%s", progress->terminal ? "\r\033[K" : "", progress->what,
          percent, wall_seconds() - progress->begin, progress->terminal ? "" : "\n");
  fflush(stderr);
  progress->shown = true;
}

void progress_step(progress_t* progress, int64_t done) {
  double now = wall_seconds();
  /* A terminal line is rewritten in place; a log gets a new line each time, so fewer of them. */
  double pause = progress->terminal ? 0.2 : 2.0;
  if (now - progress->begin < 0.5 || now - progress->last < pause) return;
  progress->last = now;
  show(progress, done);
}

void progress_end(progress_t* progress) {
  if (!progress->shown) return;
  show(progress, progress->total);
  if (progress->terminal) fputc('\n', stderr);
}

void announce(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  fflush(stderr);
}
