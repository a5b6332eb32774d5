// A backend plug-in in one file: a "device" of ordinary memory, unblocked loops, and a record of
// what arrived. Nothing above the backend interface knows it.
#include "abi/recording_backend.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <map>
#include <vector>

#include "backend/plugin.hpp"
#include "base/status_error.hpp"
#include "tile/stand_in_devices.hpp"

namespace chol::test {
namespace {

Recording recording;
std::map<const char*, size_t> device_memory;

/// The named triangle as a lower one; the storage of an upper one is conj(A) on swapped strides.
template <class T>
struct Triangle {
  using R = RealOf<T>;
  T* base;
  int64_t rs, cs;
  T& at(int64_t i, int64_t j) const { return base[i * rs + j * cs]; }
  static T conjugate(const T& x) {
    if constexpr (is_complex<T>)
      return std::conj(x);
    else
      return x;
  }

  int factor(int64_t n) const {
    for (int64_t j = 0; j < n; ++j) {
      R pivot = std::real(at(j, j));
      for (int64_t k = 0; k < j; ++k) pivot -= std::norm(at(j, k));
      if (!(pivot > 0) || std::isinf(pivot)) return static_cast<int>(j + 1);
      at(j, j) = pivot = std::sqrt(pivot);
      for (int64_t i = j + 1; i < n; ++i) {
        for (int64_t k = 0; k < j; ++k) at(i, j) -= at(i, k) * conjugate(at(j, k));
        at(i, j) /= pivot;
      }
    }
    return 0;
  }
  void solve(int64_t n, bool upper, T* x) const {
    const auto element = [&](int64_t i, int64_t j) {
      return upper ? conjugate(at(i, j)) : at(i, j);
    };
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t k = 0; k < i; ++k) x[i] -= element(i, k) * x[k];
      x[i] /= std::real(at(i, i));
    }
    for (int64_t i = n - 1; i >= 0; --i) {
      for (int64_t k = i + 1; k < n; ++k) x[i] -= conjugate(element(k, i)) * x[k];
      x[i] /= std::real(at(i, i));
    }
  }
};

/// Elements are not checked for races: each device is a separate machine, whose clocks say nothing
/// about the others.
struct OwnMachine {
  Machine machine{1};
};
/// One of several devices.
template <class T>
class RecordedDevice final : OwnMachine, public StandInDevice<T> {
 public:
  explicit RecordedDevice(int number) : StandInDevice<T>(machine, 0, 8), device_(number) {
    machine.watches = false;
    this->set_pageable(true);
  }
  void factor(backend::Queue queue, const backend::View<T>& A, int64_t rows, int64_t columns,
              int64_t before, int64_t behind) override {
    if (std::getenv("CHOL_TEST_FAIL_PANELS")) fail();
    ++recording.panels[device_ % 8];
    StandInDevice<T>::factor(queue, A, rows, columns, before, behind);
  }
  void copy(backend::Queue queue, const backend::View<T>& to, const backend::View<T>& from,
            int64_t rows, int64_t columns) override {
    const char* const most = std::getenv("CHOL_TEST_FAIL_STORE");
    if (most && queue == backend::Queue::store && stores_++ >= std::atoi(most)) fail();
    StandInDevice<T>::copy(queue, to, from, rows, columns);
  }

 private:
  [[noreturn]] static void fail() {
    throw StatusError(Status::error(Status::kDeviceError, "device 7: it is gone"));
  }
  int device_, stores_ = 0;
};

constexpr MethodInfo kOnly{"recorded", {}};
constexpr const MethodInfo* kMethods[] = {&kOnly};

class RecordingBackend final : public backend::Backend {
 public:
  explicit RecordingBackend(int device) : device_(device) {
    ++recording.live_backends;
    for (int r = 0; r < kRoutineCount; ++r)
      for (const Form form : {Form::one, Form::batch, Form::interleaved})
        for (const char precision : {'s', 'd', 'c', 'z'}) {
          tuning_.load_row({static_cast<Routine>(r), form, precision, {}, Choice(kOnly)});
        }
    // With these rates offloading pays in double precision but not in single.
    const RateRow rates[] = {{'s', INT64_MAX, 1e-3, 1e-3}, {'d', INT64_MAX, 1e6, 1e6}};
    tuning_.load_rates(rates, 2);
  }
  ~RecordingBackend() override { --recording.live_backends; }

  const char* name() const override { return "recording"; }
  chol_backend_t kind() const override { return CHOL_BACKEND_CUDA; }
  int device() const override { return device_; }
  TuningStore& tuning() override { return tuning_; }
  std::span<const MethodInfo* const> methods() const override { return kMethods; }
  bool accepts(const Row&) const override { return true; }
  backend::Place place_of(const void* array) const override {
    auto after = device_memory.upper_bound(static_cast<const char*>(array));
    if (after == device_memory.begin()) return backend::Place::host;
    --after;
    return static_cast<const char*>(array) < after->first + after->second ? backend::Place::device
                                                                          : backend::Place::host;
  }
  Status summarize_info(const int*, int64_t batch, int64_t* failed, int64_t* first,
                        void*) override {
    *failed = batch;
    *first = 0;
    return Status::success();
  }
  void* allocate(size_t bytes) override {
    if (std::getenv("CHOL_TEST_NO_MEMORY")) return nullptr;
    ++recording.live_allocations;
    return std::aligned_alloc(
        Arena::kAlignment, (bytes + Arena::kAlignment - 1) / Arena::kAlignment * Arena::kAlignment);
  }
  void release(void* memory) override {
    --recording.live_allocations;
    std::free(memory);
  }

