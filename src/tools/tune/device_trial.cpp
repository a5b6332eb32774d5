#include "tools/tune/device_trial.hpp"

#include <chol.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "base/precisions.h"
#include "tools/tune/device.hpp"
#include "tools/tune/systems.hpp"
#include "tools/tune/trial.hpp"

namespace chol::tune {
namespace {

/// One call of one right-hand side, interleaved or column-major.
struct Arrays {
  int64_t n, chunk, batch;  ///< chunk 0: column-major; batch 0: one matrix, which is factored
  int* info;
};
#define CHOL_TUNE_CALL(p, T, R)                                                                    \
  chol_status_t call_of(Routine routine, chol_handle_t h, const Arrays& c, T* A, T* B) {           \
    const int64_t n = c.n, batch = c.batch;                                                        \
    const bool side_by_side = c.chunk > 0;                                                         \
    if (batch == 0) return chol_##p##potrf(h, CHOL_LOWER, n, A, n, c.info);                        \
    switch (routine) {                                                                             \
      case Routine::potrf:                                                                         \
        return side_by_side                                                                        \
                   ? chol_##p##potrf_interleaved(h, CHOL_LOWER, n, A, n, c.chunk, c.info, batch)   \
                   : chol_##p##potrf_strided_batched(h, CHOL_LOWER, n, A, n, n * n, c.info,        \
                                                     batch);                                       \
      case Routine::potrs:                                                                         \
        return side_by_side                                                                        \
                   ? chol_##p##potrs_interleaved(h, CHOL_LOWER, n, 1, A, n, B, n, c.chunk, batch)  \
                   : chol_##p##potrs_strided_batched(h, CHOL_LOWER, n, 1, A, n, n * n, B, n, n,    \
                                                     batch);                                       \
      default:                                                                                     \
        return side_by_side ? chol_##p##posv_interleaved(h, CHOL_LOWER, n, 1, A, n, B, n, c.chunk, \
                                                         c.info, batch)                            \
                            : chol_##p##posv_strided_batched(h, CHOL_LOWER, n, 1, A, n, n * n, B,  \
                                                             n, n, c.info, batch);                 \
    }                                                                                              \
  }
CHOL_FOR_EACH_PRECISION(CHOL_TUNE_CALL)
#undef CHOL_TUNE_CALL

class DeviceTrial {
 public:
  virtual ~DeviceTrial() = default;
  virtual double gflops(chol_handle_t handle, double seconds) = 0;
};

/// A few systems repeated, more than fill the second-level cache and all multiprocessors.
template <class T>
class DeviceTrialOf final : public DeviceTrial {
 public:
  explicit DeviceTrialOf(const Point& point)
      : point_(point),
        systems_(point.n, chunk(), different()),
        batch_(different() * copies()),
        A_(bytes_of(systems_.A)),
        start_A_(bytes_of(systems_.A)),
        B_(bytes_of(systems_.B)),
        start_B_(bytes_of(systems_.B)),
        info_(static_cast<size_t>(batch_) * sizeof(int)) {
    start_A_.fill_with(systems_.A.data(), systems_.A.size() * sizeof(T));
    start_B_.fill_with(systems_.B.data(), systems_.B.size() * sizeof(T));
  }

  double gflops(chol_handle_t handle, double seconds) override {
    if (point_.routine == Routine::potrs && !factored_) {
      restore();
      call(Routine::potrf, handle);
      start_A_.copy_from(A_);
      factored_ = true;
    }
    restore();
    call(point_.routine, handle);
    if (!is_right()) return 0;
    const auto begin = std::chrono::steady_clock::now();
    const auto spent = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    std::vector<double> times;
    while (times.size() < kFewest || (spent() < seconds && times.size() < kMost)) {
      restore();
      watch_.start();
      call(point_.routine, handle);
      times.push_back(watch_.stop());
    }
    return flops_of<T>(point_.routine, point_.n) * static_cast<double>(batch_) / median(times) *
           1e-9;
  }

 private:
  static constexpr int64_t kSystems = 64, kChunk = 32, kCaches = 5;
  static constexpr size_t kFewest = 5, kMost = 500;

