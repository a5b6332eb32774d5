// One matrix on the device by one kernel over all multiprocessors, through chol.h:
// test_persistent [--reduced] [n=order,...] [precisions]. Reduced, it is for compute-sanitizer;
// with orders it factors matrices that are generated and checked on the device.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "calls.hpp"
#include "large_matrix.hpp"
#include "repeated.hpp"

namespace chol::test {
namespace {

bool reduced = false, by_panels = false;
std::vector<int64_t> given_orders;

/// A tuning file by which one matrix is factored by panels of 64 columns.
class PanelRows {
 public:
  /// Before the process's first call.
  PanelRows() { setenv("CHOL_TUNING", path_.c_str(), 1), write("{}"); }
  ~PanelRows() { std::filesystem::remove(path_); }
  PanelRows(const PanelRows&) = delete;
  PanelRows& operator=(const PanelRows&) = delete;

  /// For handles created from here on.
  void add() const {
    chol_handle_t handle = nullptr;
    expect_status(nullptr, chol_create_on(&handle, CHOL_BACKEND_CUDA, 0, nullptr), "create");
    std::string rows;
    for (const char* routine : {"potrf", "posv"})
      for (const char* p = "sdcz"; *p; ++p)
        rows += std::string(rows.empty() ? "" : ",") + R"({"routine": ")" + routine +
                R"(", "form": "one", "precision": ")" + *p +
                R"(", "method": "persistent_potrf", "params": {"panel": 64, "groups": 2}})";
    const char* name = "";
    expect_status(handle, chol_backend_name(handle, CHOL_BACKEND_CUDA, &name), "chol_backend_name");
    write(std::string("{\"") + name + "\": [" + rows + "]}");
    chol_destroy(handle);
  }

 private:
  void write(const std::string& machines) const {
    std::ofstream(path_) << "{\"version\": 2, \"machines\": " << machines << "}\n";
  }
  std::string path_ =
      std::filesystem::temp_directory_path() / ("chol_panels_" + std::to_string(getpid()));
};

/// One matrix in device memory, and the result of potrf.
template <class T>
struct OneMatrix : Calls<T> {
  using Base = Calls<T>;
  using Base::check;
  using Base::handle;
  using Base::ok;
  using Base::uplo;

  /// potrf of A, whose first element is `offset` elements after an aligned address.
  Batch<T> factor(const Batch<T>& A, int64_t offset, int* info) const {
    std::vector<T> moved(A.a.size() + offset, T(0));
    std::copy(A.a.begin(), A.a.end(), moved.begin() + offset);
    DeviceArray<T> device(moved);
    DeviceArray<int> device_info(std::vector<int>(1, -99));
    ok(potrf_of(T{})(handle, uplo, A.n, device.data() + offset, A.lda, device_info.data()),
       "potrf");
    Batch<T> L = A;
    const std::vector<T> result = device.get();
    std::copy(result.begin() + offset, result.end(), L.a.begin());
    *info = device_info.get()[0];
    return L;
  }

  void orders(const std::vector<int64_t>& sizes) const {
    for (int64_t n : sizes) {
      const Batch<T> A(uplo, n, n + n % 5, 1, static_cast<unsigned>(n));
      int info = -1;
      const Batch<T> L = factor(A, n % 3, &info);
      check(info == 0, "info", n, info);
      const double residual = factor_residual(A, L, 0);
      check(residual < Base::kBound, "residual", n, residual);
      check(changed_outside(A, L) == 0, "outside", n, 0);
    }
  }

