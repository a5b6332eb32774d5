// One matrix over several devices: test_devices [precisions]. A single device is named several
// times, which uses the same code paths.
#include <string>
#include <thread>

#include "cyclic_parts.hpp"
#include "generated_matrix.hpp"

namespace chol::test {
namespace {

/// Right-hand sides on the host and on a device. @param factors posv instead of potrs.
template <class T>
void check_solves(const Team& team, const Batch<T>& A, const Parts<T>& parts, int64_t nb,
                  bool factors) {
  const int64_t n = A.n, nrhs = factors ? 1 : 5, ldb = n + 2;
  std::mt19937_64 engine(n);
  std::vector<T> B(ldb * nrhs);
  for (T& x : B) x = random_element<T>(engine);
  std::vector<T> X = B;
  DeviceArray<T> on_device(B);
  T* const where = factors ? on_device.data() : X.data();
  int info = 0;
  const chol_status_t status =
      factors ? posv_cyclic_of(T{})(team.handle, A.uplo, n, nrhs, parts.pointers.data(),
                                    parts.lds.data(), nb, where, ldb, &info)
              : potrs_cyclic_of(T{})(team.handle, A.uplo, n, nrhs, parts.pointers.data(),
                                     parts.lds.data(), nb, where, ldb);
  expect_status(team.handle, status, factors ? "posv_cyclic" : "potrs_cyclic");
  if (factors) X = on_device.get();
  const double residual = solve_residual(A, 0, B.data(), X.data(), ldb, nrhs);
  expect(residual < 30 && info == 0, factors ? "posv residual" : "potrs residual", letter_of(T{}),
         A.uplo, n, residual);
  for (int64_t c = 0; c < nrhs; ++c)
    for (int64_t i = n; i < ldb; ++i)
      expect(std::memcmp(&X[c * ldb + i], &B[c * ldb + i], sizeof(T)) == 0, "rows below B",
             letter_of(T{}), A.uplo, n, double(i));
}

/// A X = B by the inverse X, for one B; and a zero on the diagonal.
template <class T>
void check_inverse(const Team& team, const Batch<T>& A, const Parts<T>& parts, int64_t nb) {
  const int64_t n = A.n;
  int info = -5;
  const auto invert = [&] {
    expect_status(team.handle,
                  potri_cyclic_of(T{})(team.handle, A.uplo, n, parts.pointers.data(),
                                       parts.lds.data(), nb, &info),
                  "potri_cyclic");
  };
  invert();
  Batch<T> X = A;
  parts.gather(A.uplo, X.a.data(), X.lda);
  std::mt19937_64 engine(n);
  std::vector<T> B(n), Y(n);
  for (T& x : B) x = random_element<T>(engine);
  for (int64_t i = 0; i < n; ++i) {
    typename Batch<T>::Wide sum(0);
    for (int64_t k = 0; k < n; ++k) sum += X.full(0, i, k) * typename Batch<T>::Wide(B[size_t(k)]);
    Y[size_t(i)] = T(sum);
  }
  const double residual = n > 0 ? solve_residual(A, 0, B.data(), Y.data(), n, 1) : 0;
  expect(residual < 30 && info == 0, "inverse", letter_of(T{}), A.uplo, n, residual);
  expect(parts.untouched() == parts.elements() - n * (n + 1) / 2, "inverse outside the triangle",
         letter_of(T{}), A.uplo, n, double(nb));
  if (n < 2) return;
  X.lower(0, n / 2, n / 2) = T(0);
  parts.scatter(A.uplo, X.a.data(), X.lda);
  invert();
  expect(info == n / 2 + 1, "info of potri", letter_of(T{}), A.uplo, n, info);
}

template <class T>
void check_factor(const Team& team, chol_uplo_t uplo, int64_t n, int64_t nb) {
  const char letter = letter_of(T{});
  const Batch<T> A(uplo, n, n + 1, 1, static_cast<unsigned>(n + nb));
  const Parts<T> parts(team, n, nb);
  parts.scatter(uplo, A.a.data(), A.lda);
  expect(parts.factor(uplo) == 0, "info", letter, uplo, n, double(nb));
  expect(parts.untouched() == parts.elements() - n * (n + 1) / 2, "elements outside the triangle",
         letter, uplo, n, double(nb));
  Batch<T> L = A;
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = j; i < n; ++i) L.lower(0, i, j) = T(-1);
  parts.gather(uplo, L.a.data(), L.lda);
  expect(changed_outside(A, L) == 0, "gather outside the triangle", letter, uplo, n, double(nb));
  const double residual = factor_residual(A, L, 0);
  expect(residual < 30, "residual", letter, uplo, n, residual);

  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += 2 * std::log(double(std::real(L.lower(0, i, i))));
  Real<T> logdet = -1;
  expect_status(team.handle,
                logdet_cyclic_of(T{})(team.handle, uplo, n, parts.pointers.data(), parts.lds.data(),
                                      nb, &logdet),
                "logdet_cyclic");
  expect(std::abs(double(logdet) - sum) <= 1e-6 * std::abs(sum), "logdet", letter, uplo, n, sum);

