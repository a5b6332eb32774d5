/** Small statistics. */
#ifndef CHOL_EXAMPLES_NUMBERS_H
#define CHOL_EXAMPLES_NUMBERS_H

#include <stdint.h>

/** The larger of two magnitudes of errors, NaN when one of them is: fmax() would hide it. */
double worse(double a, double b);

/** The median of some numbers, which are sorted by it. */
double median(double* values, int64_t count);

#endif
