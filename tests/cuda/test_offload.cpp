// Matrices in host memory, factored on the device: test_offload [precisions] [libchol_preload.so].
// With the preload its LAPACK symbols are called, else chol.h on a handle that offloads always.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <thread>

#include "calls.hpp"

namespace chol::test {
namespace {

void* preload = nullptr;

/// The interface under test.
class Way {
 public:
  Way() {
    if (preload) return;
    if (chol_create_on(&handle_, CHOL_BACKEND_HOST, 0, nullptr) != CHOL_STATUS_SUCCESS ||
        chol_set_offload(handle_, CHOL_OFFLOAD_ALWAYS) != CHOL_STATUS_SUCCESS) {
      std::printf("FAILED to make a handle: %s\n", chol_last_error(handle_));
      std::exit(1);
    }
  }
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;
  ~Way() { chol_destroy(handle_); }

  template <class T>
  int potrf(Batch<T>& A) const {
    int info = -99;
    if (preload) {
      const char symbol[] = {letter_of(T{}), 'p', 'o', 't', 'r', 'f', '_', 0};
      using Potrf = void(const char*, const int*, T*, const int*, int*, size_t);
      const char uplo = static_cast<char>(A.uplo);
      const int n = static_cast<int>(A.n), lda = static_cast<int>(A.lda);
      reinterpret_cast<Potrf*>(dlsym(preload, symbol))(&uplo, &n, A.a.data(), &lda, &info, 1);
    } else {
      expect_status(handle_, potrf_of(T{})(handle_, A.uplo, A.n, A.a.data(), A.lda, &info),
                    "offloaded potrf");
    }
    return info;
  }
  /// Where the last one ran, if known.
  bool ran_on(chol_backend_t expected) const {
    chol_backend_t backend = expected;
    if (!preload) chol_last_backend(handle_, &backend);
    return backend == expected;
  }

 private:
  chol_handle_t handle_ = nullptr;
};

/// The first `columns` columns of two factors, relative to their largest element; memory outside
/// the named triangle must be identical. Rows with a NaN in b are ignored: how far it spreads
/// before the failing pivot depends on the order of the operations.
template <class T>
double difference(Batch<T> a, Batch<T> b, int64_t columns) {
  double worst = 0, most = 1e-30;
  std::vector<char> spoilt(a.n, 0);
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = j; i < a.n; ++i)
      if (std::isnan(std::abs(b.lower(0, i, j)))) spoilt[i] = 1;
  for (int64_t j = 0; j < a.n; ++j)
    for (int64_t i = j; i < a.n; ++i) {
      T &x = a.lower(0, i, j), &y = b.lower(0, i, j);
      if (j < columns && !spoilt[i]) {
        const double error = std::abs(x - y);
        worst = error <= worst ? worst : error;  // a NaN is kept
        most = std::max(most, double(std::abs(y)));
      }
      x = y = T(0);
    }
  if (std::memcmp(a.a.data(), b.a.data(), a.a.size() * sizeof(T)) != 0) return HUGE_VAL;
  return worst / (most * std::numeric_limits<Real<T>>::epsilon() * static_cast<double>(a.n));
}

/// @param where it must run, if that matters.
template <class T>
void compare(const Way& way, Batch<T> A, const char* what,
             std::optional<chol_backend_t> where = CHOL_BACKEND_CUDA) {
  static chol_handle_t host = [] {
    chol_handle_t made = nullptr;
    chol_create_on(&made, CHOL_BACKEND_HOST, 0, nullptr);
    return made;
  }();
  Batch<T> expected = A;
  int expected_info = -1;
  expect_status(host, potrf_of(T{})(host, A.uplo, A.n, expected.a.data(), A.lda, &expected_info),
                "host potrf");
  const int info = way.potrf(A);
  const char p = letter_of(T{});
  expect(info == expected_info, what, p, A.uplo, A.n, info);
  const int64_t columns = info > 0 ? info - 1 : A.n;
  const double error = difference(A, expected, columns);
  expect(error < 30, what, p, A.uplo, A.n, error);
  if (where) expect(way.ran_on(*where), "place", p, A.uplo, A.n, *where);
}

/// Whether CHOL_DEVICES names several devices: the host finds where such a matrix is not positive
/// definite, from the columns on that they return.
bool several_devices() {
  const char* named = std::getenv("CHOL_DEVICES");
  return named && std::strchr(named, ',');
}

template <class T>
void bad_pivots(const Way& way, chol_uplo_t uplo, int64_t n) {
  const chol_backend_t where = several_devices() ? CHOL_BACKEND_HOST : CHOL_BACKEND_CUDA;
  const Batch<T> good(uplo, n, n + 3, 1, 5);
  const Real<T> nan = std::numeric_limits<Real<T>>::quiet_NaN();
  for (const int64_t bad : {int64_t{0}, int64_t{31}, int64_t{64}, n / 2, n - 65, n - 1}) {
    Batch<T> A = good;
    A.lower(0, bad, bad) = T(Real<T>(-1));
    compare(way, A, "negative pivot", where);
    A.lower(0, bad, bad) = T(nan);
    compare(way, A, "NaN pivot", where);
    A = good;
    if (bad > 0) A.lower(0, bad, bad / 2) = T(nan);
    // If the zeros of an inverted tile spread it on the device, the host continues.
    compare(way, A, "NaN beside the diagonal", std::nullopt);
    if (bad > 0 && bad + 1 < n) A.lower(0, n - 1, bad - 1) = T(nan);
    compare(way, A, "two NaN beside the diagonal", std::nullopt);
  }
}

template <class T>
void run_precision() {
  const Way way;
  for (const chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER}) {
    for (const int64_t n : {256, 257, 300, 1000, 1023, 1024, 2049, 3001, 4100})
      compare(way, Batch<T>(uplo, n, n + (n % 3) * 4, 1, 7), "factor");
    bad_pivots<T>(way, uplo, 1100);
    bad_pivots<T>(way, uplo, 2500);
    std::printf("%c %c: %d failures so far\n", letter_of(T{}), static_cast<char>(uplo), failures);
    std::fflush(stdout);
  }
}

