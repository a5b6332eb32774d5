#include "routine/handle.hpp"

#include "base/environment.hpp"
#include "base/task_trace.hpp"
#include "routine/tuning_file.hpp"

namespace chol::routine {
namespace {

uintptr_t align_up(uintptr_t address) {
  return (address + Arena::kAlignment - 1) / Arena::kAlignment * Arena::kAlignment;
}

}  // namespace

BackendSlot::~BackendSlot() {
  if (backend && own_memory_) backend->release(own_memory_);
}

void BackendSlot::set_user_workspace(void* memory, size_t bytes) {
  const uintptr_t start = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t aligned = align_up(start);
  const bool usable = memory && aligned - start < bytes;
  user_memory_ = usable ? reinterpret_cast<void*>(aligned) : nullptr;
  user_bytes_ = usable ? bytes - (aligned - start) : 0;
}

void* BackendSlot::workspace(size_t bytes) {
  if (bytes <= user_bytes_) return user_memory_;
  if (bytes <= own_bytes_) return own_memory_;
  if (own_memory_) backend->release(own_memory_);
  own_memory_ = backend->allocate(bytes);
  own_bytes_ = own_memory_ ? bytes : 0;
  return own_memory_;
}

void BackendSlot::keep_at_most(size_t bytes) {
  if (own_bytes_ <= bytes) return;
  backend->release(own_memory_);
  own_memory_ = nullptr;
  own_bytes_ = 0;
}

Status open_backend(chol_backend_t kind, const int* device, backend::BackendPointer& opened) {
  Status status = kind == CHOL_BACKEND_HOST ? backend::open_host(opened)
                                            : backend::open_cuda(device ? 1 : 0, device, opened);
  if (!status.ok()) return status;
  return lay_tuning_file(*opened);
}

void Handle::read_environment() {
  math_mode = environment().math_mode;
  if (const char* trace = environment().trace_file) TaskTrace::open(trace);
}

Status Handle::adopt(chol_backend_t kind, const int* device) {
  read_environment();
  auto opened = std::make_unique<BackendSlot>();
  const Status status = open_backend(kind, device, opened->backend);
  if (status.ok()) {
    if (slots_.empty()) last_backend = kind;
    if (kind == CHOL_BACKEND_HOST) hosts_ = 1;
    slots_.push_back(std::move(opened));
  }
  find_small_factors();
  return status;
}

void Handle::find_small_factors() {
  const bool is_wanted = host() && devices().empty() && !environment().verbose;
  for (const char precision : {'s', 'd', 'c', 'z'})
    small_factors[precision_index(precision)] =
        is_wanted ? host()->backend->small_factor(precision) : backend::SmallFactor{};
}

Status Handle::open_one(chol_backend_t kind, int device_count, const int* devices) {
  if (device_count == 0) return adopt(kind, nullptr);
  for (int i = 0; i < device_count; ++i)
    if (const Status status = adopt(kind, devices + i); !status.ok())
      return Status::error(status.code(), "devices[%d]: %s", i, status.message());
  named_ = true;
  return Status::success();
}

Status Handle::open_all() {
  offload = environment().offload.value_or(CHOL_OFFLOAD_NEVER);
  if (environment().backend) return adopt(*environment().backend, nullptr);
  Status status = adopt(CHOL_BACKEND_HOST, nullptr);
  if (!status.ok()) return status;
  status = adopt(CHOL_BACKEND_CUDA, nullptr);
  if (status.ok() || status.code() != CHOL_STATUS_NO_DEVICE) return status;
  if (environment().verbose) std::fprintf(stderr, "# chol: %s\n", status.message());
  return Status::success();
}

BackendSlot* Handle::slot(chol_backend_t kind) {
  if (kind == CHOL_BACKEND_HOST) return host();
  return devices().empty() ? nullptr : devices().front().get();
}

BackendSlot* Handle::slot_on(const backend::Place& place) const {
  if (!has_several_devices() || place.number == backend::Place::kEveryDevice)
    return devices().front().get();
  for (const std::unique_ptr<BackendSlot>& slot : devices())
    if (slot->backend->device() == place.number) return slot.get();
  return nullptr;
}

namespace {

/// Whether one call can work on both: arrays of a call must be in the same kind of memory and,
/// among several devices, on the same device.
bool are_together(const backend::Place& a, const backend::Place& b, bool several) {
  using backend::Place;
  if (a.kind != b.kind) return false;
  return !several || a.number == b.number || a.number == Place::kEveryDevice ||
         b.number == Place::kEveryDevice;
}

/// "device memory", with the device's number if there are several.
std::string words(const backend::Place& place, bool several) {
  if (!(place == backend::Place::device)) return "host memory";
  if (!several || place.number == backend::Place::kEveryDevice) return "device memory";
  return "memory of device " + std::to_string(place.number);
}

}  // namespace

Status Handle::slot_for(const NamedArray* arrays, int count, const char* function,
                        BackendSlot** chosen) {
  // Without a device all arrays are in host memory.
  if (devices().empty()) {
    *chosen = host();
    return Status::success();
  }
  using backend::Place;
  const bool several = has_several_devices();
  const NamedArray* seen = nullptr;
  Place place = Place::unknown;
  for (int i = 0; i < count; ++i) {
    if (!arrays[i].address) continue;
    const Place here = devices().front()->backend->place_of(arrays[i].address);
    if (seen && !are_together(here, place, several))
      return Status::error(
          CHOL_STATUS_INVALID_VALUE, "%s: %s is in %s and %s in %s, must be together", function,
          seen->name, words(place, several).c_str(), arrays[i].name, words(here, several).c_str());
    if (!seen || (place.number == Place::kEveryDevice && here.number != Place::kEveryDevice)) {
      seen = &arrays[i];
      place = here;
    }
  }
  const bool on_device = place == Place::device;
  *chosen = on_device ? slot_on(place) : host();
  if (seen && !on_device && !host())
    return Status::error(CHOL_STATUS_INVALID_VALUE,
                         "%s: %s is in host memory, must be in device memory on a handle pinned "
                         "to CUDA",
                         function, seen->name);
  if (seen && !*chosen)
    return Status::error(CHOL_STATUS_INVALID_VALUE,
                         "%s: %s is in the %s, must be in that of a device of the handle", function,
                         seen->name, words(place, several).c_str());
  if (!*chosen) *chosen = devices().front().get();
  return Status::success();
}

bool Handle::are_on_host(const NamedArray* arrays, int count) const {
  for (int i = 0; i < count; ++i)
    if (arrays[i].address &&
        devices().front()->backend->place_of(arrays[i].address) != backend::Place::host)
      return false;
  return true;
}

bool Handle::threads_are_set() const {
  return requested_threads > 0 || environment().num_threads > 0;
}

int Handle::threads(backend::Backend& backend) const {
  if (requested_threads > 0) return requested_threads;
  if (environment().num_threads > 0) return environment().num_threads;
  return backend.default_threads();
}

}  // namespace chol::routine
