// What comes out of a run: the tuning file, and the report.
#pragma once

#include <ostream>
#include <string>

#include "tools/tune/journal.hpp"

namespace chol::tune {

/// The fastest plan that the journal knows at a point; a built-in plan within a few percent of it
/// is taken before it.
Plan winner(const Journal& journal, const Point& point);

/// Writes the rows of the points' keys for `machine`, and keeps what the file has beside them. The
/// file is replaced in one step, so that nobody ever reads half of it.
void write_tuning_file(const std::string& path, const std::string& machine,
                       const std::string& version, const Journal& journal,
                       const std::vector<Point>& points);

/// A line a plan and point: its rate beside the winner's, and how far the built-in plan is from it.
void print_report(std::ostream& out, const Journal& journal, const std::vector<Point>& points);

}  // namespace chol::tune
