#include "tools/tune/host_space.hpp"

#include "host/rows.hpp"
#include "tools/tune/child.hpp"
#include "tools/tune/trial.hpp"

namespace chol::tune {
namespace {

/// Orders above this one are not for lanes.
constexpr int64_t kMostForLanes = 256;

/// The plan for orders above all that were measured.
Plan panel_of(Routine routine) {
  // Solves of up to three right-hand sides go vector by vector.
  const bool solves = routine == Routine::potrs || routine == Routine::posv;
  return {Method::panel, 0, solves ? 3 : 0, 0};
}

}  // namespace

HostSpace::HostSpace(int threads) : machine_(backend_name(CHOL_BACKEND_HOST)), threads_(threads) {
  // "host avx512"
  const HostRows built_in = host_rows(machine_.substr(machine_.find(' ') + 1).c_str());
  built_in_.load_rows(built_in.rows, built_in.count);
}

std::vector<Point> HostSpace::points(const Scope& scope) const {
  std::vector<int64_t> orders = {2,  4,  6,  8,  10, 12, 14, 16,  20,  24,
                                 28, 32, 40, 48, 64, 80, 96, 112, 128, 160};
  if (scope.quick) orders = {4, 8, 16, 32, 64, 128};
  return points_of(scope, Form::interleaved,
                   {Routine::potrf, Routine::potrs, Routine::posv, Routine::potri}, orders);
}

std::vector<Plan> HostSpace::candidates(const Point& point) const {
  std::vector<Plan> all = {
      built_in_.plans(point.routine, point.form, point.precision).plan_for(point.n)};
  if (point.n <= kMostForLanes) {
    add_plan(all, {Method::lanes, 0, 0, 0});
    if (point.routine == Routine::potrf)
      for (const int tile : {2, 3, 4}) add_plan(all, {Method::lanes, 0, tile, 0});
  }
  add_plan(all, panel_of(point.routine));
  return all;
}

PlanRows HostSpace::beyond(const Point& point) const {
  return {{INT64_MAX, panel_of(point.routine)}};
}

double HostSpace::rate(const Point& point, const Plan& plan, double seconds) {
  const TemporaryFile file;
  file.write(tuning_text(machine_, point, plan, beyond(point)));
  Child child(file.path(),
              {"--trial", routine_name(point.routine), std::string(1, point.precision),
               std::to_string(point.n), std::to_string(seconds), std::to_string(threads_)});
  std::string line;
  return child.read_line(line, kLongestTrial) && child.ended_well()
             ? std::strtod(line.c_str(), nullptr)
             : 0;
}

bool HostSpace::takes(const std::string& path) {
  Child child(path, {"--open", "host"});
  return child.ended_well();
}

}  // namespace chol::tune
