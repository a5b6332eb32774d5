#include "tools/tune/trial.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "base/precisions.h"
#include "tools/tune/systems.hpp"

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

/// A batch of a few MB, in chunks of 64 bytes of reals.
template <class T>
class Trial {
 public:
  Trial(const Point& point, chol_handle_t handle)
      : point_(point),
        handle_(handle),
        batch_(batch_for(point.n)),
        systems_(point.n, kChunk, batch_),
        A_(systems_.A),
        B_(systems_.B),
        info_(static_cast<size_t>(batch_)) {
    if (point.routine == Routine::potrs || point.routine == Routine::potri)
      Api<T>::potrf(handle_, CHOL_LOWER, point.n, A_.data(), point.n, kChunk, info_.data(), batch_);
    start_A_ = A_;
  }

  double gflops(double seconds) {
    call();
    if (!systems_.is_right(point_.routine, A_, B_)) return 0;
    std::vector<double> times;
    for (double total = 0; total < seconds || times.size() < 5;) {
      A_ = start_A_;
      B_ = systems_.B;
      const auto start = std::chrono::steady_clock::now();
      call();
      times.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      total += times.back();
    }
    return flops_of<T>(point_.routine, point_.n) * static_cast<double>(batch_) / median(times) *
           1e-9;
  }

 private:
  static constexpr int64_t kChunk = 64 / sizeof(RealOf<T>);
  static int64_t batch_for(int64_t n) {
    constexpr int64_t kBytes = 4 << 20;
    return std::clamp<int64_t>(kBytes / (n * n * int64_t{sizeof(T)}) / kChunk, 1, 512) * kChunk;
  }
  void call() {
    chol_status_t status;
    const int64_t n = point_.n;
    T *A = A_.data(), *B = B_.data();
    int* info = info_.data();
    switch (point_.routine) {
      case Routine::potrf:
        status = Api<T>::potrf(handle_, CHOL_LOWER, n, A, n, kChunk, info, batch_);
        break;
      case Routine::potrs:
        status = Api<T>::potrs(handle_, CHOL_LOWER, n, 1, A, n, B, n, kChunk, batch_);
        break;
      case Routine::posv:
        status = Api<T>::posv(handle_, CHOL_LOWER, n, 1, A, n, B, n, kChunk, info, batch_);
        break;
      default:
        status = Api<T>::potri(handle_, CHOL_LOWER, n, A, n, kChunk, info, batch_);
    }
    if (status != CHOL_STATUS_SUCCESS) throw std::runtime_error(chol_last_error(handle_));
  }

  Point point_;
  chol_handle_t handle_;
  int64_t batch_;
  Systems<T> systems_;
  std::vector<T> A_, B_, start_A_;
  std::vector<int> info_;
};

}  // namespace

std::string backend_name(chol_backend_t backend) {
  chol_handle_t handle = nullptr;
  if (chol_create_on(&handle, backend, 0, nullptr) != CHOL_STATUS_SUCCESS)
    throw std::runtime_error(chol_last_error(nullptr));
  const char* name = "";
  chol_backend_name(handle, backend, &name);
  std::string copy = name;
  chol_destroy(handle);
  return copy;
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

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

}  // namespace chol::tune