  check_solves(team, A, parts, nb, false);
  const Parts<T> again(team, n, nb);
  again.scatter(uplo, A.a.data(), A.lda);
  check_solves(team, A, again, nb, true);
  Batch<T> other = L;
  again.gather(uplo, other.a.data(), other.lda);
  check_inverse(team, A, again, nb);
  expect(std::memcmp(other.a.data(), L.a.data(), sizeof(T) * L.a.size()) == 0, "same bits", letter,
         uplo, n, double(nb));
}

template <class T>
void check_info(const Team& team, chol_uplo_t uplo, int64_t n, int64_t nb, bool nan) {
  for (int64_t bad = 0; bad < n; bad += n / 5) {
    Batch<T> A(uplo, n, n, 1, 7);
    A.lower(0, bad, bad) = T(nan ? std::numeric_limits<Real<T>>::quiet_NaN() : Real<T>(-1));
    const Parts<T> parts(team, n, nb);
    parts.scatter(uplo, A.a.data(), A.lda);
    const int info = parts.factor(uplo);
    expect(info == bad + 1, nan ? "info of a NaN" : "info", letter_of(T{}), uplo, bad, info);
    if (bad == 0) continue;
    // The columns before it are the factor of the leading principal submatrix.
    Batch<T> L = A, leading = A;
    parts.gather(uplo, L.a.data(), L.lda);
    for (Batch<T>* B : {&leading, &L})
      for (int64_t j = bad; j < n; ++j)
        for (int64_t i = j; i < n; ++i) B->lower(0, i, j) = T(0);
    for (int64_t j = bad; j < n; ++j)
      for (int64_t i = j; i < n; ++i) {
        typename Batch<T>::Wide product(0);
        for (int64_t k = 0; k < bad; ++k) product += L.value(0, i, k) * conj_of(L.value(0, j, k));
        leading.lower(0, i, j) = uplo == CHOL_LOWER ? T(product) : conj_of(T(product));
      }
    const double residual = factor_residual(leading, L, 0);
    expect(residual < 30, "columns before a bad minor", letter_of(T{}), uplo, bad, residual);
  }
}

/// On the devices only: large enough that products overlap with panels.
template <class T>
void check_large(const Team& team, chol_uplo_t uplo, int64_t n, int64_t nb) {
  const char letter = letter_of(T{});
  const GeneratedMatrix matrix{GeneratedMatrix::random, n};
  DeviceArray<T> A(size_t(n) * size_t(n));
  CHOL_TEST_CUDA(matrix.write(letter, uplo == CHOL_UPPER, A.data(), n, nullptr));
  CHOL_TEST_CUDA(cudaDeviceSynchronize());
  const Parts<T> parts(team, n, nb);
  for (int round = 0; round < 3; ++round) {
    parts.scatter(uplo, A.data(), n);
    expect(parts.factor(uplo) == 0, "info", letter, uplo, n, double(nb));
  }
  parts.gather(uplo, A.data(), n);
  SampledResidual residual{};
  CHOL_TEST_CUDA(sampled_residual(matrix, letter, uplo == CHOL_UPPER, A.data(), n, &residual));
  expect(residual.ratio < 30, "residual", letter, uplo, n, residual.ratio);
}

/// In host memory, pageable or pinned. @param bytes that a device may use, 0: all.
template <class T>
void check_host(const std::vector<int>& devices, chol_uplo_t uplo, int64_t n, size_t bytes,
                bool pinned) {
  const char letter = letter_of(T{});
  const Team team(devices);
  std::vector<std::unique_ptr<DeviceArray<char>>> memory;
  for (size_t d = 0; d < devices.size() && bytes > 0; ++d) {
    CHOL_TEST_CUDA(cudaSetDevice(devices[d]));
    memory.push_back(std::make_unique<DeviceArray<char>>(bytes));
    expect_status(team.handle,
                  chol_set_device_workspace(team.handle, int(d), memory.back()->data(), bytes),
                  "chol_set_device_workspace");
  }
  CHOL_TEST_CUDA(cudaSetDevice(devices[0]));
  const Batch<T> A(uplo, n, n + 3, 1, static_cast<unsigned>(n));
  Batch<T> L = A;
  if (pinned)
    CHOL_TEST_CUDA(cudaHostRegister(L.a.data(), sizeof(T) * L.a.size(), cudaHostRegisterDefault));
  int info = -5;
  expect_status(team.handle, potrf_of(T{})(team.handle, uplo, n, L.a.data(), L.lda, &info),
                "potrf of a host matrix");
  const double residual = factor_residual(A, L, 0);
  expect(info == 0 && residual < 30, bytes ? "out of core" : "host matrix", letter, uplo, n,
         residual);
  expect(changed_outside(A, L) == 0, "host matrix outside the triangle", letter, uplo, n, 0);
  std::vector<T> B(2 * n), X;
  std::mt19937_64 engine(n);
  for (T& x : B) x = random_element<T>(engine);
  X = B;
  expect_status(team.handle, potrs_of(T{})(team.handle, uplo, n, 2, L.a.data(), L.lda, X.data(), n),
                "potrs of a host matrix");
  double error = solve_residual(A, 0, B.data(), X.data(), n, 2);
  expect(error < 30, "potrs of a host matrix", letter, uplo, n, error);
  X = B;
  Batch<T> M = A;
  expect_status(team.handle,
                posv_of(T{})(team.handle, uplo, n, 2, M.a.data(), M.lda, X.data(), n, &info),
                "posv of a host matrix");
  error = solve_residual(A, 0, B.data(), X.data(), n, 2);
  expect(info == 0 && error < 30, "posv of a host matrix", letter, uplo, n, error);
  Batch<T> inverse = L;
  expect_status(team.handle,
                potri_of(T{})(team.handle, uplo, n, inverse.a.data(), inverse.lda, &info),
                "potri of a host matrix");
  for (int64_t i = 0; i < n; ++i) {
    typename Batch<T>::Wide product(0);
    for (int64_t k = 0; k < n; ++k)
      product += inverse.full(0, i, k) * typename Batch<T>::Wide(B[size_t(k)]);
    X[size_t(i)] = T(product);
  }
  error = solve_residual(A, 0, B.data(), X.data(), n, 1);
  expect(info == 0 && error < 30 && changed_outside(A, inverse) == 0, "potri of a host matrix",
         letter, uplo, n, error);
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += 2 * std::log(double(std::real(L.lower(0, i, i))));
  Real<T> logdet = 0;
  expect_status(team.handle, logdet_of(T{})(team.handle, uplo, n, L.a.data(), L.lda, &logdet),
                "logdet of a host matrix");
  expect(std::abs(double(logdet) - sum) <= 1e-6 * std::abs(sum), "logdet", letter, uplo, n, sum);
  if (pinned) CHOL_TEST_CUDA(cudaHostUnregister(L.a.data()));
  Batch<T> bad = A;
  bad.lower(0, n / 2, n / 2) = T(-1);
  expect_status(team.handle, potrf_of(T{})(team.handle, uplo, n, bad.a.data(), bad.lda, &info),
                "potrf of a host matrix");
  expect(info == n / 2 + 1, "info of a host matrix", letter, uplo, n, info);
}

template <class T>
void run(const std::vector<int>& devices) {
  for (const chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER}) {
    for (const int64_t n : {1, 70, 500}) check_host<T>(devices, uplo, n, 0, n == 500);
    // A quarter of what the triangle takes, panels included.
    check_host<T>(devices, uplo, 1000, sizeof(T) * 500000, true);
    check_host<T>(devices, uplo, 1000, sizeof(T) * 500000, false);
  }
  const Team team(devices);
  for (const chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER}) {
    for (const int64_t n : {0, 1, 5, 64, 130, 333})
      for (const int64_t nb : {int64_t{3}, int64_t{64}, int64_t{100}, std::max<int64_t>(n, 1)})
        check_factor<T>(team, uplo, n, nb);
    check_factor<T>(team, uplo, 21, 1);
    for (const bool nan : {false, true}) {
      check_info<T>(team, uplo, 160, 64, nan);
      check_info<T>(team, uplo, 100, 30, nan);
    }
    check_large<T>(team, uplo, 3000, 256);
    check_large<T>(team, uplo, 4100, 1100);
  }
}

