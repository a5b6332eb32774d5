// Output of a run: the tuning file and the report.
#pragma once

#include <ostream>
#include <string>

#include "tools/tune/journal.hpp"
#include "tools/tune/space.hpp"

namespace chol::tune {

/// The fastest choice in the journal at a point; a built-in choice within a few percent of it is
/// preferred.
Choice winner(const Space& space, const Journal& journal, const Point& point);

/// Writes the rows of the points' keys for the space's machine and keeps the other content of the
/// file. The file is replaced atomically, and only by one that the library accepts.
void write_tuning_file(const std::string& path, Space& space, const std::string& version,
                       const Journal& journal, const std::vector<Point>& points);

/// For every point one line a plan: its rate and that of the fastest, and the ratio of the built-in
/// plan. Then for every key a text plot: one line an order, with the rates of its plans from left
/// to right.
void print_report(std::ostream& out, const Space& space, const Journal& journal,
                  const std::vector<Point>& points);

}  // namespace chol::tune
