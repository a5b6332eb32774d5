// The one trace point. Its line is a chol-bench command line, so that a traced call can be
// replayed.
#pragma once

#include <chrono>

#include "backend/backend.hpp"

namespace chol::routine {

class Stopwatch {
 public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

template <class T>
void print_call(const char* function, const char* backend_name, const char* method,
                const backend::Problem<T>& problem, int threads, double milliseconds);

/// For a matrix over several devices the line is a comment: chol-bench has no such case.
void print_cyclic_call(const char* function, const backend::Backend& device, size_t devices,
                       chol_uplo_t uplo, int64_t n, int64_t nb, double milliseconds, double flops);

/// Bytes moved between the host and the devices, and the minimum over all schedules.
void print_traffic(double moved, double least);

}  // namespace chol::routine
