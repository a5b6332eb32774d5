#include "numbers.h"

#include <math.h>
#include <stdlib.h>

double worse(double a, double b) { return a >= b || isnan(a) ? a : b; }

static int ascending(const void* left, const void* right) {
  double a = *(const double*)left, b = *(const double*)right;
  return a < b ? -1 : a > b;
}

double median(double* values, int64_t count) {
  qsort(values, (size_t)count, sizeof(double), ascending);
  return values[count / 2];
}
