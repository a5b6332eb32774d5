// Statistics of intercepted calls: number, sizes and time of every routine, and where it ran.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "preload/counts.hpp"
#include "preload/settings.hpp"

namespace chol::preload {

/// Counters of one routine under all its decorated names. They live as long as the process.
class Account {
 public:
  constexpr explicit Account(const char* name) noexcept : name_(name) {}
  void add(Place place, double cubes, int64_t nanoseconds);

  /// Called when the library is loaded.
  static void begin();
  /// Writes the table of all counters to the destination of the settings, unless no routine was
  /// called.
  static void report();
  /// A child starts from zero: its parent reports the calls before the fork.
  static void forget_all();

 private:
  Counts* counts();

  const char* name_;
  std::atomic<Counts*> counts_{nullptr};  ///< the counters of this process, after the first call
};

/// One call of a routine on `count` matrices of order n, timed until the end of its scope.
class Tally {
 public:
  Tally(Account& account, int64_t n, int64_t count = 1) {
    if (!settings().report) return;
    account_ = &account;
    const double order = n > 0 ? static_cast<double>(n) : 0;
    cubes_ = static_cast<double>(count > 0 ? count : 0) * order * order * order / 3;
    start_ = Clock::now();
  }
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;
  ~Tally() {
    if (!account_) return;
    const auto spent = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_);
    account_->add(place_, cubes_, spent.count());
  }
  void runs_on(Place place) { place_ = place; }

 private:
  using Clock = std::chrono::steady_clock;
  Account* account_ = nullptr;
  double cubes_ = 0;
  Clock::time_point start_;
  Place place_ = Place::host;
};

}  // namespace chol::preload
