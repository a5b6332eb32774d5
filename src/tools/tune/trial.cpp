#include "tools/tune/trial.hpp"

#include <chol.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "api/precisions.h"
#include "base/flops.hpp"

namespace chol::tune {
namespace {

template <class T>
struct Api;
#define CHOL_TUNE_API(p, T, R)                                 \
  template <>                                                  \
  struct Api<T> {                                              \
    static constexpr auto potrf = chol_##p##potrf_interleaved; \
    static constexpr auto potrs = chol_##p##potrs_interleaved; \
    static constexpr auto posv = chol_##p##posv_interleaved;   \
    static constexpr auto potri = chol_##p##potri_interleaved; \
  };
CHOL_FOR_EACH_PRECISION(CHOL_TUNE_API)
#undef CHOL_TUNE_API

/// A batch of a few MB, one right-hand side each, in chunks of 64 bytes of reals.
template <class T>
class Trial {
 public:
  using R = RealOf<T>;
  Trial(const Point& point, chol_handle_t handle) : point_(point), handle_(handle), n_(point.n) {
    constexpr int64_t kBytes = 4 << 20;
    const int64_t of_matrix = n_ * n_ * static_cast<int64_t>(sizeof(T));
    batch_ = std::clamp<int64_t>(kBytes / of_matrix / kChunk, 1, 512) * kChunk;
    A_.resize(static_cast<size_t>(n_ * n_ * batch_));
    B_.resize(static_cast<size_t>(n_ * batch_));
    info_.resize(static_cast<size_t>(batch_));
    for (int64_t b = 0; b < batch_; ++b)
      for (int64_t j = 0; j < n_; ++j) {
        B_[rhs_at(b, j)] = element(b + j);
        for (int64_t i = j; i < n_; ++i)
          A_[at(b, i, j)] = i == j ? T(R(2 * n_ + 1)) : element(b + 3 * i + 7 * j);
      }
    original_ = A_;
    if (point.routine == Routine::potrs || point.routine == Routine::potri)
      Api<T>::potrf(handle_, CHOL_LOWER, n_, A_.data(), n_, kChunk, info_.data(), batch_);
    start_A_ = A_;
    start_B_ = B_;
  }

  double gflops(double seconds) {
    call();
    if (!is_right()) return 0;
    std::vector<double> times;
    for (double total = 0; total < seconds || times.size() < 5;) {
      restore();
      const auto start = std::chrono::steady_clock::now();
      call();
      times.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      total += times.back();
    }
    std::nth_element(times.begin(), times.begin() + static_cast<long>(times.size() / 2),
                     times.end());
    return flops() / times[times.size() / 2] * 1e-9;
  }

 private:
  static constexpr int64_t kChunk = 64 / sizeof(R);
  size_t at(int64_t b, int64_t i, int64_t j) const {
    return static_cast<size_t>(((b / kChunk * n_ + j) * n_ + i) * kChunk + b % kChunk);
  }
  size_t rhs_at(int64_t b, int64_t i) const {
    return static_cast<size_t>((b / kChunk * n_ + i) * kChunk + b % kChunk);
  }
  static T element(int64_t seed) {
    const R value = R(0.25) + R(seed % 11) / R(16);
    if constexpr (is_complex<T>)
      return T(value, R(0.5) - value);
    else
      return seed % 2 ? value : -value;
  }
  void restore() {
    A_ = start_A_;
    B_ = start_B_;
  }
  double flops() const {
    const auto n = static_cast<double>(n_);
    const double one = point_.routine == Routine::potrf   ? potrf_flops(n)
                       : point_.routine == Routine::potrs ? potrs_flops(n, 1)
                       : point_.routine == Routine::posv  ? potrf_flops(n) + potrs_flops(n, 1)
                                                          : potri_flops(n);
    return flop_factor<T> * one * static_cast<double>(batch_);
  }
  void call() {
    chol_status_t status;
    T *A = A_.data(), *B = B_.data();
    int* info = info_.data();
    switch (point_.routine) {
      case Routine::potrf:
        status = Api<T>::potrf(handle_, CHOL_LOWER, n_, A, n_, kChunk, info, batch_);
        break;
      case Routine::potrs:
        status = Api<T>::potrs(handle_, CHOL_LOWER, n_, 1, A, n_, B, n_, kChunk, batch_);
        break;
      case Routine::posv:
        status = Api<T>::posv(handle_, CHOL_LOWER, n_, 1, A, n_, B, n_, kChunk, info, batch_);
        break;
      default:
        status = Api<T>::potri(handle_, CHOL_LOWER, n_, A, n_, kChunk, info, batch_);
    }
    if (status != CHOL_STATUS_SUCCESS) throw std::runtime_error(chol_last_error(handle_));
  }

