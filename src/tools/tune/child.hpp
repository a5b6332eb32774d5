// This program started again as a child process, since the library reads CHOL_TUNING only once a
// process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tools/tune/point.hpp"

namespace chol::tune {

/// A temporary file that disappears with this object or the process, however it ends. Throws
/// std::runtime_error.
class TemporaryFile {
 public:
  TemporaryFile();
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }
  void write(const std::string& text) const;

 private:
  int descriptor_;
  std::string path_;
};

/// A tuning file of one row: the choice up to the point's order.
std::string tuning_text(const std::string& machine, const Point& point, const Choice& choice);

/// Seconds after which a silent child is abandoned.
inline constexpr double kLongestTrial = 120;

/// A process with pipes for lines in both directions.
class Child {
 public:
  /// @param tuning what CHOL_TUNING names there.
  Child(const std::string& tuning, const std::vector<std::string>& arguments);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool write_line(const std::string& line);
  /// Reads a line, without its end. False when the child ended or the time is over.
  bool read_line(std::string& line, double seconds);
  /// Waits for the end.
  bool ended_well();

 private:
  pid_t process_ = -1;
  int to_ = -1, from_ = -1;
  std::string ahead_;  ///< read but not yet returned
};

}  // namespace chol::tune
