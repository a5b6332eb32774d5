// What comes out of a run: the tuning file, and the report.
#pragma once

#include <ostream>
#include <string>

#include "tools/tune/journal.hpp"
#include "tools/tune/space.hpp"

namespace chol::tune {

/// The fastest choice that the journal knows at a point; a built-in one within a few percent of it
/// is taken before it.
Choice winner(const Space& space, const Journal& journal, const Point& point);

/// Writes the rows of the points' keys for the space's machine, and keeps what the file has beside
/// them. The file is replaced in one step, so that nobody ever reads half of it, and only by one
/// that the library takes.
void write_tuning_file(const std::string& path, Space& space, const std::string& version,
                       const Journal& journal, const std::vector<Point>& points);

/// Of every point a line a plan: its rate beside the winner's, and how far the built-in plan is
/// from it. Of every key then a picture: an order a line, the rates of its plans from left to
/// right.
void print_report(std::ostream& out, const Space& space, const Journal& journal,
                  const std::vector<Point>& points);

}  // namespace chol::tune
