// One case: ours and its rivals in turn, several rounds, judged by the ratio of each round.
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
  double hopeless = 4;    ///< a rival this many times slower than the best is timed once only
};

/// Who works on what. Rivals have ours' case, or another one of the same flops where ours is
/// compared with itself.
struct Side {
  Contestant who;
  Case c;
};

struct Timing {
  Side side;
  std::string version, trouble;       ///< trouble: why there are no times
  std::vector<double> round_seconds;  ///< median of each round; one estimate only when hopeless
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
  /// Ours over this rival, round by round.
  Ratio against(const Timing& rival) const;
  /// The rival that leaves the lowest ratio, among those named (all of them when none is named).
  Ratio against_best(const std::vector<std::string>& names = {}) const;
};

double median(std::vector<double> values);
Outcome hold_contest(const Side& ours, const std::vector<Side>& rivals, const Settings& settings);

}  // namespace chol::bench
