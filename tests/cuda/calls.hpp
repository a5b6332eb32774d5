// Common parts of the tests of the CUDA backend: failures, and calls on device arrays.
#pragma once

#include "problem.hpp"
#include "suites.hpp"

namespace chol::test {

inline void expect(bool good, const char* what, char precision, chol_uplo_t uplo, int64_t n,
                   double value) {
  if (good) return;
  ++failures;
  if (failures <= 60)
    std::printf("FAILED %s: %c uplo %c n %lld value %g\n", what, precision, static_cast<char>(uplo),
                static_cast<long long>(n), value);
}

inline void expect_status(chol_handle_t handle, chol_status_t status, const char* what) {
  if (status == CHOL_STATUS_SUCCESS) return;
  ++failures;
  std::printf("FAILED %s: %s\n", what, chol_last_error(handle));
}

template <class T>
struct Calls {
  chol_handle_t handle;
  chol_uplo_t uplo;
  static constexpr double kBound = 30;

  char letter() const { return letter_of(T{}); }
  void check(bool good, const char* what, int64_t n, double value) const {
    expect(good, what, letter(), uplo, n, value);
  }
  void ok(chol_status_t status, const char* what) const { expect_status(handle, status, what); }

  /// posv of a random matrix and three right-hand sides.
  void system(int64_t n) const {
    const int64_t nrhs = 3;
    const Batch<T> A(uplo, n, n + 2, 1, static_cast<unsigned>(n));
    std::mt19937_64 engine(n);
    std::vector<T> B(n * nrhs);
    for (T& x : B) x = random_element<T>(engine);
    DeviceArray<T> a(A.a), b(B);
    DeviceArray<int> info(std::vector<int>(1, -5));
    ok(posv_of(T{})(handle, uplo, n, nrhs, a.data(), A.lda, b.data(), n, info.data()), "posv");
    const double residual = solve_residual(A, 0, B.data(), b.get().data(), n, nrhs);
    check(residual < kBound && info.get()[0] == 0, "posv residual", n, residual);
  }

  Batch<T> factored(const Batch<T>& A, std::vector<int>* info) const {
    DeviceArray<T> device(A.a);
    DeviceArray<int> device_info(std::vector<int>(A.count, -99));
    ok(potrf_strided_of(T{})(handle, uplo, A.n, device.data(), A.lda, A.stride, device_info.data(),
                             A.count),
       "potrf_strided_batched");
    Batch<T> L = A;
    L.a = device.get();
    *info = device_info.get();
    return L;
  }
};

}  // namespace chol::test