  /// norm1(A x - L L^H x) / (n norm1(A) norm1(x) eps)
  void large_orders(const std::vector<int64_t>& sizes) const {
    using Wide = typename Batch<T>::Wide;
    for (int64_t n : sizes) {
      const Batch<T> A(uplo, n, n + 1, 1, static_cast<unsigned>(n));
      int info = -1;
      const Batch<T> L = factor(A, 0, &info);
      check(info == 0, "info of a large matrix", n, info);
      check(changed_outside(A, L) == 0, "outside of a large matrix", n, 0);
      std::vector<Wide> x(n), y(n, Wide(0)), z(n, Wide(0));
      std::mt19937_64 engine(n);
      for (Wide& value : x) value = Wide(random_element<T>(engine));
      double error = 0, size = 0;
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = j; i < n; ++i) y[j] += conj_of(L.value(0, i, j)) * x[i];
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = j; i < n; ++i) {
          z[i] += L.value(0, i, j) * y[j];
          const Wide a = i == j ? Wide(std::real(A.value(0, i, j))) : A.value(0, i, j);
          z[i] -= a * x[j];
          if (i != j) z[j] -= conj_of(a) * x[i];
        }
      for (int64_t i = 0; i < n; ++i) error += std::abs(z[i]), size += std::abs(x[i]);
      error /= double(n) * A.norm1(0) * size * epsilon<T>();
      check(error < Base::kBound, "residual of a large matrix", n, error);
    }
  }

  /// The same for matrices that are generated on the device, without a copy.
  void device_orders(const std::vector<int64_t>& sizes) const {
    using R = Real<T>;
    for (int64_t n : sizes) {
      const int64_t ld = n + 4;
      DeviceArray<T> device(ld * n);
      DeviceArray<int> info(std::vector<int>(1, -99));
      const LargeMatrix<R> A{reinterpret_cast<R*>(device.data()), std::is_same_v<T, R> ? 1 : 2, n,
                             ld, uplo == CHOL_UPPER};
      CHOL_TEST_CUDA(A.fill());
      ok(potrf_of(T{})(handle, uplo, n, device.data(), ld, info.data()), "potrf");
      CHOL_TEST_CUDA(cudaDeviceSynchronize());
      check(info.get()[0] == 0, "info of a matrix generated on the device", n, info.get()[0]);
      unsigned long long changed = 1;
      CHOL_TEST_CUDA(A.count_changed(&changed));
      check(changed == 0, "outside of a matrix generated on the device", n, double(changed));
      double residual = -1;
      CHOL_TEST_CUDA(A.residual(epsilon<T>(), &residual));
      check(residual >= 0 && residual < Base::kBound,
            "residual of a matrix generated on the device", n, residual);
    }
  }

  /// A batch of one matrix gives the same bits and info as the matrix alone.
  void batches_of_one(const std::vector<int64_t>& sizes) const {
    for (int64_t n : sizes)
      for (int64_t offset : {0, 1}) {
        Batch<T> A(uplo, n, n + offset, 1, static_cast<unsigned>(n));
        for (bool good : {true, false}) {
          if (!good) A.lower(0, n - 3, n - 3) = T(-1);
          int wanted = -1;
          const Batch<T> L = factor(A, offset, &wanted);
          std::vector<T> moved(A.a.size() + offset, T(0));
          std::copy(A.a.begin(), A.a.end(), moved.begin() + offset);
          DeviceArray<T> device(moved);
          DeviceArray<T*> pointers(std::vector<T*>(1, device.data() + offset));
          DeviceArray<int> info(std::vector<int>(1, -99));
          ok(potrf_batched_of(T{})(handle, uplo, n, pointers.data(), A.lda, info.data(), 1),
             "potrf_batched");
          const std::vector<T> result = device.get();
          check(info.get()[0] == wanted, "info of a batch of one", n, info.get()[0]);
          if (!good) continue;
          const bool same =
              std::memcmp(result.data() + offset, L.a.data(), sizeof(T) * L.a.size()) == 0;
          check(same, "bits of a batch of one", n, double(offset));
        }
      }
  }

  /// Pivots in the first, a middle and the last tile: negative, NaN, infinite, zero.
  void bad_pivots(const std::vector<int64_t>& sizes) const {
    const Real<T> nan = std::numeric_limits<Real<T>>::quiet_NaN();
    const Real<T> bad[] = {Real<T>(-1), nan, std::numeric_limits<Real<T>>::infinity(), 0};
    for (int64_t n : sizes) {
      const Batch<T> A(uplo, n, n + 1, 1, 7);
      int info = 0;
      const Batch<T> good = factor(A, 0, &info);
      for (int64_t p : {int64_t(0), int64_t(15), int64_t(16), int64_t(63), int64_t(64), n / 2,
                        n - 17, n - 2, n - 1})
        for (Real<T> value : bad) {
          if (p < 0 || p >= n) continue;
          Batch<T> its = A;
          its.lower(0, p, p) = T(value);
          const Batch<T> L = factor(its, 0, &info);
          check(info == p + 1, "info of a bad pivot", n, info - double(p + 1));
          int64_t different = 0;
          for (int64_t j = 0; j < p; ++j)
            for (int64_t i = j; i < n; ++i) different += L.value(0, i, j) != good.value(0, i, j);
          check(different == 0, "columns before a bad pivot", n, double(different));
          check(changed_outside(its, L) == 0, "outside, bad pivots", n, double(p));
        }
    }
  }

  /// A NaN below the diagonal is detected at its row's pivot at the latest.
  void not_a_number(int64_t n) const {
    Batch<T> A(uplo, n, n, 1, 3);
    const int64_t row = 2 * n / 3, column = n / 4;
    A.lower(0, row, column) = T(std::numeric_limits<Real<T>>::quiet_NaN());
    int info = 0;
    factor(A, 0, &info);
    check(info == row + 1, "info of a NaN below the diagonal", n, info - double(row + 1));
  }

  /// Elements that are subnormal, or whose reciprocals are.
  void extremes(int64_t n) const {
    using R = Real<T>;
    constexpr int kTop = std::numeric_limits<R>::max_exponent;
    const Batch<T> A(uplo, n, n, 1, 5);
    int info = 0;
    const Batch<T> L = factor(A, 0, &info);
    const int order = std::ilogb(double(n) + 2);
    for (int exponent : {kTop - 2 - order, -kTop - order}) {
      exponent -= exponent % 2;
      Batch<T> scaled = A;
      for (int half = 0; half < 2; ++half)
        for (T& x : scaled.a) x *= std::ldexp(R(1), exponent / 2);
      const Batch<T> its = factor(scaled, 0, &info);
      check(info == 0, "info of extremes", n, info);
      double most = 0;
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = j; i < n; ++i) {
          const auto wanted = L.value(0, i, j) * std::ldexp(1.0, exponent / 2);
          most = worse(most, std::abs(its.value(0, i, j) - wanted) /
                                 (std::abs(L.value(0, j, j)) * std::ldexp(1.0, exponent / 2)));
        }
      check(most < (sizeof(R) == 4 ? 1e-3 : 1e-10), "extremes", n, most);
    }
  }
};

