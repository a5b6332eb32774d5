// What has been measured, a line of JSON a trial, appended as it comes: a run that was killed goes
// on where it was.
#pragma once

#include <map>
#include <string>

#include "tools/tune/point.hpp"

namespace chol::tune {

class Journal {
 public:
  /// Opens it, takes the trials of this machine and library from it, and keeps other processes off.
  /// Throws std::runtime_error when another process writes it.
  Journal(const std::string& path, const std::string& machine, const std::string& version);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// The rate of a trial of that length that was made before, or a negative number.
  double rate_of(const Point& point, const Choice& choice, int round) const;
  void add(const Point& point, const Choice& choice, int round, double rate);
  /// The rate of the longest trial, 0 when there was none.
  double best_known(const Point& point, const Choice& choice) const;
  /// How many were made, each longer than the one before.
  int trials_of(const Point& point, const Choice& choice) const;

  /// Lines that are no trials: torn by a kill, or somebody else's text.
  int skipped() const { return skipped_; }
  size_t known() const { return rates_.size(); }

 private:
  static std::string key(const Point& point, const Choice& choice, int round);
  void read_line(const std::string& line);

  int descriptor_ = -1;
  std::string machine_, version_;
  std::map<std::string, double> rates_;
  int skipped_ = 0;
};

}  // namespace chol::tune
