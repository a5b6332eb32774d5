// Progress reports to the caller and the time of each phase of a long computation.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "base/status.hpp"
#include "chol.h"

namespace chol::tlr {

enum class Phase : uint8_t {
  assembly,
  sampling,
  projection,
  orthogonalization,
  dense_update,
  potrf,
  trsm
};
inline constexpr int kPhases = 7;
const char* phase_name(Phase phase);

/// Number of tiles below the diagonal by kind: from samples of both sides, by projection, dense.
struct TileCounts {
  int64_t nystrom = 0, projection = 0, dense = 0;
};

class Control {
 public:
  Control(const char* function, const chol_tlr_options_t& options)
      : function_(function), options_(options) {}

  /// Ends the previous phase and begins `phase`.
  void begin(Phase phase) {
    end();
    phase_ = phase;
    started_ = Clock::now();
    runs_ = true;
  }
  void end() {
    if (runs_) seconds_[static_cast<size_t>(phase_)] += since(started_);
    runs_ = false;
  }
  void add_flops(double flops) { flops_[static_cast<size_t>(phase_)] += flops; }

  /// Calls the caller's progress function; returns CANCELLED if it requests that.
  Status report(double done) const {
    if (!options_.progress ||
        options_.progress(options_.progress_context, phase_name(phase_), done) == 0)
      return Status::success();
    return Status::error(CHOL_STATUS_CANCELLED, "%s: cancelled by progress in phase %s", function_,
                         phase_name(phase_));
  }
  double flops() const {
    double sum = 0;
    for (const double phase : flops_) sum += phase;
    return sum;
  }
  const char* function() const { return function_; }
  /// Prints one line to stderr: the phases with their times and rates, and how tiles are
  /// compressed.
  void print(int64_t n, int64_t tile, const TileCounts& tiles) const;

 private:
  using Clock = std::chrono::steady_clock;
  static double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
  const char* function_;
  const chol_tlr_options_t& options_;
  Phase phase_ = Phase::assembly;
  bool runs_ = false;
  Clock::time_point started_;
  std::array<double, kPhases> seconds_{}, flops_{};
};

}  // namespace chol::tlr