  bool is_one() const { return point_.form == Form::one; }
  int64_t different() const { return is_one() ? 1 : kSystems; }
  int64_t chunk() const { return point_.form == Form::interleaved ? kChunk : 0; }
  int64_t copies() const {
    if (is_one()) return 1;
    const int64_t bytes = static_cast<int64_t>(systems_.A.size() * sizeof(T));
    const int64_t wanted = kCaches * device::cache_bytes();
    const int64_t filling = (4 * device::processors() + kSystems - 1) / kSystems;
    return std::max({int64_t{1}, wanted / bytes, filling});
  }
  size_t bytes_of(const std::vector<T>& systems) const {
    return systems.size() * sizeof(T) * static_cast<size_t>(batch_ / different());
  }
  void restore() {
    A_.copy_from(start_A_);
    if (point_.routine != Routine::potrf) B_.copy_from(start_B_);
  }
  void call(Routine routine, chol_handle_t handle) {
    const Arrays arrays{point_.n, chunk(), is_one() ? 0 : batch_, info_.as<int>()};
    if (call_of(routine, handle, arrays, A_.as<T>(), B_.as<T>()) != CHOL_STATUS_SUCCESS)
      throw std::runtime_error(chol_last_error(handle));
  }
  /// The first and the last copy.
  bool is_right() const {
    std::vector<T> a(systems_.A.size()), b(systems_.B.size());
    const size_t a_bytes = a.size() * sizeof(T), b_bytes = b.size() * sizeof(T);
    for (const bool last : {false, true}) {
      A_.read(a.data(), a_bytes, last ? A_.size() - a_bytes : 0);
      B_.read(b.data(), b_bytes, last ? B_.size() - b_bytes : 0);
      if (!systems_.is_right(point_.routine, a, b)) return false;
    }
    return true;
  }

  Point point_;
  Systems<T> systems_;
  int64_t batch_;
  device::Memory A_, start_A_, B_, start_B_, info_;
  device::StopWatch watch_;
  bool factored_ = false;
};

std::unique_ptr<DeviceTrial> make_trial(const Point& point) {
  switch (point.precision) {
    case 's':
      return std::make_unique<DeviceTrialOf<float>>(point);
    case 'd':
      return std::make_unique<DeviceTrialOf<double>>(point);
    case 'c':
      return std::make_unique<DeviceTrialOf<std::complex<float>>>(point);
    default:
      return std::make_unique<DeviceTrialOf<std::complex<double>>>(point);
  }
}

/// The words of a request; throws std::invalid_argument.
Point point_of(std::istream& words) {
  std::string routine, form, precision;
  Point point{};
  words >> routine >> form >> precision >> point.n;
  if (!words || precision.size() != 1) throw std::invalid_argument("no request");
  point.precision = precision[0];
  for (const Form known : {Form::one, Form::batch, Form::interleaved})
    if (form == form_name(known)) point.form = known;
  for (const Routine known : {Routine::potrf, Routine::potrs, Routine::posv})
    if (routine == routine_name(known)) {
      point.routine = known;
      return point;
    }
  throw std::invalid_argument("no such routine: " + routine);
}

/// The trials of one run; the arrays of the last point are kept.
class DeviceTrials {
 public:
  double rate(const std::string& request) {
    std::istringstream words(request);
    const Point point = point_of(words);
    double seconds = 0;
    words >> seconds;
    chol_handle_t handle = nullptr;
    // A plan that the backend refuses fails here.
    if (chol_create_on(&handle, CHOL_BACKEND_CUDA, 0, nullptr) != CHOL_STATUS_SUCCESS) return 0;
    if (!trial_ || text_of(point) != text_of(last_)) {
      trial_.reset();
      trial_ = make_trial(point);
      last_ = point;
    }
    const double rate = trial_->gflops(handle, seconds);
    chol_destroy(handle);
    return rate;
  }

 private:
  std::unique_ptr<DeviceTrial> trial_;
  Point last_{};
};

}  // namespace

int serve_device_trials() {
  try {
    device::open();
    std::cout << backend_name(CHOL_BACKEND_CUDA) << std::endl;
  } catch (const std::exception& error) {
    std::cout << '!' << error.what() << std::endl;
    return 1;
  }
  DeviceTrials trials;
  std::string request;
  while (std::getline(std::cin, request)) std::cout << trials.rate(request) << std::endl;
  return 0;
}

}  // namespace chol::tune