  /// Element (i, j) of the Hermitian matrix whose lower triangle is stored.
  std::complex<double> hermitian(const std::vector<T>& A, int64_t b, int64_t i, int64_t j) const {
    return i >= j ? std::complex<double>(A[at(b, i, j)])
                  : std::conj(std::complex<double>(A[at(b, j, i)]));
  }
  /// Column j of what the result makes of the original: A itself from the factor, b from x, or the
  /// identity from the inverse; compared with what it must be.
  bool is_right() const {
    const double eps = std::numeric_limits<R>::epsilon(),
                 scale = 4.0 * static_cast<double>(n_ * n_);
    for (const int64_t b : {int64_t{0}, batch_ - 1})
      for (int64_t i = 0; i < n_; ++i)
        if (!(error_in_row(b, i) <= 100 * eps * scale)) return false;
    return true;
  }
  double error_in_row(int64_t b, int64_t i) const {
    using C = std::complex<double>;
    C sum = 0, expected = 0;
    if (point_.routine == Routine::potrf) {
      for (int64_t k = 0; k <= i; ++k) sum += std::norm(C(A_[at(b, i, k)]));
      expected = hermitian(original_, b, i, i);
    } else if (point_.routine == Routine::potri) {
      for (int64_t k = 0; k < n_; ++k)
        sum += hermitian(original_, b, i, k) * hermitian(A_, b, k, i);
      expected = 1;
    } else {
      for (int64_t k = 0; k < n_; ++k) sum += hermitian(original_, b, i, k) * C(B_[rhs_at(b, k)]);
      expected = C(start_B_[rhs_at(b, i)]);
    }
    return std::abs(sum - expected);
  }

  Point point_;
  chol_handle_t handle_;
  int64_t n_, batch_;
  std::vector<T> A_, B_, original_, start_A_, start_B_;
  std::vector<int> info_;
};

/// A file that goes when this object does.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) {
    const char* folder = std::getenv("TMPDIR");
    path_ = std::string(folder && *folder ? folder : "/tmp") + "/chol_tune_XXXXXX";
    const int descriptor = mkstemp(path_.data());
    if (descriptor < 0) throw std::runtime_error(path_ + ": cannot be made");
    const bool written =
        write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    close(descriptor);
    if (!written) throw std::runtime_error(path_ + ": cannot be written");
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string tuning_text(const Point& point, const Plan& plan, const std::string& machine) {
  const auto row = [&](int64_t max_n, const Plan& p) {
    return std::string("{\"routine\": \"") + routine_name(point.routine) +
           "\", \"form\": \"interleaved\", \"precision\": \"" + point.precision +
           "\", \"max_n\": " + std::to_string(max_n) + ", " + json_of(p) + "}";
  };
  return "{\"machines\": {\"" + machine + "\": [" + row(point.n, plan) + ", " +
         row(INT64_MAX, plan_beyond(point.routine)) + "]}}";
}

}  // namespace

double time_point(const Point& point, double seconds, int threads) {
  chol_handle_t handle = nullptr;
  if (chol_create_on(&handle, CHOL_BACKEND_HOST, 0, nullptr) != CHOL_STATUS_SUCCESS) return 0;
  chol_set_num_threads(handle, threads);
  double rate = 0;
  if (point.precision == 's') rate = Trial<float>(point, handle).gflops(seconds);
  if (point.precision == 'd') rate = Trial<double>(point, handle).gflops(seconds);
  if (point.precision == 'c') rate = Trial<std::complex<float>>(point, handle).gflops(seconds);
  if (point.precision == 'z') rate = Trial<std::complex<double>>(point, handle).gflops(seconds);
  chol_destroy(handle);
  return rate;
}

double try_plan(const Point& point, const Plan& plan, const std::string& machine, double seconds,
                int threads) {
  const TemporaryFile file(tuning_text(point, plan, machine));
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    dup2(ends[1], 1);
    close(ends[0]);
    close(ends[1]);
    setenv("CHOL_TUNING", file.path().c_str(), 1);
    const std::string n = std::to_string(point.n), budget = std::to_string(seconds),
                      count = std::to_string(threads), precision(1, point.precision);
    execl("/proc/self/exe", "chol-tune", "--trial", routine_name(point.routine), precision.c_str(),
          n.c_str(), budget.c_str(), count.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  std::string output;
  char part[256];
  for (ssize_t got; (got = read(ends[0], part, sizeof part)) > 0;)
    output.append(part, static_cast<size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? std::strtod(output.c_str(), nullptr) : 0;
}

}  // namespace chol::tune
