#include "load.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace chol::bench {
namespace {

/// Seconds that all processors were not idle, from the first line of /proc/stat; < 0 without one.
double busy_seconds() {
  std::ifstream stat("/proc/stat");
  std::string word;
  double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0, steal = 0;
  stat >> word >> user >> nice >> system >> idle >> wait >> irq >> softirq >> steal;
  if (!stat || word != "cpu") return -1;
  return (user + nice + system + irq + softirq + steal) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double own_seconds() {
  const auto seconds = [](int who) {
    rusage usage{};
    getrusage(who, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  };
  return seconds(RUSAGE_SELF) + seconds(RUSAGE_CHILDREN);
}

}  // namespace

LoadMeter::LoadMeter()
    : busy_(busy_seconds()), own_(own_seconds()), start_(std::chrono::steady_clock::now()) {}

double LoadMeter::others() const {
  const double busy = busy_seconds();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start_;
  const auto processors = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  if (busy < 0 || wall.count() <= 0) return -1;
  return std::max(0.0, (busy - busy_ - (own_seconds() - own_)) / (wall.count() * processors));
}

}  // namespace chol::bench
