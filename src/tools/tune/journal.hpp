// Log of the measurements, one line of JSON a trial, so that a killed run can continue.
#pragma once

#include <map>
#include <string>

#include "tools/tune/point.hpp"

namespace chol::tune {

class Journal {
 public:
  /// Opens and locks the file and reads the trials of this machine and library. Throws
  /// std::runtime_error when another process writes it.
  Journal(const std::string& path, const std::string& machine, const std::string& version);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// The rate of an earlier trial of that length, or a negative number.
  double rate_of(const Point& point, const Choice& choice, int round) const;
  void add(const Point& point, const Choice& choice, int round, double rate);
  /// The rate of the longest trial, 0 when there was none.
  double best_known(const Point& point, const Choice& choice) const;
  /// Number of trials, each longer than the one before.
  int trials_of(const Point& point, const Choice& choice) const;

  /// Lines that are not trials, such as incomplete ones.
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
