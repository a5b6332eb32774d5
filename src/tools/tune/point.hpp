// What chol-tune looks for a plan for, and the plans it tries.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tune/plan.hpp"

namespace chol::tune {

/// Interleaved batches of one order.
struct Point {
  Routine routine;
  char precision;
  int64_t n;
};
/// "potrf d 16"
std::string text_of(const Point& point);
/// "lanes tile 3"
std::string text_of(const Plan& plan);
/// The member of a tuning file or journal.
std::string json_of(const Plan& plan);

/// Plans that a backend may accept at this order, the built-in one first.
std::vector<Plan> candidates(const Point& point);
/// The plan for orders above all that were measured.
Plan plan_beyond(Routine routine);

struct Scope {
  std::string routines = "all", precisions = "sdcz";
  bool quick = false;
};
/// The points of a run, in the order they are measured. Throws std::invalid_argument.
std::vector<Point> points(const Scope& scope);

}  // namespace chol::tune
