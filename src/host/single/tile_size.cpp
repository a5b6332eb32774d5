#include "host/single/tile_size.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace chol::host {
namespace {

// Measured on one core. The time of an operation on tiles of order nb is its time at the rate of
// large products, times 1 + (loss / nb)^power: a pass stores its tile once; a triangular solve and
// a factorization have short vectors and dependent pivots.
constexpr double kPassLoss = 8, kUpdateLoss = 4, kSolveLoss = 24, kFactorLoss = 80;
/// Added for the factorization of a tile that exceeds the second-level cache.
constexpr double kLeavingLoss = 0.3;
/// Added for passes whose tile and one operand, which is read again for each row of register tiles,
/// exceed the second-level cache.
constexpr double kSpillLoss = 0.15;
/// Overhead of a task in seconds: search, acquisition and notification.
constexpr double kTaskSeconds = 0.8e-6;
/// Largest order for which a single tile is considered.
constexpr int64_t kMostOfOne = 1024;
/// Seconds of communication between cores in a step of the critical path: three notifications.
constexpr double kHandOverSeconds = 12e-6;

/// Size for the first core.
double read_second_level_cache() {
  for (int index = 0; index < 8; ++index) {
    char path[96];
    const auto read = [&](const char* what, const char* format, auto* value) {
      std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index,
                    what);
      std::FILE* const file = std::fopen(path, "r");
      const bool is_read = file && std::fscanf(file, format, value) == 1;
      if (file) std::fclose(file);
      return is_read;
    };
    int level = 0;
    long kilobytes = 0;
    if (read("level", "%d", &level) && level == 2 && read("size", "%ldK", &kilobytes))
      return static_cast<double>(kilobytes) * 1024;
  }
  return 0;
}

}  // namespace

double second_level_cache() {
  static const double cache = read_second_level_cache();
  return cache;
}

TileMachine tile_machine(double core_gflops, double memory_gbytes, size_t element_bytes,
                         bool is_complex) {
  const double cache = second_level_cache();
  return {core_gflops, memory_gbytes, cache > 0 ? cache : 1 << 20, element_bytes,
          is_complex ? 8.0 : 2.0};
}

double tile_seconds(const TileMachine& machine, int64_t n, int threads, int64_t nb) {
  const double order = static_cast<double>(n), b = static_cast<double>(std::min(n, nb));
  const double tiles = std::ceil(order / b), t = std::clamp<double>(tiles * tiles / 4, 1, threads);
  // Seconds of one multiply-add at the rate of large products.
  const double step = machine.flops_of_product / (machine.core_gflops * 1e9);
  const double most_depth =
      std::max(b, double(kPassBytes) / static_cast<double>(machine.element_bytes));
  // Updates accumulate as long as there are enough tiles for all threads.
  const double depth = std::clamp(b * tiles / (4 * t), b, most_depth);
  const double leaving = b * b * machine.element_bytes > machine.cache_bytes ? kLeavingLoss : 0;
  const double factor = b * b * b / 6 * (1 + kFactorLoss / b * (kFactorLoss / b) + leaving);
  const double solve = b * b * b / 2 * (1 + kSolveLoss / b), solves = tiles * (tiles - 1) / 2;
  const double update = b * b * b * (1 + kUpdateLoss / b);
  // Operations of the updates: the total without solves and factorizations; the last tiles are
  // smaller.
  const double all = order * order * order / 6;
  const double rest = all - tiles * b * b * b / 6 - solves * b * b * b / 2;
  const double of_pass = (b * b + b * depth) * static_cast<double>(machine.element_bytes);
  const double pass = 1 + kPassLoss / depth + (of_pass > machine.cache_bytes ? kSpillLoss : 0);
  const double updates = std::max(0.0, rest) * (pass + kUpdateLoss / b);
  const double tasks = tiles * tiles * tiles / 6 * b / depth + tiles * tiles / 2;
  const double work =
      (updates + solves * solve + tiles * factor) * step + (tiles > 1 ? tasks * kTaskSeconds : 0);
  // The critical path of a block column: a diagonal tile, the solve below it, and the updates of
  // the next two tiles.
  const double link = factor + solve + 1.5 * update * (1 + kPassLoss / b);
  const double chain = tiles * (link * step + kHandOverSeconds);
  // Each pass reads and writes its tile; this limits the rate if the matrix exceeds the caches of
  // all cores.
  const double bytes = order * order * order / 3 / depth * 2 * machine.element_bytes;
  const bool leaves = order * order / 2 * machine.element_bytes > t * machine.cache_bytes;
  const double exchange = leaves ? bytes / (machine.memory_gbytes * 1e9) : 0;
  const double share = std::max(work / t, exchange);
  return std::sqrt(share * share + chain * chain * (1 - 1 / t));
}

std::vector<int> tile_candidates(int64_t n) {
  std::vector<int> all;
  for (int power = 32; power <= 512; power *= 2)
    for (const int nb : {power, power + power / 2})
      if (2 * nb <= n) all.push_back(nb);
  if (n <= kMostOfOne) all.push_back(static_cast<int>(n));
  return all;
}

int choose_tile(const TileMachine& machine, int64_t n, int threads) {
  const std::vector<int> all = tile_candidates(n);
  return *std::min_element(all.begin(), all.end(), [&](int a, int b) {
    return tile_seconds(machine, n, threads, a) < tile_seconds(machine, n, threads, b);
  });
}

}  // namespace chol::host
