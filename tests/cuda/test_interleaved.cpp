// Interleaved batches on a device with the rows in effect. A separate program, which needs no test
// framework.
#include "interleaved_suite.hpp"

namespace chol::test {
namespace {

template <class T>
void run_suite(chol_handle_t handle, chol_handle_t host) {
  for (chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER}) {
    const auto start = std::chrono::steady_clock::now();
    Suite<T>{handle, host, uplo}.run();
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
  chol_handle_t host = nullptr;
  if (chol_create_on(&host, CHOL_BACKEND_HOST, 0, nullptr) != CHOL_STATUS_SUCCESS) {
    std::printf("FAILED chol_create_on: %s\n", chol_last_error(nullptr));
    return 1;
  }
  const int result = run_suites(letters_of(argc, argv), [&](auto handle, auto zero) {
    run_suite<decltype(zero)>(handle, host);
  });
  chol_destroy(host);
  return result;
}
