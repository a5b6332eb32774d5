// Solves with one matrix on the device, through chol.h: test_solve [--reduced] [--built-in |
// --links] [precisions]. Reduced, it is for compute-sanitizer. A tuning file selects the kernels of
// cuda/native/solve at all orders, with --links those that solve two strips at a time; with
// --built-in the rows of the library are used.
#include <algorithm>
#include <optional>

#include "kernel_matrix.hpp"
#include "repeated.hpp"
#include "tuning_file.hpp"

namespace chol::test {
namespace {

bool reduced = false, built_in = false, by_links = false;

template <class T>
std::vector<T> random_rhs(int64_t ldb, int64_t nrhs) {
  std::mt19937_64 engine(ldb + nrhs);
  std::vector<T> B(ldb * nrhs);
  for (T& x : B) x = random_element<T>(engine);
  return B;
}
template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), sizeof(T) * x.size()) == 0;
}

/// The matrix of kernel_matrix.hpp.
template <class T>
Batch<T> kernel_batch(chol_uplo_t uplo, int64_t n, int64_t from, int64_t to) {
  Batch<T> A(uplo, n, n, 1, 1);
  const std::vector<long double> elements =
      kernel_matrix<Real<T>>(static_cast<int>(n), static_cast<int>(from), static_cast<int>(to));
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = j; i < n; ++i) {
      const T x =
          kernel_element<T, Real<T>>(elements[j * n + i], static_cast<int>(i), static_cast<int>(j));
      A.lower(0, i, j) = uplo == CHOL_LOWER ? x : conj_of(x);
    }
  return A;
}

/// A matrix and its factor on the device, at `offset` elements after an aligned address.
template <class T>
struct Factored : Calls<T> {
  using Base = Calls<T>;
  using Base::check, Base::handle, Base::ok, Base::uplo;
  Batch<T> A;
  int64_t offset;
  DeviceArray<T> L;

  Factored(chol_handle_t handle_, chol_uplo_t uplo_, int64_t n, int64_t extra, int64_t offset_)
      : Factored(handle_, Batch<T>(uplo_, n, n + extra, 1, static_cast<unsigned>(n)), offset_) {}
  Factored(chol_handle_t handle_, const Batch<T>& A_, int64_t offset_)
      : Base{handle_, A_.uplo}, A(A_), offset(offset_), L(A_.a.size() + offset_) {
    std::vector<T> moved(L.size(), T(0));
    std::copy(A.a.begin(), A.a.end(), moved.begin() + offset);
    L.put(moved);
    DeviceArray<int> info(1);
    ok(potrf_of(T{})(handle, uplo, A.n, factor(), A.lda, info.data()), "potrf");
    check(info.get()[0] == 0, "info", A.n, info.get()[0]);
  }
  T* factor() const { return L.data() + offset; }

  void solve(int64_t nrhs) const {
    const int64_t n = A.n, ldb = n + nrhs % 3;
    const std::vector<T> B = random_rhs<T>(ldb, nrhs), before = L.get();
    DeviceArray<T> device(B);
    ok(potrs_of(T{})(handle, uplo, n, nrhs, factor(), A.lda, device.data(), ldb), "potrs");
    const std::vector<T> X = device.get();
    // All columns of small systems; the first and the last of large ones.
    const int64_t step = n * n * nrhs < 50000000 ? 1 : std::max<int64_t>(nrhs - 1, 1);
    for (int64_t q = 0; q < nrhs; q += step) {
      const double residual = solve_residual(A, 0, &B[q * ldb], &X[q * ldb], ldb, 1);
      check(residual < Base::kBound, "residual", n, residual);
    }
    bool kept = true;
    for (int64_t q = 0; q < nrhs; ++q)
      for (int64_t i = n; i < ldb; ++i)
        kept = kept && std::memcmp(&X[q * ldb + i], &B[q * ldb + i], sizeof(T)) == 0;
    check(kept, "rows below B", n, double(nrhs));
    check(same_bits(before, L.get()), "factor is left", n, double(nrhs));
  }

  /// A NaN or infinity stays in its column, in which no element above it is finite afterwards.
  void not_finite(int64_t nrhs) const {
    const int64_t n = A.n;
    const std::vector<T> B = random_rhs<T>(n, nrhs);
    DeviceArray<T> clean(B);
    ok(potrs_of(T{})(handle, uplo, n, nrhs, factor(), A.lda, clean.data(), n), "potrs");
    const std::vector<T> X = clean.get();
    using Limits = std::numeric_limits<Real<T>>;
    // The NaN with all bits set might be used as a marker by a kernel.
    Real<T> all_set;
    std::memset(&all_set, 0xFF, sizeof all_set);
    for (Real<T> bad : {Limits::quiet_NaN(), Limits::infinity(), all_set}) {
      std::vector<T> damaged = B;
      const int64_t column = nrhs / 2, row = n / 3;
      damaged[column * n + row] = T(bad);
      DeviceArray<T> device(damaged);
      ok(potrs_of(T{})(handle, uplo, n, nrhs, factor(), A.lda, device.data(), n), "potrs");
      const std::vector<T> Y = device.get();
      for (int64_t q = 0; q < nrhs; ++q) {
        bool good = true;
        if (q == column)
          for (int64_t i = 0; i <= row; ++i) good = good && !std::isfinite(std::abs(Y[q * n + i]));
        else
          good = std::memcmp(&Y[q * n], &X[q * n], sizeof(T) * n) == 0;
        check(good, "not finite", n, double(q));
      }
    }
  }

