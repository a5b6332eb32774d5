// One plan timed at one point, in a process of its own: the library reads its tuning file once.
#pragma once

#include <string>

#include "tools/tune/point.hpp"

namespace chol::tune {

/// Times what chol_create makes of the environment. Gflop/s, or 0 when a result is wrong.
double time_point(const Point& point, double seconds, int threads);

/// Runs this program again with a tuning file that names the plan, and returns what it measured;
/// 0 when the plan was refused or its results are wrong.
/// @param machine the backend's name.
double try_plan(const Point& point, const Plan& plan, const std::string& machine, double seconds,
                int threads);

}  // namespace chol::tune
