// A point of a search: a routine, form, precision and order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tune/row.hpp"

namespace chol::tune {

/// Batches of one order.
struct Point {
  Routine routine;
  char precision;
  int64_t n;
  Form form = Form::interleaved;
};
/// "potrf d 16", "potrf batch d 16"
std::string text_of(const Point& point);
/// "tiles nb 64": the knobs that are not 0.
std::string text_of(const Choice& choice);
/// Members of the choice in a row of a tuning file.
std::string json_of(Routine routine, const Choice& choice);

bool has_choice(const std::vector<Choice>& choices, const Choice& choice);
/// Appends it unless present.
void add_choice(std::vector<Choice>& choices, const Choice& choice);
/// Whether both belong to one key of a tuning file.
bool same_key(const Point& a, const Point& b);

/// Calls visit(key) with the points of each key.
template <class Visit>
void for_each_key(const std::vector<Point>& points, Visit&& visit) {
  std::vector<Point> key;
  for (const Point& point : points) {
    if (!key.empty() && !same_key(key.back(), point)) {
      visit(key);
      key.clear();
    }
    key.push_back(point);
  }
  if (!key.empty()) visit(key);
}

struct Scope {
  std::string routines = "all", forms = "all", precisions = "sdcz";
  std::vector<int64_t> orders;  ///< ascending; none: those that are usual for the form
  bool quick = false;
};
/// The points of one form: each routine that the scope has, then each precision, then each order.
/// No order above 1024 but of one matrix. Throws std::invalid_argument.
/// @param orders those that are usual.
std::vector<Point> points_of(const Scope& scope, Form form, const std::vector<Routine>& routines,
                             const std::vector<int64_t>& orders);

}  // namespace chol::tune