  /// potri: norm1(A X v - v) of a vector, since the whole product takes too long.
  void invert() const {
    using Wide = typename Batch<T>::Wide;
    const int64_t n = A.n;
    DeviceArray<T> device(L.get());
    DeviceArray<int> info(std::vector<int>(1, -5));
    ok(potri_of(T{})(handle, uplo, n, device.data() + offset, A.lda, info.data()), "potri");
    const std::vector<T> moved = device.get();
    Batch<T> X = A;
    std::copy(moved.begin() + offset, moved.end(), X.a.begin());
    std::mt19937_64 engine(n);
    std::vector<Wide> v(n);
    for (Wide& value : v) value = Wide(random_element<T>(engine));
    const std::vector<Wide> w = product(A, product(X, v));
    double error = 0, size = 0;
    for (int64_t i = 0; i < n; ++i) error += std::abs(w[i] - v[i]), size += std::abs(v[i]);
    error /= double(n) * A.norm1(0) * X.norm1(0) * size * epsilon<T>();
    check(info.get()[0] == 0 && error < Base::kBound, "inverse", n, error);
    check(changed_outside(A, X) == 0, "outside of an inverse", n, 0);
  }
  template <class Wide>
  static std::vector<Wide> product(const Batch<T>& M, const std::vector<Wide>& x) {
    std::vector<Wide> y(x.size(), Wide(0));
    for (int64_t j = 0; j < M.n; ++j) {
      y[j] += Wide(std::real(M.value(0, j, j))) * x[j];
      for (int64_t i = j + 1; i < M.n; ++i) {
        const Wide m = M.value(0, i, j);
        y[i] += m * x[j];
        y[j] += conj_of(m) * x[i];
      }
    }
    return y;
  }

  /// posv: the same solution, and none if the matrix is not positive definite.
  void with_factorization(int64_t nrhs) const {
    const int64_t n = A.n;
    const std::vector<T> B = random_rhs<T>(n, nrhs);
    Batch<T> bad = A;
    bad.lower(0, n / 2, n / 2) = T(-1);
    for (const Batch<T>* matrix : std::initializer_list<const Batch<T>*>{&A, &bad}) {
      DeviceArray<T> a(matrix->a), b(B);
      DeviceArray<int> info(std::vector<int>(1, -5));
      ok(posv_of(T{})(handle, uplo, n, nrhs, a.data(), A.lda, b.data(), n, info.data()), "posv");
      const std::vector<T> X = b.get();
      if (matrix == &bad) {
        check(info.get()[0] == n / 2 + 1, "posv info", n, info.get()[0]);
        check(same_bits(X, B), "posv leaves B", n, double(nrhs));
      } else {
        const double residual = solve_residual(A, 0, B.data(), X.data(), n, 1);
        check(info.get()[0] == 0 && residual < Base::kBound, "posv residual", n, residual);
      }
    }
  }
};

/// The same bits each time: concurrently with a kernel that occupies half of the device, in a
/// graph, and with another handle.
template <class T>
struct Repeated {
  chol_handle_t handle = nullptr;
  cudaStream_t stream = nullptr;
  int64_t n, nrhs;
  chol_uplo_t uplo;
  DeviceArray<T> L, input, work;
  std::vector<T> wanted;

  Repeated(chol_uplo_t uplo_, int64_t n_, int64_t nrhs_)
      : n(n_), nrhs(nrhs_), uplo(uplo_), input(random_rhs<T>(n_, nrhs_)), work(n_ * nrhs_) {
    expect_status(nullptr, chol_create_on(&handle, CHOL_BACKEND_CUDA, 0, nullptr), "create");
    CHOL_TEST_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    L.assign(Factored<T>(handle, uplo, n, 0, 0).L.get());
    expect_status(handle, chol_set_stream(handle, stream), "chol_set_stream");
    CHOL_TEST_CUDA(cudaDeviceSynchronize());
    queue();
    wanted = result();
  }
  ~Repeated() {
    chol_destroy(handle);
    cudaStreamDestroy(stream);
  }
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;

