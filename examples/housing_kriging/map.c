#include "map.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gnuplot.h"

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

/* One panel: the values in `column` of the data; its lower left corner in fractions of the image.
 */
static void put_city(FILE* file, const char* title, double left, double bottom, int column) {
  fprintf(file,
          "set margins screen %g, screen %g, screen %g, screen %g\n"
          "set title '%s'\n"
          "plot data index 1 using 1:2 with points ls 1, \\\n"
          "     data index 0 using 1:2:($%d/1000) with points ls 3\n",
          left, left + 0.25, bottom, bottom + 0.38, title, column);
}

static void put_cities(FILE* file) {
  enum { kKnown = 3, kPredicted = 4 };
  fputs(
      "unset colorbox\nunset label 1\n"
      "set xtics 0.4\nset ytics 0.2\n"
      "set xrange [-122.78:-121.45]\nset yrange [37.18:38.08]\n",
      file);
  put_city(file, "San Francisco Bay, predicted", 0.45, 0.51, kPredicted);
  put_city(file, "San Francisco Bay, census", 0.73, 0.51, kKnown);
  fputs("set xrange [-118.75:-117.60]\nset yrange [33.58:34.36]\n", file);
  put_city(file, "Los Angeles, predicted", 0.45, 0.05, kPredicted);
  put_city(file, "Los Angeles, census", 0.73, 0.05, kKnown);
}

/* Dark is expensive. A degree of longitude is drawn 0.8 times as long as one of latitude, which it
   is at 37 degrees north. */
static const char kState[] =
    "set palette defined (0 '#fcd53b', 1 '#f58f46', 2 '#d9506a', 3 '#9c2a8c', 4 '#43109c', "
    "5 '#0c0a4d')\n"
    "set cbrange [0:500]\n"
    "set object 1 rectangle from graph 0,0 to graph 1,1 behind fillcolor rgb '#f4f4f4' "
    "fillstyle solid noborder\n"
    "set border linecolor rgb '#999999'\n"
    "set tics scale 0.4 textcolor rgb '#555555' font ',11'\n"
    "set format x '%g'\nset format y '%g'\n"
    "set style line 1 pointtype 7 pointsize 0.3 linecolor rgb '#d0d0d0'\n"
    "set style line 2 pointtype 7 pointsize 0.45 linecolor palette\n"
    "set style line 3 pointtype 7 pointsize 0.8 linecolor palette\n"
    "unset key\n"
    "set multiplot\n"
    "set label 1 'House values in California, predicted by local kriging' at screen 0.5,0.96 "
    "center font ',22'\n"
    "set size ratio -1.25\n"
    "set margins screen 0.04, screen 0.42, screen 0.16, screen 0.89\n"
    "set title 'held-out census blocks, predicted (grey: known ones)' font ',14' offset 0,-0.5\n"
    "set colorbox horizontal user origin 0.06,0.075 size 0.34,0.022\n"
    "set cblabel 'median house value, 1000 dollars' font ',12'\n"
    "plot data index 1 using 1:2 with points ls 1, \\\n"
    "     data index 0 using 1:2:($4/1000) with points ls 2\n";

static bool write_script(const char* path, const char* map, const char* data, failure_t* failure) {
  FILE* file = fopen(path, "w");
  if (!file) return fail(failure, kExitNoInput, "%s: %s", path, strerror(errno));
  gnuplot_output(file, map, 1800, 1000);
  fputs("data = ", file);
  gnuplot_quote(file, data);
  fputs(kState, file);
  put_cities(file);
  return fclose(file) == 0 || fail(failure, kExitNoInput, "%s: %s", path, strerror(errno));
}

bool map_draw(const char* path, const housing_t* housing, const block_t* const centres[],
              const prediction_t predictions[], int64_t count, failure_t* failure) {
  char data[4096], script[4096];
  if (snprintf(data, sizeof data, "%s.dat", path) >= (int)sizeof data) {
    return fail(failure, kExitUsage, "--map: the path is too long");
  }
  snprintf(script, sizeof script, "%s.gp", path);
  return write_data(data, housing, centres, predictions, count, failure) &&
         write_script(script, path, data, failure) && gnuplot_run(script, path, failure);
}
