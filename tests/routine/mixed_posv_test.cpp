// dsposv and zcposv: refinement to LAPACK's criterion, and each fallback to the working precision.
// Compiled a second time for a device, with arrays in managed memory. A tuning file enables
// refinement for small systems, which the built-in rows use for large ones only.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>

#include "support/handle.hpp"
#include "support/random.hpp"
#ifdef CHOL_TEST_MANAGED
#include <cuda_runtime_api.h>
#endif

namespace chol::test {
namespace {

#ifdef CHOL_TEST_MANAGED
constexpr chol_backend_t kBackend = CHOL_BACKEND_CUDA;
void* allocate(size_t bytes) {
  void* memory = nullptr;
  if (cudaMallocManaged(&memory, bytes) != cudaSuccess) std::abort();
  return memory;
}
struct Release {
  void operator()(void* memory) const { cudaFree(memory); }
};
#else
constexpr chol_backend_t kBackend = CHOL_BACKEND_HOST;
void* allocate(size_t bytes) { return std::malloc(bytes); }
struct Release {
  void operator()(void* memory) const { std::free(memory); }
};
#endif

bool goes_by_refinement() { return std::getenv("CHOL_TUNING") != nullptr; }

chol_status_t mixed(chol_handle_t h, chol_uplo_t uplo, int64_t n, int64_t nrhs, double* A,
                    int64_t lda, const double* B, int64_t ldb, double* X, int64_t ldx, int* iter,
                    int* info) {
  return chol_dsposv(h, uplo, n, nrhs, A, lda, B, ldb, X, ldx, iter, info);
}
chol_status_t mixed(chol_handle_t h, chol_uplo_t uplo, int64_t n, int64_t nrhs,
                    std::complex<double>* A, int64_t lda, const std::complex<double>* B,
                    int64_t ldb, std::complex<double>* X, int64_t ldx, int* iter, int* info) {
  return chol_zcposv(h, uplo, n, nrhs, A, lda, B, ldb, X, ldx, iter, info);
}
chol_status_t full(chol_handle_t h, chol_uplo_t uplo, int64_t n, int64_t nrhs, double* A,
                   int64_t lda, double* X, int64_t ldx, int* info) {
  return chol_dposv(h, uplo, n, nrhs, A, lda, X, ldx, info);
}
chol_status_t full(chol_handle_t h, chol_uplo_t uplo, int64_t n, int64_t nrhs,
                   std::complex<double>* A, int64_t lda, std::complex<double>* X, int64_t ldx,
                   int* info) {
  return chol_zposv(h, uplo, n, nrhs, A, lda, X, ldx, info);
}

/// Elements in memory of the backend that the host can also read.
template <class T>
class Array {
 public:
  explicit Array(const std::vector<T>& values)
      : memory_(allocate(sizeof(T) * (values.size() + 1))), size_(values.size()) {
    std::copy(values.begin(), values.end(), get());
  }
  T* get() const { return static_cast<T*>(memory_.get()); }
  T& operator[](int64_t i) const { return get()[i]; }
  bool is(const std::vector<T>& values) const {
    return std::memcmp(memory_.get(), values.data(), sizeof(T) * size_) == 0;
  }
  std::vector<T> values() const { return {get(), get() + size_}; }

 private:
  std::unique_ptr<void, Release> memory_;
  size_t size_;
};

/// Memory outside of a matrix must not change.
template <class T>
const T kUntouched = T(-7.25);

template <class T>
struct System {
  chol_uplo_t uplo;
  Dense<T> A, B;
  int64_t lda, ldb, ldx;

  System(chol_uplo_t triangle, const Dense<T>& matrix, int64_t nrhs, Random& random,
         int64_t pad = 0)
      : uplo(triangle),
        A(matrix),
        B(random_dense<T>(matrix.rows, nrhs, random)),
        lda(std::max<int64_t>(matrix.rows + pad, 1)),
        ldb(lda + pad),
        ldx(ldb + pad) {}
  int64_t n() const { return A.rows; }
  int64_t nrhs() const { return B.columns; }

  std::vector<T> stored_matrix() const {
    std::vector<T> stored(static_cast<size_t>(lda * n()), kUntouched<T>);
    for_each_in_triangle(n(), uplo == CHOL_UPPER, [&](int64_t i, int64_t j) {
      stored[static_cast<size_t>(i + j * lda)] = A(i, j);
    });
    return stored;
  }
  std::vector<T> stored_columns(const Dense<T>* columns, int64_t ld) const {
    std::vector<T> stored(static_cast<size_t>(ld * nrhs()), kUntouched<T>);
    if (columns)
      for (int64_t j = 0; j < nrhs(); ++j)
        for (int64_t i = 0; i < n(); ++i)
          stored[static_cast<size_t>(i + j * ld)] = (*columns)(i, j);
    return stored;
  }
};

/// A call and its results.
template <class T>
struct Solved {
  const System<T>& system;
  Array<T> A, B, X;
  int iter = -100, info = -100;

