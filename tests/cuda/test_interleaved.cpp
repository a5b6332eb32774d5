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
  chol_handle_t handle = nullptr, host = nullptr;
  if (chol_create_on(&handle, CHOL_BACKEND_CUDA, 0, nullptr) != CHOL_STATUS_SUCCESS ||
      chol_create_on(&host, CHOL_BACKEND_HOST, 0, nullptr) != CHOL_STATUS_SUCCESS) {
    std::printf("FAILED chol_create_on: %s\n", chol_last_error(nullptr));
    return 1;
  }
  const auto wanted = [&](char letter) {
    bool any = false, named = false;
    for (int k = 1; k < argc; ++k)
      if (argv[k][0] != '-') any = true, named = named || argv[k][0] == letter;
    return !any || named;
  };
  if (wanted('s')) run_suite<float>(handle, host);
  if (wanted('d')) run_suite<double>(handle, host);
  if (wanted('c')) run_suite<std::complex<float>>(handle, host);
  if (wanted('z')) run_suite<std::complex<double>>(handle, host);
  chol_destroy(handle);
  chol_destroy(host);
  std::printf(failures ? "FAILED: %d\n" : "PASSED\n", failures);
  return failures != 0;
}
