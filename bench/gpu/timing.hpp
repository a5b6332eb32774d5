// Common parts of the benchmarks of a device: the handle and its stream, arguments, timing, the
// bandwidth of a copy.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "problem.hpp"

namespace chol::bench {

using test::DeviceArray;
using test::letter_of;
using test::Real;

inline cudaStream_t stream;
inline chol_handle_t handle;
inline double copy_bandwidth = 0;  ///< GB/s, read and write
inline FILE* csv = nullptr;
inline int repetitions = 5;

/// Orders after the = of a mode, separated by commas. None: the mode's default.
inline std::vector<int64_t> orders_of(const std::string& mode) {
  std::vector<int64_t> orders;
  const size_t sign = mode.find('=');
  if (sign == std::string::npos) return orders;
  std::istringstream list(mode.substr(sign + 1));
  for (std::string n; std::getline(list, n, ',');) orders.push_back(std::atoll(n.c_str()));
  return orders;
}

inline bool open_handle() {
  CHOL_TEST_CUDA(cudaStreamCreate(&stream));
  if (chol_create_on(&handle, CHOL_BACKEND_CUDA, 0, nullptr) == CHOL_STATUS_SUCCESS &&
      chol_set_stream(handle, stream) == CHOL_STATUS_SUCCESS)
    return true;
  std::fprintf(stderr, "chol_create_on: %s\n", chol_last_error(handle));
  return false;
}

/// Writes to standard output and to the named file.
inline void print_line(const std::string& line) {
  for (FILE* const to : {stdout, csv}) {
    if (!to) continue;
    std::fprintf(to, "%s\n", line.c_str());
    std::fflush(to);
  }
}

/// Median milliseconds of body(), with prepare() before each repetition outside the timer.
inline double median_ms(const std::function<void()>& prepare, const std::function<void()>& body) {
  cudaEvent_t start, stop;
  CHOL_TEST_CUDA(cudaEventCreate(&start));
  CHOL_TEST_CUDA(cudaEventCreate(&stop));
  std::vector<float> times;
  for (int r = -1; r < repetitions; ++r) {
    prepare();
    CHOL_TEST_CUDA(cudaEventRecord(start, stream));
    body();
    CHOL_TEST_CUDA(cudaEventRecord(stop, stream));
    CHOL_TEST_CUDA(cudaEventSynchronize(stop));
    float ms = 0;
    CHOL_TEST_CUDA(cudaEventElapsedTime(&ms, start, stop));
    if (r >= 0) times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  CHOL_TEST_CUDA(cudaEventDestroy(start));
  CHOL_TEST_CUDA(cudaEventDestroy(stop));
  return times[times.size() / 2];
}

inline void ours(chol_status_t status) {
  if (status == CHOL_STATUS_SUCCESS) return;
  std::fprintf(stderr, "chol: %s\n", chol_last_error(handle));
  std::exit(3);
}

inline void measure_copy() {
  const size_t bytes = size_t(2) << 30;
  const DeviceArray<char> from(bytes), to(bytes);
  CHOL_TEST_CUDA(cudaMemset(from.data(), 1, bytes));
  const double ms = median_ms([] {},
                              [&] {
                                CHOL_TEST_CUDA(cudaMemcpyAsync(to.data(), from.data(), bytes,
                                                               cudaMemcpyDeviceToDevice, stream));
                              });
  copy_bandwidth = 2.0 * double(bytes) / ms * 1e-6;
}

}  // namespace chol::bench
