// One plan timed at one point on the host: what chol_create makes of the environment.
#pragma once

#include <chol.h>

#include <string>
#include <vector>

#include "tools/tune/point.hpp"

namespace chol::tune {

/// Gflop/s, or 0 when a result is wrong.
double time_point(const Point& point, double seconds, int threads);

/// Of a tuning file. Throws std::runtime_error with what chol_create says against the backend.
std::string backend_name(chol_backend_t backend);

double median(std::vector<double>& values);

}  // namespace chol::tune