/// Handles with separate streams that factor one matrix repeatedly.
template <class T>
struct Repeated {
  chol_handle_t handle = nullptr;
  cudaStream_t stream = nullptr;
  Batch<T> A;
  DeviceArray<T> input, work;
  DeviceArray<int> info;
  std::vector<T> wanted;

  Repeated(chol_uplo_t uplo, int64_t n)
      : A(uplo, n, n, 1, static_cast<unsigned>(n)), input(A.a), work(A.a), info(1) {
    expect_status(nullptr, chol_create_on(&handle, CHOL_BACKEND_CUDA, 0, nullptr), "create");
    CHOL_TEST_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
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
    CHOL_TEST_CUDA(cudaMemcpyAsync(work.data(), input.data(), sizeof(T) * A.a.size(),
                                   cudaMemcpyDeviceToDevice, stream));
    expect_status(handle, potrf_of(T{})(handle, A.uplo, A.n, work.data(), A.lda, info.data()),
                  "potrf");
  }
  std::vector<T> result() const {
    CHOL_TEST_CUDA(cudaStreamSynchronize(stream));
    return work.get();
  }
  void check(const char* what) const {
    const std::vector<T> got = result();
    const bool same = std::memcmp(got.data(), wanted.data(), sizeof(T) * got.size()) == 0;
    expect(same, what, letter_of(T{}), A.uplo, A.n, 0);
  }
};

template <class T>
void run_beside(chol_uplo_t uplo) {
  cudaStream_t other;
  CHOL_TEST_CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  cudaDeviceProp properties;
  CHOL_TEST_CUDA(cudaGetDeviceProperties(&properties, 0));
  for (int64_t n : {150, 700, 1601}) {
    Repeated<T> one(uplo, n), two(uplo, n + 33);
    repeat(one, n < 1000 ? 100 : 24, other, properties.multiProcessorCount);
    replay(one, n < 1000 ? 1000 : 100, 100);
    for (int k = 0; k < 30; ++k) one.queue(), two.queue();
    one.check("bits with a second handle");
    two.check("bits of a second handle");
  }
  CHOL_TEST_CUDA(cudaStreamDestroy(other));
}

template <class T>
void run_suite(chol_handle_t handle) {
  for (chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER}) {
    const auto start = std::chrono::steady_clock::now();
    const OneMatrix<T> one{{handle, uplo}};
    if (!given_orders.empty()) {
      one.device_orders(given_orders);
    } else if (by_panels) {
      one.orders({65, 256, 257, 319, 320, 321, 449, 700});
      one.bad_pivots({700});
      if (reduced) continue;
      one.orders({1025, 2111});
      one.device_orders({2500});
      one.system(500);
      run_beside<T>(uplo);
    } else if (reduced) {
      one.orders({40, 65, 130, 257});
      one.bad_pivots({200});
      one.batches_of_one({100, 300});
    } else {
      std::vector<int64_t> all;
      for (int64_t n = 1; n <= 300; ++n) all.push_back(n);
      one.orders(all);
      one.orders({319, 320, 321, 383, 385, 447, 449, 511, 512, 513, 575, 577, 641, 703, 769, 1023,
                  1024, 1025});
      one.large_orders({1601, 2047, 2113, 3333, 4159, 5001});
      one.bad_pivots({20, 64, 65, 130, 333, 700});
      one.batches_of_one({65, 128, 300, 511, 1024, 2000});
      one.device_orders({20000});
      for (int64_t n : {500, 1000}) one.system(n);
      for (int64_t n : {70, 300, 1000}) one.not_a_number(n);
      for (int64_t n : {50, 100, 257, 600}) one.extremes(n);
      run_beside<T>(uplo);
    }
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
  std::string wanted;
  for (int k = 1; k < argc; ++k)
    if (std::strcmp(argv[k], "--reduced") == 0)
      reduced = true;
    else if (std::strcmp(argv[k], "--panels") == 0)
      by_panels = true;
    else if (std::strncmp(argv[k], "n=", 2) == 0)
      for (const char* order = argv[k] + 2; *order; order += *order == ',')
        given_orders.push_back(std::strtoll(order, const_cast<char**>(&order), 10));
    else
      wanted += argv[k];
  if (!device_present()) return 0;
  std::optional<PanelRows> rows;
  if (by_panels) rows.emplace().add();
  return run_suites(wanted, [](auto handle, auto zero) { run_suite<decltype(zero)>(handle); });
}