  Solved(chol_handle_t handle, const System<T>& s)
      : system(s),
        A(s.stored_matrix()),
        B(s.stored_columns(&s.B, s.ldb)),
        X(s.stored_columns(nullptr, s.ldx)) {
    EXPECT_EQ(mixed(handle, s.uplo, s.n(), s.nrhs(), A.get(), s.lda, B.get(), s.ldb, X.get(), s.ldx,
                    &iter, &info),
              CHOL_STATUS_SUCCESS)
        << chol_last_error(handle);
    EXPECT_TRUE(B.is(s.stored_columns(&s.B, s.ldb))) << "B was changed";
    for (int64_t j = 0; j < s.nrhs(); ++j)
      for (int64_t i = s.n(); i < s.ldx; ++i) EXPECT_EQ(X[i + j * s.ldx], kUntouched<T>);
  }

  /// The largest |r| / (|x| ||A|| eps sqrt(n)) of a column.
  double excess() const {
    const int64_t n = system.n();
    double norm = 0, worst = 0;
    for (int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (int64_t j = 0; j < n; ++j) sum += std::abs(system.A(i, j));
      norm = std::max(norm, sum);
    }
    const double unit = std::numeric_limits<double>::epsilon() / 2 * std::sqrt(double(n)) * norm;
    for (int64_t q = 0; q < system.nrhs(); ++q) {
      double r = 0, x = 0;
      for (int64_t i = 0; i < n; ++i) {
        Wide<T> sum(system.B(i, q));
        for (int64_t j = 0; j < n; ++j)
          sum -= Wide<T>(system.A(i, j)) * Wide<T>(X[j + q * system.ldx]);
        r = std::max(r, double(std::abs(sum)));
        x = std::max(x, double(std::abs(X[i + q * system.ldx])));
      }
      if (r > 0) worst = std::max(worst, r / (x * unit));
    }
    return worst;
  }

  /// Factor, solution and info are those of posv.
  void is_as_posv(chol_handle_t handle) const {
    const System<T>& s = system;
    const Array<T> factor(s.stored_matrix()), solution(s.stored_columns(&s.B, s.ldx));
    const Array<int> status(std::vector<int>{0});
    EXPECT_EQ(full(handle, s.uplo, s.n(), s.nrhs(), factor.get(), s.lda, solution.get(), s.ldx,
                   status.get()),
              CHOL_STATUS_SUCCESS)
        << chol_last_error(handle);
    EXPECT_EQ(wait_for_device(), 0);
    EXPECT_EQ(info, status[0]);
    // After a bad pivot the triangle is unspecified.
    const int64_t factored = info > 0 ? info - 1 : s.n();
    for_each_in_triangle(s.n(), s.uplo == CHOL_UPPER, [&](int64_t i, int64_t j) {
      if (std::min(i, j) >= factored) return;
      const int64_t place = i + j * s.lda;
      ASSERT_EQ(std::memcmp(&A[place], &factor[place], sizeof(T)), 0)
          << "not posv's factor at " << i << ", " << j;
    });
    EXPECT_TRUE(X.is(solution.values())) << "not posv's solution";
  }
  static int wait_for_device() {
#ifdef CHOL_TEST_MANAGED
    return static_cast<int>(cudaDeviceSynchronize());
#else
    return 0;
#endif
  }
};

/// Exits if there is no device to test.
void need_backend() {
  if (is_here(kBackend)) return;
  std::printf("SKIPPED: %s\n", chol_last_error(nullptr));
  std::exit(0);
}

template <class T>
class MixedPosv : public testing::Test {
 public:
  static void SetUpTestSuite() { need_backend(); }

