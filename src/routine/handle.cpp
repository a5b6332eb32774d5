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

Status open_backend(chol_backend_t kind, int device_count, const int* devices,
                    backend::BackendPointer& opened) {
  Status status = kind == CHOL_BACKEND_HOST ? backend::open_host(opened)
                                            : backend::open_cuda(device_count, devices, opened);
  if (!status.ok()) return status;
  return lay_tuning_file(*opened);
}

Status Handle::adopt(chol_backend_t kind, int device_count, const int* devices) {
  BackendSlot& opened = kind == CHOL_BACKEND_HOST ? host_ : cuda_;
  math_mode = environment().math_mode;
  if (const char* trace = environment().trace_file) TaskTrace::open(trace);
  const Status status = open_backend(kind, device_count, devices, opened.backend);
  if (status.ok() && !host_.backend) last_backend = kind;
  find_small_factors();
  return status;
}

void Handle::find_small_factors() {
  const bool is_wanted = host_.backend && !cuda_.backend && !environment().verbose;
  for (const char precision : {'s', 'd', 'c', 'z'})
    small_factors[precision_index(precision)] =
        is_wanted ? host_.backend->small_factor(precision) : backend::SmallFactor{};
}

Status Handle::open_one(chol_backend_t kind, int device_count, const int* devices) {
  return adopt(kind, device_count, devices);
}

Status Handle::open_all() {
  offload = environment().offload.value_or(CHOL_OFFLOAD_NEVER);
  if (environment().backend) return adopt(*environment().backend, 0, nullptr);
  Status status = adopt(CHOL_BACKEND_HOST, 0, nullptr);
  if (!status.ok()) return status;
  status = adopt(CHOL_BACKEND_CUDA, 0, nullptr);
  if (status.ok() || status.code() != CHOL_STATUS_NO_DEVICE) return status;
  if (environment().verbose) std::fprintf(stderr, "# chol: %s\n", status.message());
  return Status::success();
}

BackendSlot* Handle::slot(chol_backend_t kind) {
  BackendSlot& wanted = kind == CHOL_BACKEND_HOST ? host_ : cuda_;
  return wanted.backend ? &wanted : nullptr;
}

Status Handle::slot_for(const NamedArray* arrays, int count, const char* function,
                        BackendSlot** chosen) {
  // Without a device there is but one place.
  if (!cuda_.backend) {
    *chosen = &host_;
    return Status::success();
  }
  using backend::Place;
  const NamedArray* seen = nullptr;
  Place place = Place::unknown;
  const auto word = [](Place p) { return p == Place::device ? "device" : "host"; };
  for (int i = 0; i < count; ++i) {
    if (!arrays[i].address) continue;
    const Place here = cuda_.backend->place_of(arrays[i].address);
    if (seen && here != place)
      return Status::error(CHOL_STATUS_INVALID_VALUE,
                           "%s: %s lies in %s memory and %s in %s memory, must be together",
                           function, seen->name, word(place), arrays[i].name, word(here));
    if (!seen) {
      seen = &arrays[i];
      place = here;
    }
  }
  *chosen = place == Place::device ? &cuda_ : &host_;
  if (seen && place != Place::device && !host_.backend)
    return Status::error(CHOL_STATUS_INVALID_VALUE,
                         "%s: %s lies in host memory, must lie in device memory on a handle pinned "
                         "to CUDA",
                         function, seen->name);
  if (!seen && !host_.backend) *chosen = &cuda_;
  return Status::success();
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
