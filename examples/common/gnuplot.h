/** Pictures drawn by gnuplot. */
#ifndef CHOL_EXAMPLES_GNUPLOT_H
#define CHOL_EXAMPLES_GNUPLOT_H

#include <stdio.h>

#include "failure.h"

/** A text in gnuplot's single quotes, where a quote is written twice, and the end of the line. */
void gnuplot_quote(FILE* file, const char* text);

/** The terminal for a picture, .png or else SVG, and its name. */
void gnuplot_output(FILE* file, const char* picture, int width, int height);

/**
 * Runs gnuplot on a script. Where gnuplot is missing it says so and how to draw the picture later,
 * which is no failure.
 */
bool gnuplot_run(const char* script, const char* picture, failure_t* failure);

#endif
