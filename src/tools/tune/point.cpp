#include "tools/tune/point.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace chol::tune {

std::string text_of(const Point& point) {
  const std::string form =
      point.form == Form::interleaved ? "" : std::string(form_name(point.form)) + ' ';
  return std::string(routine_name(point.routine)) + ' ' + form + point.precision + ' ' +
         std::to_string(point.n);
}

std::string text_of(const Plan& plan) {
  std::string text = method_name(plan.method);
  if (plan.block) text += " block " + std::to_string(plan.block);
  if (plan.tile) text += " tile " + std::to_string(plan.tile);
  if (plan.threads) text += " threads " + std::to_string(plan.threads);
  return text;
}

std::string json_of(const Plan& plan) {
  std::ostringstream text;
  text << "\"method\": \"" << method_name(plan.method) << "\", \"block\": " << plan.block
       << ", \"tile\": " << plan.tile << ", \"threads\": " << plan.threads;
  return text.str();
}

bool same_plan(const Plan& a, const Plan& b) {
  return a.method == b.method && a.block == b.block && a.tile == b.tile && a.threads == b.threads;
}

bool has_plan(const std::vector<Plan>& plans, const Plan& plan) {
  return std::any_of(plans.begin(), plans.end(), [&](const Plan& p) { return same_plan(p, plan); });
}

void add_plan(std::vector<Plan>& plans, const Plan& plan) {
  if (!has_plan(plans, plan)) plans.push_back(plan);
}

bool same_key(const Point& a, const Point& b) {
  return a.routine == b.routine && a.precision == b.precision && a.form == b.form;
}

namespace {

bool names(const std::string& list, const std::string& name) {
  return list == "all" || ("," + list + ",").find("," + name + ",") != std::string::npos;
}

}  // namespace

std::vector<Point> points_of(const Scope& scope, Form form, const std::vector<Routine>& routines,
                             const std::vector<int64_t>& orders) {
  if (scope.precisions.empty()) throw std::invalid_argument("no precision is named");
  for (const char precision : scope.precisions)
    if (std::string("sdcz").find(precision) == std::string::npos)
      throw std::invalid_argument(std::string("no such precision: ") + precision);
  std::vector<Point> all;
  if (!names(scope.forms, form_name(form))) return all;
  constexpr int64_t kLargestOfMany = 1024;
  for (const Routine routine : routines) {
    if (!names(scope.routines, routine_name(routine))) continue;
    for (const char precision : scope.precisions)
      for (const int64_t n : scope.orders.empty() ? orders : scope.orders)
        if (form == Form::one || n <= kLargestOfMany) all.push_back({routine, precision, n, form});
  }
  return all;
}

}  // namespace chol::tune
