#include "tools/tune/point.hpp"

#include <sstream>
#include <stdexcept>

namespace chol::tune {
namespace {

constexpr Routine kRoutines[] = {Routine::potrf, Routine::potrs, Routine::posv, Routine::potri};
/// Orders above this one are not for lanes.
constexpr int64_t kMostForLanes = 256;

}  // namespace

std::string text_of(const Point& point) {
  return std::string(routine_name(point.routine)) + ' ' + point.precision + ' ' +
         std::to_string(point.n);
}

std::string text_of(const Plan& plan) {
  std::string text = method_name(plan.method);
  if (plan.block) text += " block " + std::to_string(plan.block);
  if (plan.tile) text += " tile " + std::to_string(plan.tile);
  return text;
}

std::string json_of(const Plan& plan) {
  std::ostringstream text;
  text << "\"method\": \"" << method_name(plan.method) << "\", \"block\": " << plan.block
       << ", \"tile\": " << plan.tile;
  return text.str();
}

std::vector<Plan> candidates(const Point& point) {
  std::vector<Plan> all;
  if (point.n <= kMostForLanes) {
    all.push_back({Method::lanes, 0, 0, 0});
    if (point.routine == Routine::potrf)
      for (const int tile : {2, 3, 4}) all.push_back({Method::lanes, 0, tile, 0});
  }
  all.push_back(plan_beyond(point.routine));
  return all;
}

Plan plan_beyond(Routine routine) {
  // Solves of up to three right-hand sides go vector by vector.
  const bool solves = routine == Routine::potrs || routine == Routine::posv;
  return {Method::panel, 0, solves ? 3 : 0, 0};
}

std::vector<Point> points(const Scope& scope) {
  std::vector<int64_t> orders = {2,  4,  6,  8,  10, 12, 14, 16,  20,  24,
                                 28, 32, 40, 48, 64, 80, 96, 112, 128, 160};
  if (scope.quick) orders = {4, 8, 16, 32, 64, 128};
  std::vector<Point> all;
  for (const Routine routine : kRoutines) {
    const std::string name = routine_name(routine);
    if (scope.routines != "all" &&
        ("," + scope.routines + ",").find("," + name + ",") == std::string::npos)
      continue;
    for (const char precision : scope.precisions) {
      if (std::string("sdcz").find(precision) == std::string::npos)
        throw std::invalid_argument(std::string("no such precision: ") + precision);
      for (const int64_t n : orders) all.push_back({routine, precision, n});
    }
  }
  if (all.empty()) throw std::invalid_argument("no such routine: " + scope.routines);
  return all;
}

}  // namespace chol::tune
