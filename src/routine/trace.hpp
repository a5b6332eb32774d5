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

}  // namespace chol::routine
