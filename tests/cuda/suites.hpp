// Runs of a test program on a device: the precisions of its arguments, a handle, the result.
#pragma once

#include <complex>
#include <cstdio>
#include <string>

#include "device.hpp"

namespace chol::test {

inline int failures = 0;

/// Arguments that are not options, joined: the letters of precisions.
inline std::string letters_of(int argc, char** argv) {
  std::string letters;
  for (int k = 1; k < argc; ++k)
    if (argv[k][0] != '-') letters += argv[k];
  return letters;
}

/// body(zero of the element type) for the precisions of the letters, all if there are none.
template <class Body>
void for_each_precision(const std::string& letters, Body&& body) {
  const auto run = [&](auto zero) {
    if (letters.empty() || letters.find(letter_of(zero)) != std::string::npos) body(zero);
  };
  run(float{});
  run(double{});
  run(std::complex<float>{});
  run(std::complex<double>{});
}

/// Prints the result of the program and returns its exit code.
inline int report_failures() {
  std::printf(failures ? "FAILED: %d\n" : "PASSED\n", failures);
  return failures != 0;
}

/// body(handle of the current device, zero of the element type) for each precision.
/// @return the exit code of the program
template <class Body>
int run_suites(const std::string& letters, Body&& body) {
  chol_handle_t handle = nullptr;
  if (chol_create_on(&handle, CHOL_BACKEND_CUDA, 0, nullptr) != CHOL_STATUS_SUCCESS) {
    std::printf("FAILED chol_create_on: %s\n", chol_last_error(nullptr));
    return 1;
  }
  for_each_precision(letters, [&](auto zero) { body(handle, zero); });
  chol_destroy(handle);
  return report_failures();
}

}  // namespace chol::test
