// Results of every plan at a point, the input of the reports.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "tools/tune/journal.hpp"
#include "tools/tune/space.hpp"

namespace chol::tune {

enum class Fate {
  timed,
  failed,    ///< refused, wrong results, or crash of the process
  untried,   ///< candidate without a trial so far
  ruled_out  ///< excluded by the model
};

struct Record {
  Choice choice;
  Fate fate;
  double rate;  ///< Gflop/s of the longest trial; 0 unless timed
  int trials;   ///< the slower half of the plans gets no further one
  bool is_winner, is_built_in;
};

/// The fastest first. None when no plan of the point was tried.
std::vector<Record> records_of(const Space& space, const Journal& journal, const Point& point);

/// The names of the columns of write_records(), a line.
extern const char* const kRecordColumns;
/// All records of the points as lines of CSV.
void write_records(std::ostream& out, const Space& space, const Journal& journal,
                   const std::vector<Point>& points);

}  // namespace chol::tune