  void queue() {
    CHOL_TEST_CUDA(cudaMemcpyAsync(work.data(), input.data(), sizeof(T) * n * nrhs,
                                   cudaMemcpyDeviceToDevice, stream));
    expect_status(handle, potrs_of(T{})(handle, uplo, n, nrhs, L.data(), n, work.data(), n),
                  "potrs");
  }
  std::vector<T> result() const {
    CHOL_TEST_CUDA(cudaStreamSynchronize(stream));
    return work.get();
  }
  void check(const char* what) const {
    expect(same_bits(result(), wanted), what, letter_of(T{}), uplo, n, double(nrhs));
  }
};

template <class T>
void run_beside(chol_uplo_t uplo) {
  cudaStream_t other;
  CHOL_TEST_CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  cudaDeviceProp properties;
  CHOL_TEST_CUDA(cudaGetDeviceProperties(&properties, 0));
  for (int64_t nrhs : {1, 10, 40}) {
    Repeated<T> one(uplo, 1500, nrhs), two(uplo, 1100, nrhs);
    repeat(one, 100, other, properties.multiProcessorCount);
    replay(one, 1000, 100);
    for (int k = 0; k < 30; ++k) one.queue(), two.queue();
    one.check("bits with a second handle");
    two.check("bits of a second handle");
  }
  CHOL_TEST_CUDA(cudaStreamDestroy(other));
}

template <class T>
void run_suite(chol_handle_t handle) {
  for (chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER}) {
    const auto solve = [&](int64_t n, std::initializer_list<int64_t> counts) {
      const Factored<T> system(handle, uplo, n, n % 3, n % 2);
      for (int64_t nrhs : counts) system.solve(nrhs);
    };
    if (reduced) {
      for (int64_t n : {130, 257}) solve(n, {1, 3, 20});
      const Factored<T> system(handle, kernel_batch<T>(uplo, 200, 0, 200), 0);
      for (int64_t nrhs : {1, 3, 20}) system.solve(nrhs);
    } else {
      for (int64_t n = 1; n <= 300; n += n < 130 ? 1 : 7) solve(n, {1, 3});
      for (int64_t n : {31, 64, 129, 200, 257, 300}) solve(n, {16, 20, 100, n});
      for (int64_t n : {320, 511, 512, 513, 769, 1025}) solve(n, {1, 16, 100});
      solve(2049, {1, 5, 33});
      // Ill-conditioned diagonal blocks: all, and some of them.
      for (int64_t n : {300, 1100})
        for (int64_t from : {int64_t(0), n / 3}) {
          const int64_t to = from == 0 ? n : n / 2;
          const Factored<T> system(handle, kernel_batch<T>(uplo, n, from, to), from == 0);
          for (int64_t nrhs : {1, 3, 16, 40}) system.solve(nrhs);
        }
      // With one diagonal block, a few, and more than are inverted at a time.
      for (int64_t n : {200, 700, 2300, 4400}) Factored<T>(handle, uplo, n, n % 3, n % 2).invert();
      for (int64_t nrhs : {1, 3, 40}) {
        const Factored<T> system(handle, uplo, 400, 1, 0);
        system.not_finite(nrhs);
        system.with_factorization(nrhs);
        // Orders for which kernels of batches solve with one matrix.
        for (int64_t n : {60, 100}) Factored<T>(handle, uplo, n, 1, 0).with_factorization(nrhs);
      }
      run_beside<T>(uplo);
    }
    std::printf("%c %c: %d failures so far\n", letter_of(T{}), static_cast<char>(uplo), failures);
    std::fflush(stdout);
  }
}

std::string rows_of_strips() {
  std::string rows;
  for (const char precision : {'s', 'd', 'c', 'z'})
    rows += (rows.empty() ? "" : ",\n") +
            std::string(R"({"routine": "potrs", "form": "one", "precision": ")") + precision +
            R"(", "method": "one_matrix_solve", "params": {"few_rhs": 16, "linked_rhs": )" +
            (by_links && (precision == 's' || precision == 'd') ? "1" : "0") + R"(, "block": )" +
            (precision == 'z' ? "256}}" : "512}}");
  return rows;
}

}  // namespace
}  // namespace chol::test

int main(int argc, char** argv) {
  using namespace chol::test;
  std::string wanted;
  for (int k = 1; k < argc; ++k)
    if (std::strcmp(argv[k], "--reduced") == 0)
      reduced = true;
    else if (std::strcmp(argv[k], "--built-in") == 0)
      built_in = true;
    else if (std::strcmp(argv[k], "--links") == 0)
      by_links = true;
    else
      wanted += argv[k];
  if (!device_present()) return 0;
  std::optional<TuningFile> file;
  if (!built_in) file.emplace(rows_of_strips());
  return run_suites(wanted, [](auto handle, auto zero) { run_suite<decltype(zero)>(handle); });
}
