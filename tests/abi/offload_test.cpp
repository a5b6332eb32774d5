// Matrices in host memory on a device, with the plug-in as the device. Every case runs in a
// separate process, since a process opens its device once.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "abi/recording_backend.hpp"
#include "base/scalar.hpp"
#include "support/api.hpp"
#include "support/handle.hpp"

namespace chol::test {
namespace {

const Recording& recording() {
  static void* plugin = dlopen(CHOL_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  return *reinterpret_cast<RecordingFunction*>(dlsym(plugin, kRecordingSymbol))();
}

/// Runs body() in a child process, which is killed if it hangs; returns whether there was no
/// failure.
template <class Body>
bool succeeds_in_child(Body&& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(300);
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

class Offload : public testing::Test {
 protected:
  void SetUp() override {
    setenv("CHOL_CUDA_PLUGIN", CHOL_TEST_PLUGIN, 1);
    forget_variables();
  }
  void TearDown() override { forget_variables(); }

 private:
  static void forget_variables() {
    for (const char* name :
         {"CHOL_TEST_NO_DEVICE", "CHOL_TEST_NO_MEMORY", "CHOL_TEST_FAIL_AFTER", "CHOL_TEST_DEVICES",
          "CHOL_TEST_FAIL_PANELS", "CHOL_TEST_FAIL_STORE", "CHOL_DEVICES"})
      unsetenv(name);
  }
};

constexpr int64_t kOrder = 300;

/// A matrix with a pattern outside the named triangle.
template <class T>
struct Matrix {
  chol_uplo_t uplo;
  int64_t n, lda;
  std::vector<T> elements;

  Matrix(chol_uplo_t triangle, int64_t order)
      : uplo(triangle), n(order), lda(order + 5), elements(lda * order, T(-77)) {
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = j; i < n; ++i)
        at(i, j) = i == j ? T(n) : T(static_cast<RealOf<T>>((i * 7 + j * 13) % 19) / 19);
  }
  T& at(int64_t i, int64_t j) { return elements[uplo == CHOL_LOWER ? i + j * lda : j + i * lda]; }
};

/// Whether two factors agree in their first columns, and all other elements are identical.
template <class T>
bool agree(Matrix<T> a, Matrix<T> b, int64_t columns) {
  double worst = 0;
  for (int64_t j = 0; j < a.n; ++j)
    for (int64_t i = j; i < a.n; ++i) {
      if (j < columns) worst = std::max(worst, double(std::abs(a.at(i, j) - b.at(i, j))));
      a.at(i, j) = b.at(i, j) = 0;
    }
  return worst < 1e-4 * std::sqrt(double(a.n)) && a.elements == b.elements;
}

/// potrf against the host's, and where it ran.
template <class T>
void expect_factored(chol_handle_t handle, Matrix<T> A, chol_backend_t where) {
  const Handle host;
  Matrix<T> expected = A;
  int info = -1, expected_info = -1;
  ASSERT_EQ(Api<T>::potrf(host, A.uplo, A.n, expected.elements.data(), A.lda, &expected_info),
            CHOL_STATUS_SUCCESS);
  EXPECT_EQ(Api<T>::potrf(handle, A.uplo, A.n, A.elements.data(), A.lda, &info),
            CHOL_STATUS_SUCCESS)
      << chol_last_error(handle);
  EXPECT_EQ(info, expected_info);
  EXPECT_TRUE(agree(A, expected, info ? info - 1 : A.n));
  chol_backend_t backend{};
  EXPECT_EQ(chol_last_backend(handle, &backend), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(backend, where);
}

template <class T>
void expect_everywhere_right(chol_handle_t handle, chol_backend_t where) {
  for (const chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER}) {
    Matrix<T> A(uplo, kOrder);
    expect_factored(handle, A, where);
    for (const int64_t bad : {0, 129, 299}) {
      Matrix<T> B = A;
      B.at(bad, bad) = T(-1);
      expect_factored(handle, B, where);
    }
  }
}

class Always : public Handle {
 public:
  explicit Always(chol_offload_t offload = CHOL_OFFLOAD_ALWAYS) {
    EXPECT_EQ(chol_set_offload(*this, offload), CHOL_STATUS_SUCCESS);
  }
};

TEST_F(Offload, AlwaysGoesToTheDevice) {
  EXPECT_TRUE(succeeds_in_child([] {
    const Always handle;
    EXPECT_EQ(recording().live_backends, 0) << "opened before a call asks for it";
    expect_factored(handle, Matrix<double>(CHOL_LOWER, 100), CHOL_BACKEND_HOST);
    EXPECT_EQ(recording().live_backends, 0);
    expect_everywhere_right<float>(handle, CHOL_BACKEND_CUDA);
    expect_everywhere_right<double>(handle, CHOL_BACKEND_CUDA);
    expect_everywhere_right<std::complex<float>>(handle, CHOL_BACKEND_CUDA);
    expect_everywhere_right<std::complex<double>>(handle, CHOL_BACKEND_CUDA);
    EXPECT_EQ(recording().host_matrices, 4 * 2 * 4);
    EXPECT_EQ(recording().live_backends, 1);
    EXPECT_EQ(recording().live_allocations, 1);
  }));
}

TEST_F(Offload, NeverIsTheDefault) {
  EXPECT_TRUE(succeeds_in_child([] {
    const Handle handle;
    expect_factored(handle, Matrix<double>(CHOL_LOWER, kOrder), CHOL_BACKEND_HOST);
    EXPECT_EQ(recording().live_backends, 0);
  }));
}

/// The rates of single precision are such that it stays on the host.
TEST_F(Offload, AutoOpensTheDeviceOnceThatPays) {
  EXPECT_TRUE(succeeds_in_child([] {
    const Always handle(CHOL_OFFLOAD_AUTO);
    const Matrix<double> A(CHOL_LOWER, 1000);
    expect_factored(handle, A, CHOL_BACKEND_HOST);
    EXPECT_EQ(recording().live_backends, 0);
    chol_backend_t where = CHOL_BACKEND_HOST;
    // The requested work counts: a matrix that fails at its first pivot takes no time.
    Matrix<double> bad = A;
    bad.elements[0] = -1;
    for (int calls = 0; calls < 5000 && where == CHOL_BACKEND_HOST; ++calls) {
      Matrix<double> B = bad;
      int info = -1;
      EXPECT_EQ(chol_dpotrf(handle, B.uplo, B.n, B.elements.data(), B.lda, &info),
                CHOL_STATUS_SUCCESS);
      chol_last_backend(handle, &where);
    }
    EXPECT_EQ(where, CHOL_BACKEND_CUDA);
    expect_factored(handle, A, CHOL_BACKEND_CUDA);
    expect_factored(handle, Matrix<float>(CHOL_LOWER, 1000), CHOL_BACKEND_HOST);
    expect_factored(handle, Matrix<double>(CHOL_UPPER, 900), CHOL_BACKEND_HOST);
  }));
}

TEST_F(Offload, WithoutADeviceTheHostDoesIt) {
  setenv("CHOL_TEST_NO_DEVICE", "1", 1);
  EXPECT_TRUE(succeeds_in_child([] {
    const Always handle;
    expect_everywhere_right<double>(handle, CHOL_BACKEND_HOST);
    EXPECT_EQ(recording().calls, 0);
  }));
}

TEST_F(Offload, WithoutDeviceMemoryTheHostDoesIt) {
  EXPECT_TRUE(succeeds_in_child([] {
    const Always handle;
    setenv("CHOL_TEST_NO_MEMORY", "1", 1);
    expect_everywhere_right<double>(handle, CHOL_BACKEND_HOST);
    unsetenv("CHOL_TEST_NO_MEMORY");
    expect_everywhere_right<double>(handle, CHOL_BACKEND_CUDA);
  }));
}

/// Returned columns are kept, the host does the rest, and the device is not used again.
TEST_F(Offload, TheHostContinuesAfterTheDeviceFails) {
  for (const char* columns : {"0", "1", "130", "299", "300"}) {
    setenv("CHOL_TEST_FAIL_AFTER", columns, 1);
    for (const chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER})
      for (const int64_t bad : {-1, 50, 200})
        EXPECT_TRUE(succeeds_in_child([&] {
          const Always handle;
          Matrix<double> A(uplo, kOrder);
          Matrix<std::complex<double>> Z(uplo, kOrder);
          if (bad >= 0) Z.at(bad, bad) = A.at(bad, bad) = -1;
          expect_factored(handle, A, CHOL_BACKEND_HOST);
          EXPECT_EQ(recording().host_matrices, 1);
          expect_factored(handle, Z, CHOL_BACKEND_HOST);
          EXPECT_EQ(recording().host_matrices, 1);
        })) << columns;
  }
  setenv("CHOL_TEST_FAIL_AFTER", "77", 1);
  for (const chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER})
    EXPECT_TRUE(succeeds_in_child([&] {
      expect_factored(Always(), Matrix<std::complex<float>>(uplo, kOrder), CHOL_BACKEND_HOST);
      EXPECT_EQ(recording().host_matrices, 1);
    }));
}

TEST_F(Offload, PosvSolvesOnTheHost) {
  EXPECT_TRUE(succeeds_in_child([] {
    const Always handle;
    for (const int64_t bad : {-1, 5}) {
      Matrix<double> A(CHOL_UPPER, kOrder), expected = A;
      if (bad >= 0) A.at(bad, bad) = expected.at(bad, bad) = -1;
      std::vector<double> B(kOrder * 2, 1), X = B;
      int info = -1, expected_info = -1;
      EXPECT_EQ(chol_dposv(Handle(), A.uplo, A.n, 2, expected.elements.data(), A.lda, X.data(),
                           kOrder, &expected_info),
                CHOL_STATUS_SUCCESS);
      EXPECT_EQ(
          chol_dposv(handle, A.uplo, A.n, 2, A.elements.data(), A.lda, B.data(), kOrder, &info),
          CHOL_STATUS_SUCCESS);
      EXPECT_EQ(info, expected_info);
      for (size_t k = 0; k < B.size(); ++k) EXPECT_NEAR(B[k], X[k], 1e-12);
      EXPECT_TRUE(agree(A, expected, info ? info - 1 : kOrder));
      chol_backend_t where{};
      chol_last_backend(handle, &where);
      EXPECT_EQ(where, CHOL_BACKEND_CUDA);
    }
  }));
}

/// Neither a handle of the parent nor a new one touches the device that the parent has open.
TEST_F(Offload, AChildStaysOnTheHost) {
  EXPECT_TRUE(succeeds_in_child([] {
    const Always handle;
    expect_factored(handle, Matrix<double>(CHOL_LOWER, kOrder), CHOL_BACKEND_CUDA);
    EXPECT_TRUE(succeeds_in_child([&] {
      expect_factored(handle, Matrix<double>(CHOL_LOWER, kOrder), CHOL_BACKEND_HOST);
      expect_factored(Always(), Matrix<double>(CHOL_UPPER, kOrder), CHOL_BACKEND_HOST);
    }));
    expect_factored(handle, Matrix<double>(CHOL_LOWER, kOrder), CHOL_BACKEND_CUDA);
  }));
}

TEST_F(Offload, AParentThatNeverOpenedItLeavesItToTheThreadsOfItsChildren) {
  EXPECT_TRUE(succeeds_in_child([] {
    const Always handle;
    EXPECT_TRUE(succeeds_in_child([] {
      std::thread([] {
        expect_factored(Always(), Matrix<double>(CHOL_LOWER, kOrder), CHOL_BACKEND_CUDA);
      }).join();
    }));
  }));
}

/// Threads that do not exist after the fork are replaced: copies to the device use new ones.
TEST_F(Offload, AChildOfATeamMayUseTheDevice) {
  EXPECT_TRUE(succeeds_in_child([] {
    const Handle host(CHOL_BACKEND_HOST, 2);
    Matrix<double> A(CHOL_LOWER, 4 * kOrder);
    int info = -1;
    chol_dpotrf(host, A.uplo, A.n, A.elements.data(), A.lda, &info);
    EXPECT_TRUE(succeeds_in_child([] {
      const Always handle;
      expect_factored(handle, Matrix<double>(CHOL_LOWER, kOrder), CHOL_BACKEND_CUDA);
    }));
  }));
}

TEST_F(Offload, ManyThreadsTakeTurns) {
  EXPECT_TRUE(succeeds_in_child([] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([] {
        const Always handle;
        const Handle host(CHOL_BACKEND_HOST, 1);
        for (int round = 0; round < 5; ++round) {
          Matrix<double> A(CHOL_LOWER, kOrder), expected = A;
          int info = -1;
          EXPECT_EQ(chol_dpotrf(handle, A.uplo, A.n, A.elements.data(), A.lda, &info),
                    CHOL_STATUS_SUCCESS);
          EXPECT_EQ(info, 0);
          chol_dpotrf(host, A.uplo, A.n, expected.elements.data(), A.lda, &info);
          EXPECT_TRUE(agree(A, expected, kOrder));
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(recording().live_backends, 1);
  }));
}

/// One may be named more than once, as in chol_create_on. The host finds bad minors.
TEST_F(Offload, AllNamedDevicesWork) {
  setenv("CHOL_DEVICES", "0,3,0", 1);
  EXPECT_TRUE(succeeds_in_child([] {
    const Always handle;
    for (const chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER}) {
      expect_factored(handle, Matrix<float>(uplo, kOrder), CHOL_BACKEND_CUDA);
      expect_factored(handle, Matrix<std::complex<double>>(uplo, kOrder), CHOL_BACKEND_CUDA);
      for (const int64_t bad : {0, 129, 299}) {
        Matrix<double> A(uplo, kOrder);
        A.at(bad, bad) = -1;
        expect_factored(handle, A, CHOL_BACKEND_HOST);
        A.at(bad, bad) = std::numeric_limits<double>::quiet_NaN();
        expect_factored(handle, A, CHOL_BACKEND_HOST);
      }
      expect_factored(handle, Matrix<double>(uplo, kOrder), CHOL_BACKEND_CUDA);
    }
    EXPECT_EQ(recording().live_backends, 3);
    EXPECT_EQ(recording().host_matrices, 0);
    EXPECT_GT(recording().panels[0], 0);
    EXPECT_GT(recording().panels[3], 0);
    EXPECT_EQ(recording().panels[1], 0);
  }));
}

TEST_F(Offload, OneNamedDeviceIsNotTheCurrentOne) {
  setenv("CHOL_DEVICES", "2", 1);
  EXPECT_TRUE(succeeds_in_child([] {
    expect_factored(Always(), Matrix<double>(CHOL_LOWER, kOrder), CHOL_BACKEND_CUDA);
    EXPECT_EQ(recording().first_device, 2);
    EXPECT_EQ(recording().host_matrices, 1);
  }));
}

TEST_F(Offload, AMissingDeviceDisablesOffload) {
  setenv("CHOL_DEVICES", "0,9", 1);
  setenv("CHOL_TEST_DEVICES", "2", 1);
  EXPECT_TRUE(succeeds_in_child([] {
    const Always handle;
    expect_factored(handle, Matrix<double>(CHOL_LOWER, kOrder), CHOL_BACKEND_HOST);
    expect_factored(handle, Matrix<double>(CHOL_UPPER, kOrder), CHOL_BACKEND_HOST);
    EXPECT_EQ(recording().live_backends, 0);
  }));
}

/// Before the first panel, and after a few columns have been returned. No device is used again.
TEST_F(Offload, TheHostContinuesAfterOneOfSeveralDevicesFails) {
  setenv("CHOL_DEVICES", "0,1", 1);
  const auto expect_host_goes_on = [] {
    for (const chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER})
      for (const int64_t bad : {-1, 70, 200})
        EXPECT_TRUE(succeeds_in_child([&] {
          const Always handle;
          Matrix<double> A(uplo, kOrder);
          if (bad >= 0) A.at(bad, bad) = -1;
          expect_factored(handle, A, CHOL_BACKEND_HOST);
          const int panels = recording().panels[0];
          expect_factored(handle, A, CHOL_BACKEND_HOST);
          EXPECT_EQ(recording().panels[0], panels);
        }));
  };
  setenv("CHOL_TEST_FAIL_PANELS", "1", 1);
  expect_host_goes_on();
  unsetenv("CHOL_TEST_FAIL_PANELS");
  for (const char* stores : {"0", "1", "2"}) {
    setenv("CHOL_TEST_FAIL_STORE", stores, 1);
    expect_host_goes_on();
  }
}

/// Also for a call in which a device fails.
TEST_F(Offload, TheTraceNamesTheDevices) {
  const std::string path = testing::TempDir() + "chol_offload_" + std::to_string(getpid()) + ".svg";
  setenv("CHOL_TRACE", path.c_str(), 1);
  setenv("CHOL_DEVICES", "0,1", 1);
  for (const bool fails : {false, true}) {
    if (fails) setenv("CHOL_TEST_FAIL_STORE", "1", 1);
    EXPECT_TRUE(succeeds_in_child([&] {
      expect_factored(Always(), Matrix<double>(CHOL_LOWER, kOrder),
                      fails ? CHOL_BACKEND_HOST : CHOL_BACKEND_CUDA);
      std::exit(testing::Test::HasFailure() ? 1 : 0);  // where the file is written
    }));
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    for (const char* row : {">device 0 panel<", ">device 1 update<", ">device 0 store<", "</svg>"})
      EXPECT_NE(text.str().find(row), std::string::npos) << row << fails;
    std::remove(path.c_str());
  }
  unsetenv("CHOL_TRACE");
}

TEST_F(Offload, ChecksItsArguments) {
  const Handle handle;
  EXPECT_EQ(chol_set_offload(handle, static_cast<chol_offload_t>(7)), CHOL_STATUS_INVALID_VALUE);
  EXPECT_STREQ(handle.last_error(),
               "chol_set_offload: offload = 7, must be CHOL_OFFLOAD_NEVER (0), CHOL_OFFLOAD_AUTO "
               "(1) or CHOL_OFFLOAD_ALWAYS (2)");
  EXPECT_EQ(chol_last_backend(handle, nullptr), CHOL_STATUS_INVALID_VALUE);
  const Handle pinned(CHOL_BACKEND_CUDA);
  EXPECT_EQ(chol_set_offload(pinned, CHOL_OFFLOAD_AUTO), CHOL_STATUS_NOT_SUPPORTED);
  EXPECT_STREQ(pinned.last_error(), "chol_set_offload: the handle has no host backend");
}

}  // namespace
}  // namespace chol::test
