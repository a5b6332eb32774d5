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

std::string text_of(const Choice& choice) {
  std::string text = choice.method->name;
  for (size_t k = 0; k < choice.method->knobs.size(); ++k)
    if (choice.values[k] != 0)
      text +=
          std::string(" ") + choice.method->knobs[k].name + ' ' + std::to_string(choice.values[k]);
  return text;
}

std::string json_of(Routine routine, const Choice& choice) {
  std::ostringstream text;
  if (routine == Routine::posv && choice.method->is_of_one_rhs) text << "\"nrhs\": [1, 1], ";
  text << "\"method\": \"" << choice.method->name << "\", \"params\": {";
  for (size_t k = 0; k < choice.method->knobs.size(); ++k)
    text << (k ? ", " : "") << '"' << choice.method->knobs[k].name << "\": " << choice.values[k];
  text << '}';
  return text.str();
}

bool has_choice(const std::vector<Choice>& choices, const Choice& choice) {
  return std::find(choices.begin(), choices.end(), choice) != choices.end();
}

void add_choice(std::vector<Choice>& choices, const Choice& choice) {
  if (!has_choice(choices, choice)) choices.push_back(choice);
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
