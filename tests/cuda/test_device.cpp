// Tests for devices only: batches of any size with the same bits at every position, more than 2^32
// elements, graphs, concurrent handles and streams. Residuals of every routine and form on devices:
// tests/routine. A separate program, which needs no test framework: test_device [--reduced]
// [precisions].
#include <chrono>

#include "batches.hpp"
#include "handles.hpp"

namespace chol::test {
namespace {

bool reduced = false;  ///< few sizes, for compute-sanitizer

template <class T>
void run_reduced(const Batches<T>& batches) {
  for (int64_t n : {37, 60, 100, 125, 150, 200, 320, 640}) batches.places(n, 300);
}

template <class T>
void run_whole(const Batches<T>& batches) {
  batches.places(4, 600001);
  batches.places(17, 70001);
  batches.places(40, 70001);
  batches.places(65, 3000);
  batches.places(230, 1100);
  for (int64_t n : {37, 45, 60, 70, 100, 112, 125, 150, 180, 300, 320, 400, 451, 640, 770})
    batches.places(n, 300);
  for (int64_t count : {4, 16, 25, 33, 50, 75, 100, 131})
    for (int64_t n : {201, 256, 310, 402, 515}) batches.places(n, count);
  for (int64_t n : {8, 50, 300}) batches.graph(n);
  batches.runs(20, 500);
  batches.runs(100, 200);
  if (sizeof(T) == sizeof(float)) {
    batches.elements_beyond_32_bits(8);
    batches.elements_beyond_32_bits(64);
  }
}

template <class T>
void run_suite(chol_handle_t handle) {
  for (chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER}) {
    const auto start = std::chrono::steady_clock::now();
    const Calls<T> calls{handle, uplo};
    if (reduced)
      run_reduced<T>({calls});
    else
      run_whole<T>({calls});
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("%c %c: %d failures so far, %.1f s\n", letter_of(T{}), static_cast<char>(uplo),
                failures, seconds.count());
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace chol::test

int main(int argc, char** argv) {
  using namespace chol::test;
  for (int k = 1; k < argc; ++k) reduced = reduced || std::strcmp(argv[k], "--reduced") == 0;
  if (!device_present()) return 0;
  return run_suites(letters_of(argc, argv),
                    [](auto handle, auto zero) { run_suite<decltype(zero)>(handle); });
}
