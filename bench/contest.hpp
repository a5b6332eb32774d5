// One case: chol and its rivals alternate for several rounds; the result is the ratio of each
// round.
#pragma once

#include <string>
#include <vector>

#include "case.hpp"
#include "catalog.hpp"

namespace chol::bench {

struct Settings {
  int rounds = 5;
  int repetitions = 0;  ///< a round and contestant; 0: as many as fit into round_seconds, at most 9
  double round_seconds = 0.06;
  bool cold = true;
  bool cpu_time = false;  ///< time cases of one thread in CPU time
  double hopeless = 4;    ///< a rival slower than the best by this factor is timed once only
};

/// A contestant and its case. Rivals have the same case as chol, or another one with the same flops
/// if chol is compared with itself.
struct Side {
  Contestant who;
  Case c;
};

struct Timing {
  Side side;
  std::string version, trouble;  ///< trouble: why there are no times
  std::vector<double>
      round_seconds;  ///< median of each round; only one estimate for much slower rivals
  double residual = -1;
  int64_t failed = 0;
  bool timed() const { return !round_seconds.empty(); }
  bool right() const;
  double gflops() const;
};

struct Ratio {
  const Timing* rival = nullptr;
  double median = 0, least = 0, most = 0;
};

struct Outcome {
  Timing ours;
  bool cpu_time = false;  ///< by which clock
  std::vector<Timing> rivals;
  /// Rate of chol over that of this rival, by round.
  Ratio against(const Timing& rival) const;
  /// The rival with the lowest ratio, among those named (or all).
  Ratio against_best(const std::vector<std::string>& names = {}) const;
};

double median(std::vector<double> values);
Outcome hold_contest(const Side& ours, const std::vector<Side>& rivals, const Settings& settings);

}  // namespace chol::bench
