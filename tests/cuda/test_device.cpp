// The CUDA backend through chol.h on device arrays. A program of its own, so that it runs where no
// test framework is: test_device [--reduced|--smallest] [precisions].
#include <chrono>

#include "batches.hpp"
#include "handles.hpp"
#include "routines.hpp"

namespace chol::test {
namespace {

/// Few sizes are for compute-sanitizer, the fewest for its slowest tool.
enum class Extent { whole, reduced, smallest } extent = Extent::whole;

/// One size of each kernel that has threads meet.
template <class T>
void run_smallest(const Routines<T>& routines, const Batches<T>& batches) {
  routines.factors({16, 32, 40, 70, 205, 330});
  routines.solves({14, 20, 26, 30, 35, 40, 44, 50, 90});
  batches.variable(40, true);
}

template <class T>
void run_reduced(const Routines<T>& routines, const Batches<T>& batches) {
  routines.factors({1, 5, 16, 33, 70, 150, 290, 610});
  routines.solves({7, 40, 55, 200});
  routines.inverses({9, 45});
  routines.one_inverse({2, 300});
  routines.factors({45, 70}, 300);
  for (int64_t count : {20, 40, 75}) routines.factors({258, 420}, count);
  routines.solves({40, 90}, 300);
  routines.extremes({50, 300});
  for (int64_t n : {37, 60, 100, 125, 150, 200, 320, 640}) batches.places(n, 300);
  batches.variable(90, true);
}

template <class T>
void run_whole(const Routines<T>& routines, const Batches<T>& batches) {
  routines.factors({0,   1,   2,   3,   4,   5,   6,   7,   8,   9,   11,  12,  13,  15,  16,
                    17,  20,  23,  24,  25,  27,  28,  29,  31,  32,  33,  39,  40,  41,  47,
                    48,  49,  55,  63,  64,  65,  71,  80,  81,  96,  97,  100, 127, 128, 129,
                    151, 160, 161, 192, 193, 200, 256, 257, 300, 384, 500, 513, 641, 850, 961});
  routines.factors({33, 40, 64, 65, 100, 129, 200, 257, 385, 450, 641}, 300);
  for (int64_t count : {16, 50, 75, 131}) routines.factors({256, 385, 450, 641}, count);
  routines.solves({33, 60, 64, 65, 96, 97, 128, 150, 230}, 300);
  routines.bad_pivots({1, 3, 4, 8, 13, 16, 24, 32, 33, 40, 45, 48, 64, 70, 130, 200, 300});
  routines.extremes({20, 28, 40, 64, 90, 130, 200, 300, 390, 610, 850});
  routines.solves({1,  2,  4,  5,  8,  13, 15, 16, 17, 20, 23, 24, 26,  28,  31,  32,  33,  36,
                   39, 40, 41, 44, 47, 48, 57, 63, 64, 79, 80, 97, 120, 128, 168, 200, 300, 500});
  routines.inverses({0, 1, 2, 5, 16, 31, 32, 33, 64, 100, 130});
  routines.one_matrix({1, 7, 32, 60, 128, 200, 300, 513, 1000});
  routines.one_inverse({1, 7, 128, 256, 257, 550});
  for (int64_t max_n : {10, 32, 60, 100, 300}) {
    batches.variable(max_n, true);
    batches.variable(max_n, false);
  }
  batches.variable(50, true, 3001);  // more than one block sorts
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
    switch (extent) {
      case Extent::whole:
        run_whole<T>({calls}, {calls});
        break;
      case Extent::reduced:
        run_reduced<T>({calls}, {calls});
        break;
      case Extent::smallest:
        run_smallest<T>({calls}, {calls});
        break;
    }
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
  for (int k = 1; k < argc; ++k) {
    if (std::strcmp(argv[k], "--reduced") == 0) extent = Extent::reduced;
    if (std::strcmp(argv[k], "--smallest") == 0) extent = Extent::smallest;
  }
  if (!device_present()) return 0;
  chol_handle_t handle = nullptr;
  if (chol_create_on(&handle, CHOL_BACKEND_CUDA, 0, nullptr) != CHOL_STATUS_SUCCESS) {
    std::printf("FAILED chol_create_on: %s\n", chol_last_error(nullptr));
    return 1;
  }
  const auto wanted = [&](char letter) {
    bool any = false, named = false;
    for (int k = 1; k < argc; ++k)
      if (argv[k][0] != '-') any = true, named = named || argv[k][0] == letter;
    return !any || named;
  };
  check_places_of_arrays(handle);
  check_side_by_side(2, false);
  check_side_by_side(8, true);
  if (wanted('s')) run_suite<float>(handle);
  if (wanted('d')) run_suite<double>(handle);
  if (wanted('c')) run_suite<std::complex<float>>(handle);
  if (wanted('z')) run_suite<std::complex<double>>(handle);
  chol_destroy(handle);
  std::printf(failures ? "FAILED: %d\n" : "PASSED\n", failures);
  return failures != 0;
}
