#include "tools/tune/host_space.hpp"

#include "host/methods.hpp"
#include "host/rows.hpp"
#include "tools/tune/child.hpp"
#include "tools/tune/trial.hpp"

namespace chol::tune {
namespace {

/// All choices of a method with one knob.
void add_all(std::vector<Choice>& all, const MethodInfo& method, const Point& point) {
  const Knob& knob = method.knobs[0];
  for (int value = knob.least; value <= knob.most; ++value) {
    const Choice choice(method, {{knob.name, value}});
    const Row row{point.routine, point.form, point.precision, {.n = {0, point.n}}, choice};
    if (host::accepts(row, false)) add_choice(all, choice);
  }
}
/// Solves with up to three right-hand sides treat one vector at a time.
Choice panel_of(Routine routine) {
  const bool solves = routine == Routine::potrs || routine == Routine::posv;
  return {host::kPanel, {{"few_rhs", solves ? 3 : 0}}};
}

}  // namespace

HostSpace::HostSpace(int threads) : machine_(backend_name(CHOL_BACKEND_HOST)), threads_(threads) {
  // "host avx512"
  built_in_.load_rows(host_rows(machine_.substr(machine_.find(' ') + 1).c_str()));
}

std::vector<Point> HostSpace::points(const Scope& scope) const {
  std::vector<int64_t> orders = {2,  4,  6,  8,  10, 12, 14, 16,  20,  24,
                                 28, 32, 40, 48, 64, 80, 96, 112, 128, 160};
  if (scope.quick) orders = {4, 8, 16, 32, 64, 128};
  return points_of(scope, Form::interleaved,
                   {Routine::potrf, Routine::potrs, Routine::posv, Routine::potri}, orders);
}

std::vector<Choice> HostSpace::candidates(const Point& point) const {
  Case asked{point.routine, point.form, point.precision};
  asked.n = point.n;
  std::vector<Choice> all = {
      built_in_.rows(point.routine, point.form, point.precision).choose(asked)};
  add_all(all, host::kInterleavedLanes, point);
  add_choice(all, panel_of(point.routine));
  return all;
}

double HostSpace::rate(const Point& point, const Choice& choice, double seconds) {
  const TemporaryFile file;
  file.write(tuning_text(machine_, point, choice));
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