void check_arguments(const std::vector<int>& devices) {
  const Team team(devices);
  const auto refused = [&](chol_status_t status, chol_status_t wanted, const char* message) {
    const bool right = status == wanted && std::strstr(chol_last_error(team.handle), message);
    expect(right, message, 'd', CHOL_LOWER, 0, status);
    if (!right) std::printf("  %s\n", chol_last_error(team.handle));
  };
  const Parts<double> parts(team, 8, 4);
  std::vector<double> host(64);
  std::vector<double*> pointers = parts.pointers;
  std::vector<int64_t> lds = parts.lds;
  int info = -5;
  const auto factor = [&](int64_t n, int64_t nb) {
    return chol_dpotrf_cyclic(team.handle, CHOL_LOWER, n, pointers.data(), lds.data(), nb, &info);
  };
  refused(factor(8, 0), CHOL_STATUS_INVALID_VALUE, "nb = 0, must be at least 1");
  lds[1] = 7;
  refused(factor(8, 4), CHOL_STATUS_INVALID_VALUE, "lda[1] = 7, must be at least max(1, n) = 8");
  lds = parts.lds;
  pointers[1] = nullptr;
  refused(factor(8, 4), CHOL_STATUS_INVALID_VALUE, "A[1] = NULL, must point to its elements");
  pointers[1] = host.data();
  refused(factor(8, 4), CHOL_STATUS_INVALID_VALUE, "A[1] is in host memory, must be in memory");
  pointers = parts.pointers;
  expect(info == -5, "info of a refused call", 'd', CHOL_LOWER, 8, info);
  refused(chol_set_stream(team.handle, nullptr), CHOL_STATUS_NOT_SUPPORTED, "several devices");
  refused(chol_set_device_stream(team.handle, 9, nullptr), CHOL_STATUS_INVALID_VALUE, "which = 9");
  refused(chol_set_device_workspace(team.handle, 0, host.data(), 512), CHOL_STATUS_INVALID_VALUE,
          "memory is in host memory");
  chol_handle_t none = nullptr;
  const int missing[] = {devices[0], 99};
  const chol_status_t status = chol_create_on(&none, CHOL_BACKEND_CUDA, 2, missing);
  expect(status == CHOL_STATUS_NO_DEVICE && !none &&
             std::strstr(chol_last_error(nullptr), "devices[1]: device 99, must be in 0 .. "),
         "a missing device", 'd', CHOL_LOWER, 0, status);
  expect_status(nullptr, chol_create_on(&none, CHOL_BACKEND_CUDA, 0, nullptr), "chol_create_on");
  expect(chol_dpotrf_cyclic(none, CHOL_LOWER, 8, pointers.data(), lds.data(), 4, &info) ==
             CHOL_STATUS_NOT_SUPPORTED,
         "a handle without named devices", 'd', CHOL_LOWER, 8, 0);
  chol_destroy(none);
}

