#include "trend.h"

#include <math.h>

/* Dot product of an assembled column of system k with a solved one. */
static double dot(const systems_t* s, int64_t k, int assembled, int solved) {
  const double* x = s->B[k] + solved * s->n[k];
  double sum = 0;
  for (int64_t i = 0; i < s->n[k]; ++i) sum += systems_side(s, k, i, assembled) * x[i];
  return sum;
}

static void invert(trend_t* t, double a, double b, double d) {
  double determinant = a * d - b * b;
  if (t->terms == 2 && determinant > 1e-10 * a * d) {
    t->gram[0][0] = d / determinant;
    t->gram[0][1] = t->gram[1][0] = -b / determinant;
    t->gram[1][1] = a / determinant;
    t->log_determinant = log(determinant);
  } else {
    t->terms = 1;
    t->gram[0][0] = 1 / a;
    t->log_determinant = log(a);
  }
}

trend_t trend_fit(const systems_t* s, int64_t k) {
  trend_t t = {.terms = s->columns > kLogIncome ? 2 : 1};
  double moment[2] = {dot(s, k, kOne, kLogValue), 0}, b = 0, d = 0;
  if (t.terms == 2) {
    moment[1] = dot(s, k, kLogIncome, kLogValue);
    b = dot(s, k, kOne, kLogIncome);
    d = dot(s, k, kLogIncome, kLogIncome);
  }
  invert(&t, dot(s, k, kOne, kOne), b, d);
  double rest = dot(s, k, kLogValue, kLogValue);
  for (int p = 0; p < t.terms; ++p) {
    for (int q = 0; q < t.terms; ++q) t.coefficient[p] += t.gram[p][q] * moment[q];
    rest -= t.coefficient[p] * moment[p];
  }
  /* Rounding may leave a tiny negative rest where all values are equal. */
  if (s->n[k] > t.terms) t.variance = fmax(rest, 1e-12) / (double)(s->n[k] - t.terms);
  return t;
}