/// Before the first allocation: with the device's memory occupied there is no room for a matrix.
void out_of_memory() {
  std::vector<void*> taken;
  for (size_t bytes = size_t{64} << 30; bytes >= size_t{1} << 20; bytes /= 2) {
    void* memory = nullptr;
    while (cudaMalloc(&memory, bytes) == cudaSuccess) taken.push_back(memory);
    cudaGetLastError();
  }
  const Way way;
  const Batch<double> A(CHOL_LOWER, 2000, 2001, 1, 3), B(CHOL_UPPER, 1500, 1500, 1, 3);
  compare(way, A, "without device memory", CHOL_BACKEND_HOST);
  compare(way, B, "without device memory", CHOL_BACKEND_HOST);
  for (void* memory : taken) cudaFree(memory);
  compare(way, A, "with device memory again");
  compare(way, B, "with device memory again");
}

void in_a_child() {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    const int before = failures;
    const Way way;
    compare(way, Batch<double>(CHOL_LOWER, 700, 700, 1, 3), "in a child", CHOL_BACKEND_HOST);
    std::fflush(stdout);
    _exit(failures != before);
  }
  int status = 0;
  waitpid(child, &status, 0);
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child", 'd', CHOL_LOWER, 700, status);
}

void many_threads() {
  std::vector<std::thread> threads;
  std::vector<double> worst(8, HUGE_VAL);
  const Batch<double> A(CHOL_UPPER, 1300, 1310, 1, 3);
  Batch<double> expected = A;
  Way().potrf(expected);
  for (double& result : worst)
    threads.emplace_back([&] {
      const Way way;
      result = 0;
      for (int round = 0; round < 5; ++round) {
        Batch<double> B = A;
        if (way.potrf(B) != 0) result = HUGE_VAL;
        result = std::max(result, difference(B, expected, A.n));
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const double result : worst) expect(result < 30, "threads", 'd', CHOL_UPPER, 1300, result);
}

}  // namespace
}  // namespace chol::test

int main(int argc, char** argv) {
  using namespace chol::test;
  if (!device_present()) return 0;
  std::string wanted;
  for (int k = 1; k < argc; ++k)
    if (std::strchr(argv[k], '.')) {
      setenv("CHOL_OFFLOAD", "always", 1);
      preload = dlopen(argv[k], RTLD_NOW | RTLD_LOCAL);
      if (!preload) return std::printf("FAILED: %s\n", dlerror()), 1;
    } else {
      wanted += argv[k];
    }
  out_of_memory();
  for_each_precision(wanted, [](auto zero) { run_precision<decltype(zero)>(); });
  many_threads();
  in_a_child();
  return report_failures();
}