/// Workspace and streams of the caller: the queried size, and earlier work in the stream.
void check_workspace_and_streams(const std::vector<int>& devices) {
  constexpr int64_t kOrder = 500, kBlock = 64;
  const Team team(devices);
  const Parts<double> parts(team, kOrder, kBlock);
  size_t bytes = 0;
  expect_status(team.handle, chol_query_workspace(team.handle, &bytes), "query");
  parts.factor(CHOL_LOWER);
  expect_status(team.handle, chol_query_workspace(team.handle, nullptr), "query");
  expect(bytes > 0, "workspace", 'd', CHOL_LOWER, kOrder, double(bytes));
  std::vector<std::unique_ptr<DeviceArray<char>>> memory;
  std::vector<cudaStream_t> streams;
  for (size_t d = 0; d < devices.size(); ++d) {
    CHOL_TEST_CUDA(cudaSetDevice(devices[d]));
    memory.push_back(std::make_unique<DeviceArray<char>>(bytes));
    streams.emplace_back();
    CHOL_TEST_CUDA(cudaStreamCreateWithFlags(&streams.back(), cudaStreamNonBlocking));
    expect_status(team.handle,
                  chol_set_device_workspace(team.handle, int(d), memory.back()->data(), bytes),
                  "chol_set_device_workspace");
    expect_status(team.handle, chol_set_device_stream(team.handle, int(d), streams.back()),
                  "chol_set_device_stream");
  }
  CHOL_TEST_CUDA(cudaSetDevice(devices[0]));
  const Batch<double> A(CHOL_LOWER, kOrder, kOrder, 1, 3);
  parts.scatter(CHOL_LOWER, A.a.data(), A.lda);
  expect(parts.factor(CHOL_LOWER) == 0, "info", 'd', CHOL_LOWER, kOrder, 0);
  Batch<double> L = A;
  parts.gather(CHOL_LOWER, L.a.data(), L.lda);
  const double residual = factor_residual(A, L, 0);
  expect(residual < 30, "residual in the caller's workspace", 'd', CHOL_LOWER, kOrder, residual);
  for (cudaStream_t stream : streams) CHOL_TEST_CUDA(cudaStreamDestroy(stream));
}

/// Two handles over the same devices on two threads.
void check_two_threads(const std::vector<int>& devices) {
  std::vector<std::thread> threads;
  for (int k = 0; k < 2; ++k)
    threads.emplace_back([&, k] {
      for (int round = 0; round < 5; ++round)
        check_factor<double>(Team(devices), k ? CHOL_UPPER : CHOL_LOWER, 300 + k, 64);
    });
  for (std::thread& thread : threads) thread.join();
}

void run_all(const std::vector<int>& devices, const std::string& wanted) {
  for_each_precision(wanted, [&](auto zero) { run<decltype(zero)>(devices); });
  check_arguments(devices);
  check_workspace_and_streams(devices);
  check_two_threads(devices);
}

}  // namespace
}  // namespace chol::test

int main(int argc, char** argv) {
  using namespace chol::test;
  if (!device_present()) return 0;
  const std::string wanted = argc > 1 ? argv[1] : "";
  int count = 0;
  CHOL_TEST_CUDA(cudaGetDeviceCount(&count));
  run_all({0, 0, 0}, wanted);
  std::vector<int> all;
  for (int d = 0; d < count; ++d) all.push_back(d);
  if (count > 1) run_all(all, wanted);
  return report_failures();
}
