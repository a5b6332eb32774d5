// A second backend, provided by a plug-in that the library was not built with.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "abi/recording_backend.hpp"
#include "support/handle.hpp"

namespace chol::test {
namespace {

template <class F>
F* symbol(const char* name) {
  static void* plugin = dlopen(CHOL_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  return plugin ? reinterpret_cast<F*>(dlsym(plugin, name)) : nullptr;
}

const Recording& recording() { return *symbol<RecordingFunction>(kRecordingSymbol)(); }

/// An array in the plug-in's memory.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(size_t count)
      : values_(static_cast<T*>(symbol<AllocateFunction>(kAllocateSymbol)(count * sizeof(T)))) {}
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { symbol<ReleaseFunction>(kReleaseSymbol)(values_); }
  operator T*() const { return values_; }

 private:
  T* values_;
};

class Plugin : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(symbol<RecordingFunction>(kRecordingSymbol), nullptr) << dlerror();
    setenv("CHOL_CUDA_PLUGIN", CHOL_TEST_PLUGIN, 1);
    unsetenv("CHOL_TEST_NO_DEVICE");
  }
  static chol_handle_t both_backends() {
    chol_handle_t handle = nullptr;
    EXPECT_EQ(chol_create(&handle), CHOL_STATUS_SUCCESS) << chol_last_error(nullptr);
    return handle;
  }
};

void set_identity(double* A, int n, double diagonal) {
  for (int k = 0; k < n * n; ++k) A[k] = k % (n + 1) == 0 ? diagonal : 0;
}

