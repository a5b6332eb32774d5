// The handle: backends, options and the memory that calls reuse.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/registry.hpp"
#include "base/status.hpp"
#include "chol.h"

namespace chol::routine {

/// A backend on its device, with the queue and the workspace that its calls use.
class BackendSlot {
 public:
  BackendSlot() = default;
  BackendSlot(const BackendSlot&) = delete;
  BackendSlot& operator=(const BackendSlot&) = delete;
  ~BackendSlot();

  backend::BackendPointer backend;
  void* stream = nullptr;  ///< CUDA stream

  /// At least `bytes` of workspace, aligned to Arena::kAlignment: the caller's when it is large
  /// enough, else the slot's own, which grows and is kept. nullptr on failure.
  void* workspace(size_t bytes);
  void set_user_workspace(void* memory, size_t bytes);
  /// Bytes of the caller's memory, 0 when there is none.
  size_t user_workspace_bytes() const { return user_bytes_; }
  /// Frees the slot's own memory when it is larger than `bytes`.
  void keep_at_most(size_t bytes);

 private:
  void* user_memory_ = nullptr;
  size_t user_bytes_ = 0;
  void* own_memory_ = nullptr;
  size_t own_bytes_ = 0;
};

/// Opens a backend and applies the tuning file to its rows.
/// @param device its number, or nullptr for the current one.
Status open_backend(chol_backend_t kind, const int* device, backend::BackendPointer& opened);

class Handle {
 public:
  static constexpr uint64_t kMagic = 0x43484f4c4c4f4843;  // "CHOLLOHC"
  ~Handle() { magic = 0; }

  /// Opens every available backend, or the one that CHOL_BACKEND names.
  Status open_all();
  Status open_one(chol_backend_t kind, int device_count, const int* devices);

  /// For CUDA that of the first device.
  BackendSlot* slot(chol_backend_t kind);
  using Slots = std::vector<std::unique_ptr<BackendSlot>>;
  using Devices = std::span<const std::unique_ptr<BackendSlot>>;
  /// Those that chol_create_on() named, in its order.
  Devices named_devices() const { return named_ ? devices() : Devices(); }
  bool has_several_devices() const { return devices().size() > 1; }
  /// The slot whose backend can access all of `arrays`; fails when they are in different memories
  /// or when no backend of this handle can access them. NULL entries are ignored.
  struct NamedArray {
    const char* name;
    const void* address;
  };
  Status slot_for(const NamedArray* arrays, int count, const char* function, BackendSlot** slot);
  /// Whether all arrays are in host memory, for a handle over named devices.
  bool are_on_host(const NamedArray* arrays, int count) const;
  int threads(backend::Backend& backend) const;
  /// Whether the user set that number.
  bool threads_are_set() const;

  uint64_t magic = kMagic;
  int requested_threads = 0;  ///< 0: the default
  chol_math_mode_t math_mode = CHOL_MATH_IEEE;
  chol_offload_t offload = CHOL_OFFLOAD_NEVER;
  chol_backend_t last_backend = CHOL_BACKEND_HOST;  ///< what did the last routine
  /// By precision_index(): potrf of matrices so small that call overhead matters. Null where a
  /// device may have to serve the call or a trace is written.
  backend::SmallFactor small_factors[4];
  size_t* workspace_need =
      nullptr;  ///< workspace query: calls raise this number and do nothing else; or nullptr
  Status last_error;
  /// The error after which no call over several devices is possible; success if none occurred.
  Status device_failure;

 private:
  void read_environment();
  /// @param device as open_backend().
  Status adopt(chol_backend_t kind, const int* device);
  void find_small_factors();
  /// nullptr where the handle has no host backend.
  BackendSlot* host() const { return hosts_ > 0 ? slots_.front().get() : nullptr; }
  Devices devices() const { return Devices(slots_).subspan(hosts_); }
  BackendSlot* slot_on(const backend::Place& place) const;

  Slots slots_;       ///< the host's, if it is there, then those of the devices
  size_t hosts_ = 0;  ///< 0 or 1
  bool named_ = false;
};

}  // namespace chol::routine
