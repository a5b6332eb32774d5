#include "gnuplot.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void gnuplot_quote(FILE* file, const char* text) {
  fputc('\'', file);
  for (; *text != '\0'; ++text) {
    if (*text == '\'') fputc('\'', file);
    fputc(*text, file);
  }
  fputs("'\n", file);
}

void gnuplot_output(FILE* file, const char* picture, int width, int height) {
  const size_t length = strlen(picture);
  const bool png = length > 4 && strcmp(picture + length - 4, ".png") == 0;
  fprintf(file, "set terminal %s size %d,%d background rgb 'white'\nset output ",
          png ? "pngcairo" : "svg", width, height);
  gnuplot_quote(file, picture);
}

/* Without a shell, so that no character of a path means anything. */
bool gnuplot_run(const char* script, const char* picture, failure_t* failure) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    execlp("gnuplot", "gnuplot", script, (char*)NULL);
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0) {
    return fail(failure, kExitLibrary, "cannot run gnuplot: %s", strerror(errno));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    printf(
        "map          not drawn: gnuplot is missing; install it (apt-get install gnuplot-nox) "
        "and run: gnuplot %s\n",
        script);
    return true;
  }
  if (status != 0) return fail(failure, kExitCheckFailed, "gnuplot failed on %s", script);
  printf("map          %s\n", picture);
  return true;
}