 protected:
  Handle handle{kBackend, 2};
  Random random{2026};
};
struct Names {
  template <class T>
  static std::string GetName(int) {
    return is_complex<T> ? "z" : "d";
  }
};
using Elements = testing::Types<double, std::complex<double>>;
TYPED_TEST_SUITE(MixedPosv, Elements, Names);
constexpr chol_uplo_t kTriangles[] = {CHOL_LOWER, CHOL_UPPER};

TYPED_TEST(MixedPosv, SolvesToLapacksCriterion) {
  using T = TypeParam;
  for (const chol_uplo_t uplo : kTriangles)
    for (const int64_t n : {1, 2, 33, 128, 129, 300})
      for (const int64_t nrhs : {1, 2, 3, 70}) {
        SCOPED_TRACE(testing::Message() << char(uplo) << " n " << n << " nrhs " << nrhs);
        const System<T> system(uplo, conditioned_spd<T>(n, 1e3, this->random), nrhs, this->random,
                               n % 3);
        const Solved<T> solved(this->handle, system);
        EXPECT_EQ(solved.info, 0);
        if (goes_by_refinement() && n < 8) {
          // sqrt(n) is within the rounding errors of the residual.
          EXPECT_LE(solved.excess(), 4);
        } else if (goes_by_refinement()) {
          EXPECT_GE(solved.iter, 0);
          EXPECT_LE(solved.iter, 4);
          EXPECT_LE(solved.excess(), 1.01);
          EXPECT_TRUE(solved.A.is(system.stored_matrix())) << "A was changed";
        } else {
          EXPECT_EQ(solved.iter, -1);
          solved.is_as_posv(this->handle);
        }
      }
}

TYPED_TEST(MixedPosv, IllConditionedSystemsAreSolvedInEitherPrecision) {
  using T = TypeParam;
  for (const double kappa : {1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e12}) {
    SCOPED_TRACE(kappa);
    const System<T> system(CHOL_LOWER, conditioned_spd<T>(200, kappa, this->random), 2,
                           this->random);
    const Solved<T> solved(this->handle, system);
    EXPECT_EQ(solved.info, 0);
    if (solved.iter < 0)
      solved.is_as_posv(this->handle);
    else
      EXPECT_LE(solved.excess(), 1.01);
    if (goes_by_refinement() && kappa < 1e7) {
      EXPECT_GE(solved.iter, 0);
    }
  }
}

TYPED_TEST(MixedPosv, ElementsBeyondSinglePrecisionTakeTheWorkingOne) {
  using T = TypeParam;
  for (const chol_uplo_t uplo : kTriangles) {
    Dense<T> A = random_spd<T>(150, this->random);
    A(149, 0) = A(0, 149) = T(1e39);
    A(149, 149) = A(0, 0) = T(1e40);
    const System<T> system(uplo, A, 2, this->random, 1);
    const Solved<T> solved(this->handle, system);
    EXPECT_EQ(solved.iter, goes_by_refinement() ? -2 : -1);
    solved.is_as_posv(this->handle);
  }
}

TYPED_TEST(MixedPosv, InfoIsThatOfTheWorkingPrecision) {
  using T = TypeParam;
  for (const chol_uplo_t uplo : kTriangles)
    for (const int64_t pivot : {0, 77, 199}) {
      Dense<T> A = random_spd<T>(200, this->random);
      A(pivot, pivot) = T(-1);
      const System<T> system(uplo, A, 1, this->random);
      const Solved<T> solved(this->handle, system);
      EXPECT_EQ(solved.info, pivot + 1);
      EXPECT_EQ(solved.iter, goes_by_refinement() ? -3 : -1);
      solved.is_as_posv(this->handle);
    }
}

TYPED_TEST(MixedPosv, NanOfTheMatrixAndOfColumnsIsPassedOn) {
  using T = TypeParam;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Dense<T> A = random_spd<T>(130, this->random);
  System<T> system(CHOL_LOWER, A, 3, this->random);
  system.B(64, 1) = T(nan);
  const Solved<T> of_column(this->handle, system);
  EXPECT_EQ(of_column.info, 0);
  EXPECT_LT(of_column.iter, 0);
  EXPECT_TRUE(std::isnan(std::abs(of_column.X[0 + system.ldx])));
  EXPECT_TRUE(std::isfinite(std::abs(of_column.X[0])));
  EXPECT_TRUE(std::isfinite(std::abs(of_column.X[0 + 2 * system.ldx])));
  A(70, 3) = A(3, 70) = T(nan);
  const System<T> damaged(CHOL_LOWER, A, 1, this->random);
  const Solved<T> solved(this->handle, damaged);
  EXPECT_LT(solved.iter, 0);
  EXPECT_EQ(solved.info, 71);
}

TYPED_TEST(MixedPosv, ZeroColumnsAndNoColumns) {
  using T = TypeParam;
  System<T> system(CHOL_UPPER, random_spd<T>(140, this->random), 2, this->random);
  for (int64_t i = 0; i < 140; ++i) system.B(i, 0) = T(0);
  const Solved<T> solved(this->handle, system);
  EXPECT_EQ(solved.info, 0);
  for (int64_t i = 0; i < 140; ++i) EXPECT_EQ(solved.X[i], T(0));
  for (const int64_t n : {0, 5})
    for (const int64_t nrhs : {0, 3}) {
      if (n * nrhs > 0) continue;
      const System<T> empty(CHOL_LOWER, random_spd<T>(n, this->random), nrhs, this->random);
      const Solved<T> nothing(this->handle, empty);
      EXPECT_EQ(nothing.iter, 0);
      EXPECT_EQ(nothing.info, 0);
      EXPECT_TRUE(nothing.A.is(empty.stored_matrix()));
    }
}

TYPED_TEST(MixedPosv, BitsDoNotDependOnThreads) {
  using T = TypeParam;
  for (const int64_t nrhs : {1, 20}) {
    const System<T> system(CHOL_LOWER, conditioned_spd<T>(400, 1e6, this->random), nrhs,
                           this->random);
    const Solved<T> first(Handle(kBackend, 1), system);
    for (const int threads : {2, 3, 7}) {
      const Solved<T> again(Handle(kBackend, threads), system);
      EXPECT_EQ(again.iter, first.iter);
      EXPECT_TRUE(again.X.is(first.X.values())) << threads << " threads";
    }
  }
}

TYPED_TEST(MixedPosv, WorkspaceIsWhatTheQuerySays) {
  using T = TypeParam;
  const System<T> system(CHOL_LOWER, conditioned_spd<T>(200, 1e2, this->random), 3, this->random);
  size_t bytes = 0;
  ASSERT_EQ(chol_query_workspace(this->handle, &bytes), CHOL_STATUS_SUCCESS);
  int iter = 5, info = 5;
  const Array<T> A(system.stored_matrix()), B(system.stored_columns(&system.B, system.ldb)),
      X(system.stored_columns(nullptr, system.ldx));
  ASSERT_EQ(mixed(this->handle, CHOL_LOWER, 200, 3, A.get(), system.lda, B.get(), system.ldb,
                  X.get(), system.ldx, &iter, &info),
            CHOL_STATUS_SUCCESS);
  ASSERT_EQ(chol_query_workspace(this->handle, nullptr), CHOL_STATUS_SUCCESS);
  EXPECT_TRUE(A.is(system.stored_matrix()));
  if (goes_by_refinement()) {
    EXPECT_GT(bytes, 200 * 200 * sizeof(T) / 2);
  }
  const Array<char> memory{std::vector<char>(bytes)};
  ASSERT_EQ(chol_set_workspace(this->handle, memory.get(), bytes), CHOL_STATUS_SUCCESS);
  const Solved<T> solved(this->handle, system);
  EXPECT_EQ(solved.info, 0);
  if (goes_by_refinement()) {
    EXPECT_LE(solved.excess(), 1.01);
  }
  ASSERT_EQ(chol_set_workspace(this->handle, nullptr, 0), CHOL_STATUS_SUCCESS);
}

TYPED_TEST(MixedPosv, BadArgumentsAreNamed) {
  using T = TypeParam;
  const Array<T> A{std::vector<T>(16, T(1))}, B{std::vector<T>(8, T(1))}, X{std::vector<T>(8)};
  int iter = 5, info = 5;
  const auto message = [&](int64_t n, int64_t nrhs, T* a, int64_t lda, const T* b, int64_t ldb,
                           T* x, int64_t ldx, int* iterations) {
    EXPECT_EQ(mixed(this->handle, CHOL_LOWER, n, nrhs, a, lda, b, ldb, x, ldx, iterations, &info),
              CHOL_STATUS_INVALID_VALUE);
    return std::string(this->handle.last_error());
  };
  const auto names = [](const std::string& text, const char* what) {
    EXPECT_NE(text.find(what), std::string::npos) << text;
  };
  T *const a = A.get(), *const b = B.get(), *const x = X.get();
  names(message(-1, 1, a, 4, b, 4, x, 4, &iter), "n = -1");
  names(message(4, -2, a, 4, b, 4, x, 4, &iter), "nrhs = -2");
  names(message(4, 1, nullptr, 4, b, 4, x, 4, &iter), "A = NULL");
  names(message(4, 1, a, 3, b, 4, x, 4, &iter), "lda = 3");
  names(message(4, 1, a, 4, nullptr, 4, x, 4, &iter), "B = NULL");
  names(message(4, 1, a, 4, b, 3, x, 4, &iter), "ldb = 3");
  names(message(4, 1, a, 4, b, 4, nullptr, 4, &iter), "X = NULL");
  names(message(4, 1, a, 4, b, 4, x, 2, &iter), "ldx = 2");
  names(message(4, 1, a, 4, b, 4, x, 4, nullptr), "iter = NULL");
  names(message(4, 1, a, 4, b, 4, b, 4, &iter), "X = B");
  EXPECT_EQ(iter, 5);
  EXPECT_EQ(info, 5);
}

}  // namespace
}  // namespace chol::test