  template <class T>
  std::shared_ptr<backend::PanelOps<T>> recorded_device() const {
    if (std::getenv("CHOL_TEST_NO_PANELS")) return nullptr;
    const auto device = std::make_shared<RecordedDevice<T>>(device_);
    constexpr int64_t kPanels = 2;
    device->use_planes(kPanels, INT_MAX);
    return device;
  }
#define CHOL_TEST_PANELS(T)                                                   \
  std::shared_ptr<backend::PanelOps<T>> panel_ops(const T*, void*) override { \
    return recorded_device<T>();                                              \
  }
  CHOL_TEST_PANELS(float)
  CHOL_TEST_PANELS(double)
  CHOL_TEST_PANELS(std::complex<float>)
  CHOL_TEST_PANELS(std::complex<double>)
#undef CHOL_TEST_PANELS

#define CHOL_TEST_SOLVER(T)                                                                        \
  std::unique_ptr<backend::TileOps<T>> tile_ops(const T*, int, void*) override { return nullptr; } \
  size_t workspace_bytes(const backend::Problem<T>&, const RowTable&, const backend::Resources&)   \
      const override {                                                                             \
    return 1000;                                                                                   \
  }                                                                                                \
  Status run(const backend::Problem<T>& problem, const RowTable&,                                  \
             const backend::Resources& resources) override {                                       \
    return record_and_run(problem, resources);                                                     \
  }
  CHOL_TEST_SOLVER(float)
  CHOL_TEST_SOLVER(double)
  CHOL_TEST_SOLVER(std::complex<float>)
  CHOL_TEST_SOLVER(std::complex<double>)
#undef CHOL_TEST_SOLVER

 private:
  template <class T>
  static Status record_and_run(const backend::Problem<T>& problem,
                               const backend::Resources& resources) {
    ++recording.calls;
    recording.last_n = problem.sizes.n;
    recording.last_stream = resources.stream;
    recording.last_workspace_bytes = resources.workspace ? resources.workspace_bytes : 0;
    if (problem.routine > Routine::posv || problem.form == Form::interleaved)
      return Status::error(CHOL_STATUS_NOT_SUPPORTED, "recording: no %d",
                           static_cast<int>(problem.routine));
    if (problem.factored) return run_host_matrix(problem);
    for (int64_t b = 0; b < problem.sizes.count; ++b) run_one(problem, b);
    return Status::success();
  }

  /// As a device does: computed in other memory, and returned column by column.
  template <class T>
  static Status run_host_matrix(const backend::Problem<T>& problem) {
    ++recording.host_matrices;
    const bool upper = problem.uplo == CHOL_UPPER;
    const int64_t n = problem.sizes.n, ld = problem.A.ld;
    T* const A = problem.A.first;
    std::vector<T> copy(A, A + ld * (n - 1) + n);
    const int info = Triangle<T>{copy.data(), upper ? ld : 1, upper ? 1 : ld}.factor(n);
    const char* fail_after = std::getenv("CHOL_TEST_FAIL_AFTER");
    int64_t good = info ? info - 1 : n;
    if (fail_after) good = std::min<int64_t>(good, std::atoll(fail_after));
    for (int64_t j = 0; j < good; ++j)
      for (int64_t i = j; i < n; ++i) {
        const int64_t at = upper ? i * ld + j : j * ld + i;
        A[at] = copy[at];
      }
    *problem.factored = good;
    if (fail_after) return Status::error(CHOL_STATUS_DEVICE_ERROR, "recording: the device is lost");
    *problem.info = info;
    return Status::success();
  }

  template <class T>
  static void run_one(const backend::Problem<T>& problem, int64_t b) {
    const bool upper = problem.uplo == CHOL_UPPER;
    const int64_t n = problem.sizes.order(b), ld = problem.A.leading_dimension(b);
    const Triangle<T> L{problem.A.matrix(b), upper ? ld : 1, upper ? 1 : ld};
    int info = 0;
    if (problem.routine != Routine::potrs) problem.info[b] = info = L.factor(n);
    if (problem.routine == Routine::potrf || info != 0) return;
    for (int64_t c = 0; c < problem.sizes.rhs_count(b); ++c)
      L.solve(n, upper, problem.B.matrix(b) + c * problem.B.leading_dimension(b));
  }

  const int device_;
  TuningStore tuning_;
};

}  // namespace
}  // namespace chol::test

using namespace chol;

extern "C" {

__attribute__((visibility("default"))) backend::Backend* chol_backend_open(int plugin_version,
                                                                           int device_count,
                                                                           const int* devices,
                                                                           Status* status) {
  if (plugin_version != backend::kPluginVersion || std::getenv("CHOL_TEST_NO_DEVICE")) {
    *status = Status::error(CHOL_STATUS_NO_DEVICE, "recording: no device here");
    return nullptr;
  }
  test::recording.device_count = device_count;
  test::recording.first_device = device_count > 0 ? devices[0] : -1;
  const int device = device_count > 0 ? devices[0] : 0;
  const char* const there = std::getenv("CHOL_TEST_DEVICES");
  if (there && device >= std::atoi(there)) {
    *status = Status::error(CHOL_STATUS_NO_DEVICE, "device %d, must be in 0 .. %d", device,
                            std::atoi(there) - 1);
    return nullptr;
  }
  return new test::RecordingBackend(device);
}

__attribute__((visibility("default"))) const test::Recording* chol_test_recording() {
  return &test::recording;
}
__attribute__((visibility("default"))) void* chol_test_allocate(size_t bytes) {
  char* memory = static_cast<char*>(std::malloc(bytes + 1));
  test::device_memory[memory] = bytes + 1;
  return memory;
}
__attribute__((visibility("default"))) void chol_test_release(void* memory) {
  test::device_memory.erase(static_cast<char*>(memory));
  std::free(memory);
}

}  // extern "C"