TEST_F(Plugin, JoinsTheHostBackend) {
  const chol_handle_t handle = both_backends();
  const char* name = nullptr;
  EXPECT_EQ(chol_backend_name(handle, CHOL_BACKEND_CUDA, &name), CHOL_STATUS_SUCCESS);
  EXPECT_STREQ(name, "recording");
  EXPECT_EQ(chol_backend_name(handle, CHOL_BACKEND_HOST, &name), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(std::string(name).substr(0, 4), "host");
  EXPECT_EQ(recording().live_backends, 1);
  EXPECT_EQ(chol_destroy(handle), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(recording().live_backends, 0);
}

TEST_F(Plugin, ArraysChooseTheBackend) {
  const chol_handle_t handle = both_backends();
  const int before = recording().calls;
  double host[16];
  int host_info = -1;
  set_identity(host, 4, 9);
  EXPECT_EQ(chol_dpotrf(handle, CHOL_LOWER, 4, host, 4, &host_info), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(recording().calls, before);
  const OnDevice<double> device(16);
  const OnDevice<int> info(1);
  set_identity(device, 4, 16);
  int stream = 0;
  EXPECT_EQ(chol_set_stream(handle, &stream), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(chol_dpotrf(handle, CHOL_LOWER, 4, device, 4, info), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(recording().calls, before + 1);
  EXPECT_EQ(recording().last_stream, &stream);
  EXPECT_EQ(recording().last_workspace_bytes, 1000u);
  EXPECT_EQ(recording().live_allocations, 1);
  EXPECT_EQ(device[5], 4);
  EXPECT_EQ(host[5], 3);
  EXPECT_EQ(host_info, 0);
  EXPECT_EQ(chol_destroy(handle), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(recording().live_allocations, 0);
}

TEST_F(Plugin, ArraysInTwoMemoriesAreRefused) {
  const chol_handle_t handle = both_backends();
  const OnDevice<double> device(16);
  int info = -1;
  set_identity(device, 4, 16);
  EXPECT_EQ(chol_dpotrf(handle, CHOL_LOWER, 4, device, 4, &info), CHOL_STATUS_INVALID_VALUE);
  EXPECT_STREQ(chol_last_error(handle),
               "chol_dpotrf: A is in device memory and info in host memory, must be together");
  EXPECT_EQ(info, -1);
  EXPECT_EQ(chol_destroy(handle), CHOL_STATUS_SUCCESS);
}

TEST_F(Plugin, APinnedHandleRefusesHostArrays) {
  chol_handle_t handle = nullptr;
  ASSERT_EQ(chol_create_on(&handle, CHOL_BACKEND_CUDA, 0, nullptr), CHOL_STATUS_SUCCESS);
  double host[16];
  int info = -1;
  EXPECT_EQ(chol_dpotrf(handle, CHOL_LOWER, 4, host, 4, &info), CHOL_STATUS_INVALID_VALUE);
  EXPECT_STREQ(chol_last_error(handle),
               "chol_dpotrf: A is in host memory, must be in device memory on a handle pinned to "
               "CUDA");
  EXPECT_EQ(chol_destroy(handle), CHOL_STATUS_SUCCESS);
}

TEST_F(Plugin, EachNamedDeviceIsOpened) {
  const int devices[] = {3, 1};
  chol_handle_t handle = nullptr;
  ASSERT_EQ(chol_create_on(&handle, CHOL_BACKEND_CUDA, 2, devices), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(recording().device_count, 1);
  EXPECT_EQ(recording().first_device, 1);
  EXPECT_EQ(chol_set_stream(handle, nullptr), CHOL_STATUS_NOT_SUPPORTED);
  EXPECT_STREQ(chol_last_error(handle),
               "chol_set_stream: the handle has several devices, each has its own stream "
               "(chol_set_device_stream)");
  EXPECT_EQ(chol_set_device_stream(handle, 1, nullptr), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(chol_set_device_stream(handle, 2, nullptr), CHOL_STATUS_INVALID_VALUE);
  EXPECT_STREQ(chol_last_error(handle), "chol_set_device_stream: which = 2, must be in 0 .. 1");
  EXPECT_EQ(chol_destroy(handle), CHOL_STATUS_SUCCESS);
}

/// A tridiagonal matrix in block columns over three devices, and its parts.
class SeveralDevices : public Plugin {
 protected:
  static constexpr int kDevices = 3;
  static constexpr int64_t kOrder = 11, kBlock = 2;

  void SetUp() override {
    Plugin::SetUp();
    const int devices[kDevices] = {0, 1, 2};
    ASSERT_EQ(chol_create_on(&handle_, CHOL_BACKEND_CUDA, kDevices, devices), CHOL_STATUS_SUCCESS);
    std::fill_n(A_, kOrder * kOrder, -7.0);
    for (int64_t j = 0; j < kOrder; ++j) {
      for (int64_t i = j; i < kOrder; ++i) A_[j * kOrder + i] = i == j ? 4 : i == j + 1 ? -1 : 0;
      b_[j] = static_cast<double>(j) - 3;
    }
  }
  void TearDown() override {
    unsetenv("CHOL_TEST_FAIL_PANELS");
    EXPECT_EQ(chol_destroy(handle_), CHOL_STATUS_SUCCESS);
  }
  chol_status_t scatter() const {
    return chol_dscatter_cyclic(handle_, CHOL_LOWER, kOrder, A_, kOrder, parts_, lda_, kBlock);
  }
  chol_status_t potrf(int* info) const {
    return chol_dpotrf_cyclic(handle_, CHOL_LOWER, kOrder, parts_, lda_, kBlock, info);
  }
  void expect_solution(const double* x) const {
    for (int64_t i = 0; i < kOrder; ++i) {
      const double left = i > 0 ? x[i - 1] : 0, right = i + 1 < kOrder ? x[i + 1] : 0;
      EXPECT_NEAR(4 * x[i] - left - right, b_[i], 1e-12) << i;
    }
  }

  void expect_inverse(const double* X) const {
    double x[kOrder] = {};
    for (int64_t i = 0; i < kOrder; ++i)
      for (int64_t k = 0; k < kOrder; ++k)
        x[i] += X[std::min(i, k) * kOrder + std::max(i, k)] * b_[k];
    expect_solution(x);
  }

  chol_handle_t handle_ = nullptr;
  OnDevice<double> first_{kOrder * 6}, second_{kOrder * 6}, third_{kOrder * 6};
  double* const parts_[kDevices] = {first_, second_, third_};
  const int64_t lda_[kDevices] = {kOrder, kOrder, kOrder};
  double A_[kOrder * kOrder], b_[kOrder];
};

TEST_F(SeveralDevices, FactorSolveAndInvert) {
  int info = -1;
  double x[kOrder], logdet = 0, whole_logdet = 0;
  std::copy_n(b_, kOrder, x);
  ASSERT_EQ(scatter(), CHOL_STATUS_SUCCESS) << chol_last_error(handle_);
  ASSERT_EQ(
      chol_dposv_cyclic(handle_, CHOL_LOWER, kOrder, 1, parts_, lda_, kBlock, x, kOrder, &info),
      CHOL_STATUS_SUCCESS)
      << chol_last_error(handle_);
  EXPECT_EQ(info, 0);
  expect_solution(x);
  EXPECT_EQ(chol_dlogdet_cyclic(handle_, CHOL_LOWER, kOrder, parts_, lda_, kBlock, &logdet),
            CHOL_STATUS_SUCCESS);

  // The same of the matrix in host memory.
  double host[kOrder * kOrder];
  std::copy_n(A_, kOrder * kOrder, host);
  std::copy_n(b_, kOrder, x);
  EXPECT_EQ(chol_dposv(handle_, CHOL_LOWER, kOrder, 1, host, kOrder, x, kOrder, &info),
            CHOL_STATUS_SUCCESS)
      << chol_last_error(handle_);
  expect_solution(x);
  EXPECT_EQ(chol_dlogdet(handle_, CHOL_LOWER, kOrder, host, kOrder, &whole_logdet),
            CHOL_STATUS_SUCCESS);
  EXPECT_NEAR(whole_logdet, logdet, 1e-12);
  for (int64_t j = 1; j < kOrder; ++j) EXPECT_EQ(host[j * kOrder], -7) << "beside the triangle";

  EXPECT_EQ(chol_dpotri(handle_, CHOL_LOWER, kOrder, host, kOrder, &info), CHOL_STATUS_SUCCESS)
      << chol_last_error(handle_);
  expect_inverse(host);
  for (int64_t j = 1; j < kOrder; ++j) EXPECT_EQ(host[j * kOrder], -7) << "beside the triangle";
  EXPECT_EQ(chol_dpotri_cyclic(handle_, CHOL_LOWER, kOrder, parts_, lda_, kBlock, &info),
            CHOL_STATUS_SUCCESS);
  EXPECT_EQ(chol_dgather_cyclic(handle_, CHOL_LOWER, kOrder, parts_, lda_, kBlock, host, kOrder),
            CHOL_STATUS_SUCCESS);
  expect_inverse(host);
}

TEST_F(SeveralDevices, AFactorThatDoesNotFitIsStreamed) {
  constexpr int64_t kLarge = 130;
  for (const chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER}) {
    std::vector<double> host(kLarge * kLarge), x(kLarge, 1.0);
    for (int64_t j = 0; j < kLarge; ++j) {
      host[j * kLarge + j] = 4;
      if (j + 1 < kLarge) host[uplo == CHOL_LOWER ? j * kLarge + j + 1 : (j + 1) * kLarge + j] = -1;
    }
    int info = -1;
    ASSERT_EQ(chol_dpotrf(handle_, uplo, kLarge, host.data(), kLarge, &info), CHOL_STATUS_SUCCESS);
    const OnDevice<double> memory(5000);
    for (int d = 0; d < kDevices; ++d)
      ASSERT_EQ(chol_set_device_workspace(handle_, d, memory, 40000), CHOL_STATUS_SUCCESS)
          << chol_last_error(handle_);
    EXPECT_EQ(chol_dpotrs(handle_, uplo, kLarge, 1, host.data(), kLarge, x.data(), kLarge),
              CHOL_STATUS_SUCCESS)
        << chol_last_error(handle_);
    for (int64_t i = 0; i < kLarge; ++i)
      EXPECT_NEAR(4 * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < kLarge ? x[i + 1] : 0), 1, 1e-12);
    EXPECT_EQ(chol_dpotrf(handle_, uplo, kLarge, host.data(), kLarge, &info),
              CHOL_STATUS_ALLOC_FAILED);
    EXPECT_STREQ(chol_last_error(handle_),
                 "chol_dpotrf: the devices' memory does not hold panels of the matrix");
    for (int d = 0; d < kDevices; ++d)
      EXPECT_EQ(chol_set_device_workspace(handle_, d, nullptr, 0), CHOL_STATUS_SUCCESS);
  }
}

/// A diagonally dominant matrix of order n; -7 outside its triangle.
std::vector<double> large_matrix(int64_t n, bool upper) {
  std::vector<double> A(static_cast<size_t>(n * n), -7);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = j; i < n; ++i)
      A[static_cast<size_t>(upper ? i * n + j : j * n + i)] =
          i == j ? 2.0 * static_cast<double>(n) : static_cast<double>((i * 7 + j * 13) % 19) / 19;
  return A;
}

/// Solves for the row sums of the matrix, whose solution is 1.
void expect_ones(chol_handle_t handle, int64_t n, bool upper) {
  std::vector<double> A = large_matrix(n, upper), x(static_cast<size_t>(n));
  const std::vector<double> whole = A;
  const auto at = [&](int64_t i, int64_t j) {
    return whole[static_cast<size_t>((i < j) == upper ? j * n + i : i * n + j)];
  };
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      x[size_t(i)] += i == j ? 2.0 * static_cast<double>(n) : at(i, j);
  int info = -1;
  EXPECT_EQ(
      chol_dposv(handle, upper ? CHOL_UPPER : CHOL_LOWER, n, 1, A.data(), n, x.data(), n, &info),
      CHOL_STATUS_SUCCESS)
      << chol_last_error(handle);
  EXPECT_EQ(info, 0);
  double worst = 0, beside = 0;
  for (const double value : x) worst = std::max(worst, std::abs(value - 1));
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = j + 1; i < n; ++i)
      beside =
          std::max(beside, std::abs(A[static_cast<size_t>(upper ? j * n + i : i * n + j)] + 7));
  EXPECT_LT(worst, 1e-12);
  EXPECT_EQ(beside, 0);
}

/// In host memory and over the devices; different bits show that it is not the native factor.
TEST_F(SeveralDevices, TakeTheMathModeTensor) {
  constexpr int64_t kLarge = 400, kWide = 32;
  for (const bool upper : {false, true}) {
    const chol_uplo_t uplo = upper ? CHOL_UPPER : CHOL_LOWER;
    std::vector<double> factors[2][2];
    const OnDevice<double> first(kLarge * kLarge), second(kLarge * kLarge), third(kLarge * kLarge);
    double* const pointers[kDevices] = {first, second, third};
    const int64_t lda[kDevices] = {kLarge, kLarge, kLarge};
    for (const bool tensor : {false, true}) {
      ASSERT_EQ(chol_set_math_mode(handle_, tensor ? CHOL_MATH_TENSOR : CHOL_MATH_IEEE),
                CHOL_STATUS_SUCCESS);
      int info = -1;
      std::vector<double>& host = factors[tensor][0] = large_matrix(kLarge, upper);
      std::vector<double>& cyclic = factors[tensor][1] = host;
      EXPECT_EQ(chol_dpotrf(handle_, uplo, kLarge, host.data(), kLarge, &info),
                CHOL_STATUS_SUCCESS);
      EXPECT_EQ(info, 0);
      EXPECT_EQ(
          chol_dscatter_cyclic(handle_, uplo, kLarge, cyclic.data(), kLarge, pointers, lda, kWide),
          CHOL_STATUS_SUCCESS)
          << chol_last_error(handle_);
      EXPECT_EQ(chol_dpotrf_cyclic(handle_, uplo, kLarge, pointers, lda, kWide, &info),
                CHOL_STATUS_SUCCESS)
          << chol_last_error(handle_);
      EXPECT_EQ(info, 0);
      EXPECT_EQ(
          chol_dgather_cyclic(handle_, uplo, kLarge, pointers, lda, kWide, cyclic.data(), kLarge),
          CHOL_STATUS_SUCCESS);
    }
    for (const int place : {0, 1}) {
      double largest = 0;
      for (size_t i = 0; i < factors[0][place].size(); ++i)
        largest = std::max(largest, std::abs(factors[0][place][i] - factors[1][place][i]));
      EXPECT_GT(largest, 0) << place;
      EXPECT_LT(largest, 1e-11) << place;
    }
  }
}

/// Each device has half of the matrix's memory, including panels, then a quarter: two superpanels,
/// then eleven, and a streamed factor.
TEST_F(SeveralDevices, MatricesLargerThanTheirMemoryGoInParts) {
  constexpr int64_t kLarge = 2000;
  for (const size_t parts : {2, 4}) {
    const size_t bytes = kLarge * kLarge * sizeof(double) / parts;
    const OnDevice<char> first(bytes), second(bytes), third(bytes);
    for (int d = 0; d < kDevices; ++d)
      ASSERT_EQ(chol_set_device_workspace(handle_, d,
                                          d == 0   ? first
                                          : d == 1 ? second
                                                   : third,
                                          bytes),
                CHOL_STATUS_SUCCESS);
    for (const bool upper : {false, true}) expect_ones(handle_, kLarge, upper);
    for (int d = 0; d < kDevices; ++d)
      EXPECT_EQ(chol_set_device_workspace(handle_, d, nullptr, 0), CHOL_STATUS_SUCCESS);
  }
}

/// Each handle has its own queues and memory there.
TEST_F(SeveralDevices, TwoHandlesWorkConcurrently) {
  std::vector<std::thread> threads;
  for (const bool upper : {false, true})
    threads.emplace_back([upper] {
      const int devices[] = {0, 1, 2};
      chol_handle_t handle = nullptr;
      ASSERT_EQ(chol_create_on(&handle, CHOL_BACKEND_CUDA, 3, devices), CHOL_STATUS_SUCCESS);
      for (int64_t n = 150; n < 200; n += 10) expect_ones(handle, n, upper);
      EXPECT_EQ(chol_destroy(handle), CHOL_STATUS_SUCCESS);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(SeveralDevices, AFailureStaysWithTheHandle) {
  int info = -1;
  ASSERT_EQ(scatter(), CHOL_STATUS_SUCCESS);
  setenv("CHOL_TEST_FAIL_PANELS", "1", 1);
  EXPECT_EQ(potrf(&info), CHOL_STATUS_DEVICE_ERROR);
  EXPECT_STREQ(chol_last_error(handle_), "chol_dpotrf_cyclic: device 7: it is gone");
  unsetenv("CHOL_TEST_FAIL_PANELS");
  EXPECT_EQ(potrf(&info), CHOL_STATUS_DEVICE_ERROR);
  EXPECT_STREQ(chol_last_error(handle_),
               "chol_dpotrf_cyclic: an earlier call failed, make another handle (device 7: it is "
               "gone)");
  EXPECT_EQ(info, -1);
  chol_handle_t other = nullptr;
  const int devices[kDevices] = {0, 1, 2};
  ASSERT_EQ(chol_create_on(&other, CHOL_BACKEND_CUDA, kDevices, devices), CHOL_STATUS_SUCCESS);
  std::swap(handle_, other);
  ASSERT_EQ(scatter(), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(potrf(&info), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(info, 0);
  EXPECT_EQ(chol_destroy(other), CHOL_STATUS_SUCCESS);
}

TEST_F(Plugin, ABackendWithoutPanelsIsNotOneOfSeveralDevices) {
  setenv("CHOL_TEST_NO_PANELS", "1", 1);
  const int devices[] = {0, 0};
  chol_handle_t handle = nullptr;
  ASSERT_EQ(chol_create_on(&handle, CHOL_BACKEND_CUDA, 2, devices), CHOL_STATUS_SUCCESS);
  const OnDevice<double> A(16), more(16);
  double* const parts[] = {A, more};
  const int64_t lda[] = {4, 4};
  int info = -1;
  EXPECT_EQ(chol_dpotrf_cyclic(handle, CHOL_LOWER, 4, parts, lda, 2, &info),
            CHOL_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(info, -1);
  EXPECT_EQ(chol_dpotrf_cyclic(handle, CHOL_LOWER, 4, parts, lda, 0, &info),
            CHOL_STATUS_INVALID_VALUE);
  EXPECT_STREQ(chol_last_error(handle), "chol_dpotrf_cyclic: nb = 0, must be at least 1");
  unsetenv("CHOL_TEST_NO_PANELS");
  EXPECT_EQ(chol_destroy(handle), CHOL_STATUS_SUCCESS);
}

TEST_F(Plugin, WithoutRefinementTwoPrecisionsAreNotSupported) {
  chol_handle_t handle = nullptr;
  ASSERT_EQ(chol_create_on(&handle, CHOL_BACKEND_CUDA, 0, nullptr), CHOL_STATUS_SUCCESS);
  const OnDevice<double> A(16), B(4), X(4);
  int iter = 5, info = 5;
  EXPECT_EQ(chol_dsposv(handle, CHOL_LOWER, 4, 1, A, 4, B, 4, X, 4, &iter, &info),
            CHOL_STATUS_NOT_SUPPORTED);
  EXPECT_STREQ(chol_last_error(handle), "chol_dsposv: recording has no refinement");
  EXPECT_EQ(iter, 5);
  EXPECT_EQ(info, 5);
  EXPECT_EQ(chol_destroy(handle), CHOL_STATUS_SUCCESS);
}

/// Arrays of sizes in device memory are not read by the host.
TEST_F(Plugin, SizesOnTheDeviceAreLeftToIt) {
  const chol_handle_t handle = both_backends();
  const OnDevice<double> matrices(32);
  const OnDevice<double*> A(2);
  const OnDevice<int64_t> n(2), lda(2);
  const OnDevice<int> info(2);
  for (int b = 0; b < 2; ++b) {
    A[b] = matrices + 16 * b;
    n[b] = 3 + b;
    lda[b] = 4;
    set_identity(A[b], 4, 4);
  }
  EXPECT_EQ(chol_dpotrf_vbatched(handle, CHOL_UPPER, 9, n, A, lda, info, 2), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(recording().last_n, 9);
  EXPECT_EQ(A[1][15], 2);
  EXPECT_EQ(A[0][15], 4);
  EXPECT_EQ(info[0] + info[1], 0);
  EXPECT_EQ(chol_destroy(handle), CHOL_STATUS_SUCCESS);
}

TEST_F(Plugin, ItsStatusIsTheCallsStatus) {
  const chol_handle_t handle = both_backends();
  const OnDevice<double> device(1), logdet(1);
  EXPECT_EQ(chol_dlogdet(handle, CHOL_LOWER, 1, device, 1, logdet), CHOL_STATUS_NOT_SUPPORTED);
  EXPECT_STREQ(chol_last_error(handle), "recording: no 5");
  EXPECT_EQ(chol_destroy(handle), CHOL_STATUS_SUCCESS);
}

TEST_F(Plugin, WithoutADeviceTheHostRemains) {
  setenv("CHOL_TEST_NO_DEVICE", "1", 1);
  chol_handle_t handle = nullptr;
  EXPECT_EQ(chol_create_on(&handle, CHOL_BACKEND_CUDA, 0, nullptr), CHOL_STATUS_NO_DEVICE);
  EXPECT_STREQ(chol_last_error(nullptr), "recording: no device here");
  handle = both_backends();
  const char* name = nullptr;
  EXPECT_EQ(chol_backend_name(handle, CHOL_BACKEND_CUDA, &name), CHOL_STATUS_NO_DEVICE);
  EXPECT_EQ(chol_destroy(handle), CHOL_STATUS_SUCCESS);
}

/// In a separate process, whose environment names that library.
TEST(NoPlugin, IsRefused) {
  chol_handle_t handle = nullptr;
  EXPECT_EQ(chol_create_on(&handle, CHOL_BACKEND_CUDA, 0, nullptr), CHOL_STATUS_NO_DEVICE);
  EXPECT_NE(std::string(chol_last_error(nullptr)).find("is not a chol plug-in"), std::string::npos);
}

}  // namespace
}  // namespace chol::test
