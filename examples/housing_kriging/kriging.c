#include "kriging.h"

#include <math.h>

#include "numbers.h"
#include "trend.h"

/* f of the centre less what the neighbours' f predict of it: f0 - F' R^-1 c. */
static void trend_gap(const systems_t* s, int64_t k, const trend_t* t, double gap[2]) {
  const double* to_centre = s->B[k] + kToCentre * s->n[k];
  const double f0[2] = {1.0, s->where->centre[k]->log_income};
  for (int p = 0; p < t->terms; ++p) {
    gap[p] = f0[p];
    for (int64_t i = 0; i < s->n[k]; ++i) gap[p] -= systems_side(s, k, i, kOne + p) * to_centre[i];
  }
}

static prediction_t predict_one(const systems_t* s, int64_t k, double* by_weights) {
  const int64_t n = s->n[k];
  const double *c = s->B[k] + kToCentre * n, *y = s->B[k] + kLogValue * n, *F = s->B[k] + kOne * n;
  const trend_t t = trend_fit(s, k);
  double gap[2], slope[2] = {0, 0}; /* slope = gram * gap */
  trend_gap(s, k, &t, gap);
  double share = 1.0, mean = 0;
  for (int p = 0; p < t.terms; ++p) {
    for (int q = 0; q < t.terms; ++q) slope[p] += t.gram[p][q] * gap[q];
    share += slope[p] * gap[p];
    mean += t.coefficient[p] * (p == 0 ? 1.0 : s->where->centre[k]->log_income);
  }
  *by_weights = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double to_centre = systems_side(s, k, i, kToCentre);
    double weight = c[i], residual = y[i];
    for (int p = 0; p < t.terms; ++p) {
      weight += F[i + p * n] * slope[p];
      residual -= F[i + p * n] * t.coefficient[p];
    }
    mean += to_centre * residual;
    share -= to_centre * c[i];
    *by_weights += weight * systems_side(s, k, i, kLogValue);
  }
  return (prediction_t){
      .value = exp(mean), .log_value = mean, .log_deviation = sqrt(fmax(share, 0.0) * t.variance)};
}

double kriging_predict(const systems_t* systems, prediction_t predictions[]) {
  double worst = 0;
  for (int64_t k = 0; k < systems->batch; ++k) {
    double by_weights;
    predictions[k] = predict_one(systems, k, &by_weights);
    double difference = fabs(by_weights - predictions[k].log_value);
    worst = worse(worst, difference / fmax(1, fabs(predictions[k].log_value)));
  }
  return worst;
}

score_t score(const block_t* const centres[], const double predicted[], int64_t count) {
  double squares = 0, magnitudes = 0;
  for (int64_t k = 0; k < count; ++k) {
    double error = predicted[k] - centres[k]->value;
    squares += error * error;
    magnitudes += fabs(error);
  }
  return (score_t){sqrt(squares / (double)count), magnitudes / (double)count};
}
