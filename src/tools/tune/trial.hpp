// Times one plan at one point on the host, as selected by the environment.
#pragma once

#include <chol.h>

#include <string>
#include <vector>

#include "tools/tune/point.hpp"

namespace chol::tune {

/// Gflop/s, or 0 when a result is wrong.
double time_point(const Point& point, double seconds, int threads);

/// Checks a tuning file. Throws std::runtime_error with the message of chol_create.
std::string backend_name(chol_backend_t backend);

double median(std::vector<double>& values);

}  // namespace chol::tune
