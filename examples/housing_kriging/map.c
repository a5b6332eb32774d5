#include "map.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool write_data(const char* path, const housing_t* housing, const block_t* const centres[],
                       const prediction_t predictions[], int64_t count, failure_t* failure) {
  FILE* file = fopen(path, "w");
  if (!file) return fail(failure, kExitNoInput, "%s: %s", path, strerror(errno));
  fputs("# held out: longitude latitude known predicted deviation_of_log\n", file);
  for (int64_t k = 0; k < count; ++k) {
    fprintf(file, "%.4f %.4f %.0f %.0f %.4f\n", centres[k]->longitude, centres[k]->latitude,
            centres[k]->value, predictions[k].value, predictions[k].log_deviation);
  }
  fputs("\n\n# training: longitude latitude known\n", file);
  for (int64_t i = 0; i < housing->training; ++i) {
    const block_t* block = &housing->blocks[i];
    fprintf(file, "%.4f %.4f %.0f\n", block->longitude, block->latitude, block->value);
  }
  return fclose(file) == 0 || fail(failure, kExitNoInput, "%s: %s", path, strerror(errno));
}

static bool write_script(const char* path, const char* map, const char* data, int64_t count,
                         failure_t* failure) {
  FILE* file = fopen(path, "w");
  if (!file) return fail(failure, kExitNoInput, "%s: %s", path, strerror(errno));
  bool png = strcmp(map + strlen(map) - 4, ".png") == 0;
  fprintf(file, "set terminal %s size 1500,1000 %s\nset output '%s'\ndata = '%s'\n",
          png ? "pngcairo" : "svg", png ? "" : "background 'white'", map, data);
  fprintf(file,
          "set multiplot\n"
          "unset key\n"
          "plot data index 0 using 1:2:($4/1000) with points pt 7 ps .4 palette\n"
          "unset multiplot\n");
  (void)count;
  return fclose(file) == 0 || fail(failure, kExitNoInput, "%s: %s", path, strerror(errno));
}

/* Runs gnuplot without a shell, so that no character of a path means anything. */
static bool run_gnuplot(const char* script, const char* map, failure_t* failure) {
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
  printf("map          %s\n", map);
  return true;
}

bool map_draw(const char* path, const housing_t* housing, const block_t* const centres[],
              const prediction_t predictions[], int64_t count, failure_t* failure) {
  char data[4096], script[4096];
  if (snprintf(data, sizeof data, "%s.dat", path) >= (int)sizeof data) {
    return fail(failure, kExitUsage, "--map: the path is too long");
  }
  snprintf(script, sizeof script, "%s.gp", path);
  return write_data(data, housing, centres, predictions, count, failure) &&
         write_script(script, path, data, count, failure) && run_gnuplot(script, path, failure);
}
