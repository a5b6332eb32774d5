// potrf and posv in CHOL_MATH_TENSOR on a device, through chol.h: test_tensor [precisions]
// [--large] [--bytes]. A tuning file makes panels narrow, so that small matrices have many of them;
// --large tries large matrices by the built-in rows. --bytes: products reduced to bytes.
#include "generated_matrix.hpp"
#include "tuning_file.hpp"

namespace chol::test {
namespace {

constexpr int kPanel = 128;

/// A handle in CHOL_MATH_TENSOR.
struct TensorHandle {
  chol_handle_t handle = nullptr;

  TensorHandle() {
    expect_status(nullptr, chol_create_on(&handle, CHOL_BACKEND_CUDA, 0, nullptr), "create");
    expect_status(handle, chol_set_math_mode(handle, CHOL_MATH_TENSOR), "chol_set_math_mode");
  }
  ~TensorHandle() { chol_destroy(handle); }
  TensorHandle(const TensorHandle&) = delete;
  TensorHandle& operator=(const TensorHandle&) = delete;
};

template <class T>
struct OneMatrix : Calls<T> {
  using Base = Calls<T>;
  using Base::check;
  using Base::handle;
  using Base::ok;
  using Base::uplo;

  Batch<T> factor(const Batch<T>& A, int* info) const {
    DeviceArray<T> device(A.a);
    DeviceArray<int> device_info(std::vector<int>(1, -99));
    ok(potrf_of(T{})(handle, uplo, A.n, device.data(), A.lda, device_info.data()), "potrf");
    Batch<T> L = A;
    L.a = device.get();
    *info = device_info.get()[0];
    return L;
  }
  void orders(const std::vector<int64_t>& sizes) const {
    for (int64_t n : sizes) {
      const Batch<T> A(uplo, n, n + n % 5, 1, static_cast<unsigned>(n));
      int info = -1;
      const Batch<T> L = factor(A, &info);
      check(info == 0, "info", n, info);
      const double residual = factor_residual(A, L, 0);
      check(residual < Base::kBound, "residual", n, residual);
      check(changed_outside(A, L) == 0, "outside", n, 0);
      const Batch<T> again = factor(A, &info);
      check(again.a == L.a, "bits of a repeat", n, 0);
    }
  }
  /// A pivot that is negative, zero, NaN or infinite is reported at its row; so is one that becomes
  /// negative by the products.
  void bad_pivots(int64_t n) const {
    using R = Real<T>;
    const R nan = std::numeric_limits<R>::quiet_NaN(),
            infinite = std::numeric_limits<R>::infinity();
    for (const int64_t p : {int64_t{0}, int64_t{kPanel - 1}, int64_t{kPanel}, n / 2, n - 2, n - 1})
      for (const R value : {R(-1), R(0), nan, infinite, R(1e-3)}) {
        Batch<T> A(uplo, n, n + 1, 1, 7);
        if (value == R(1e-3) && p < 2) continue;
        A.lower(0, p, p) = T(value);
        int info = 0;
        factor(A, &info);
        check(info == p + 1, "info of a bad pivot", n, info - double(p + 1));
      }
  }
  /// A row that no positive definite matrix can have is reported at its pivot at the latest.
  void bad_rows(int64_t n) const {
    using R = Real<T>;
    const R nan = std::numeric_limits<R>::quiet_NaN(),
            infinite = std::numeric_limits<R>::infinity();
    for (const int64_t column : {int64_t{3}, n / 2})
      for (const R value : {nan, infinite, R(100) * R(n)}) {
        Batch<T> A(uplo, n, n, 1, 3);
        const int64_t row = n - 20;
        A.lower(0, row, column) = T(value);
        int info = 0;
        factor(A, &info);
        check(info == row + 1, "info of a bad row", n, info - double(row + 1));
      }
  }
  void capture(int64_t n) const {
    const Batch<T> A(uplo, n, n, 1, 11);
    DeviceArray<T> device(A.a);
    DeviceArray<int> info(1);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHOL_TEST_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    ok(chol_set_stream(handle, stream), "chol_set_stream");
    CHOL_TEST_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    ok(potrf_of(T{})(handle, uplo, n, device.data(), A.lda, info.data()), "potrf in a capture");
    CHOL_TEST_CUDA(cudaStreamEndCapture(stream, &graph));
    CHOL_TEST_CUDA(cudaGraphInstantiate(&executable, graph, 0));
    CHOL_TEST_CUDA(cudaGraphLaunch(executable, stream));
    CHOL_TEST_CUDA(cudaStreamSynchronize(stream));
    Batch<T> L = A;
    L.a = device.get();
    const double residual = factor_residual(A, L, 0);
    check(residual < Base::kBound && info.get()[0] == 0, "residual of a graph", n, residual);
    // The same graph on matrices that are flagged by the diagonal or by a row.
    for (const int64_t row : {n / 2, n - 20}) {
      Batch<T> bad = A;
      if (row == n / 2)
        bad.lower(0, row, row) = T(-1);
      else
        bad.lower(0, row, 3) = T(Real<T>(100) * Real<T>(n));
      device.put(bad.a);
      CHOL_TEST_CUDA(cudaGraphLaunch(executable, stream));
      CHOL_TEST_CUDA(cudaStreamSynchronize(stream));
      check(info.get()[0] == row + 1, "info of a graph", n, info.get()[0] - double(row + 1));
    }
    ok(chol_set_stream(handle, nullptr), "chol_set_stream");
    CHOL_TEST_CUDA(cudaGraphExecDestroy(executable));
    CHOL_TEST_CUDA(cudaGraphDestroy(graph));
    CHOL_TEST_CUDA(cudaStreamDestroy(stream));
  }
  /// Matrices of every kind, large enough for the built-in rows, and one that is not definite.
  void large(int64_t n) const {
    const int64_t lda = n + 2;
    const bool upper = uplo == CHOL_UPPER;
    DeviceArray<T> A(size_t(lda) * n);
    DeviceArray<int> info(1);
    const auto run = [&](const GeneratedMatrix& matrix) {
      CHOL_TEST_CUDA(matrix.write(Base::letter(), upper, A.data(), lda, nullptr));
      ok(potrf_of(T{})(handle, uplo, n, A.data(), lda, info.data()), "potrf");
      return info.get()[0];
    };
    for (const auto kind :
         {GeneratedMatrix::random, GeneratedMatrix::graded, GeneratedMatrix::smooth}) {
      const GeneratedMatrix matrix{kind, n};
      check(run(matrix) == 0, "info of a large matrix", n, kind);
      SampledResidual residual{};
      CHOL_TEST_CUDA(sampled_residual(matrix, Base::letter(), upper, A.data(), lda, &residual));
      check(residual.ratio < Base::kBound, "residual of a large matrix", n, residual.ratio);
      check(residual.scaled < 30 * std::sqrt(double(n)), "scaled residual of a large matrix", n,
            residual.scaled);
      std::printf("%c %c n %lld kind %d: ratio %.1e, scaled %.2f\n", Base::letter(),
                  static_cast<char>(uplo), static_cast<long long>(n), kind, residual.ratio,
                  residual.scaled);
    }
    const int64_t bad = 5 * (n / 8) + 17;
    const int found = run({GeneratedMatrix::random, n, bad});
    check(found == bad + 1, "info of a large matrix", n, found);
  }
};

/// Rows with narrow panels, for some precisions without natively updated panels.
std::string rows_of_panels(int64_t panel, bool by_bytes) {
  std::string rows;
  for (const char precision : {'s', 'd', 'c', 'z'})
    rows += (rows.empty() ? "" : ",\n") + std::string(R"({"precision": ")") + precision +
            R"(", "least_n": 1, "panel": )" + std::to_string(panel) + R"(, "native_columns": )" +
            std::to_string(precision == 's' || precision == 'z' ? 0 : panel) +
            (by_bytes ? R"(, "by_bytes": true})" : "}");
  return rows;
}

template <class T>
void run_small(chol_handle_t handle) {
  for (chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER}) {
    const OneMatrix<T> one{{handle, uplo}};
    one.orders({1, 100, 127, 128, 129, 200, 255, 256, 257, 300, 385, 500, 641, 1000, 1501});
    one.system(700);
    one.bad_pivots(517);
    one.bad_rows(517);
    one.capture(600);
  }
}
template <class T>
void run_large(chol_handle_t handle) {
  const int64_t n = letter_of(T{}) == 's' || letter_of(T{}) == 'c' ? 10250 : 15365;
  for (chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER}) OneMatrix<T>{{handle, uplo}}.large(n);
}

}  // namespace
}  // namespace chol::test

int main(int argc, char** argv) {
  using namespace chol::test;
  std::string wanted;
  bool is_large = false, by_bytes = false;
  for (int k = 1; k < argc; ++k)
    if (std::strcmp(argv[k], "--large") == 0)
      is_large = true;
    else if (std::strcmp(argv[k], "--bytes") == 0)
      by_bytes = true;
    else
      wanted += argv[k];
  if (!device_present()) return 0;
  constexpr int64_t kWide = 1024;
  if (is_large && !by_bytes) {
    const TensorHandle built_in;
    for_each_precision(wanted, [&](auto x) { run_large<decltype(x)>(built_in.handle); });
  } else if (is_large) {
    const TuningFile file(rows_of_panels(kWide, true));
    const TensorHandle wide;
    for_each_precision(wanted, [&](auto x) { run_large<decltype(x)>(wide.handle); });
  } else {
    const TuningFile file(rows_of_panels(kPanel, by_bytes));
    const TensorHandle narrow;
    for_each_precision(wanted, [&](auto x) { run_small<decltype(x)>(narrow.handle); });
  }
  return report_failures();
}
