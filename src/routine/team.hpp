// The named devices of a handle for one call.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "backend/panel_ops.hpp"
#include "base/status_error.hpp"
#include "routine/handle.hpp"
#include "tile/panel_ring.hpp"
#include "tile/traced_ops.hpp"

namespace chol::routine {

/// The destructor waits for all queued work, also after an error.
template <class T>
class Team {
 public:
  explicit Team(Handle& handle)
      : Team(handle.named_devices(), handle.threads(*handle.named_devices().front()->backend)) {
    by_planes = handle.math_mode == CHOL_MATH_TENSOR;
  }
  /// @param threads of the host.
  Team(Handle::Devices slots, int threads) : slots_(slots), threads_(threads) {
    for (const std::unique_ptr<BackendSlot>& slot : slots_) {
      owned_.push_back(slot->backend->panel_ops(static_cast<const T*>(nullptr), slot->stream));
      if (!owned_.back())
        throw StatusError(Status::error(CHOL_STATUS_NOT_SUPPORTED,
                                        "%s cannot be one of several devices",
                                        slot->backend->name()));
      if (TaskTrace::is_on())
        owned_.back() =
            std::make_shared<tile::TracedOps<T>>(owned_.back(), static_cast<int>(all.size()));
      all.push_back(owned_.back().get());
      numbers_.push_back(slot->backend->device());
    }
  }
  ~Team() {
    if (begun_)
      for (backend::PanelOps<T>* ops : all) ops->abandon();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// Calls carve(device, arena) for every device: with a null arena, and with memory that is as
  /// large as it then counted. For a workspace query it stores the largest count and returns false.
  template <class Work, class Carve>
  bool take_workspace(Handle& handle, Work& work, Carve&& carve) {
    return take_workspace(handle.workspace_need, work, carve);
  }
  /// @param need nullptr: no query.
  template <class Work, class Carve>
  bool take_workspace(size_t* need, Work& work, Carve&& carve) {
    Work counted;
    for (size_t d = 0; d < all.size(); ++d) {
      Arena count;
      carve(counted, d, count);
      if (need) {
        *need = std::max(*need, count.used() + Arena::kAlignment);
        continue;
      }
      void* const memory = slots_[d]->workspace(std::max<size_t>(count.used(), 1));
      if (!memory)
        throw StatusError(Status::error(CHOL_STATUS_ALLOC_FAILED,
                                        "cannot allocate %zu bytes of workspace on device %d",
                                        count.used(), numbers_[d]));
      Arena arena(memory, count.used());
      carve(work, d, arena);
    }
    return !need;
  }
  void begin() {
    begun_ = true;
    for (backend::PanelOps<T>* ops : all)
      ops->begin(numbers_.data(), static_cast<int>(numbers_.size()), threads_);
  }
  void wait() {
    for (backend::PanelOps<T>* ops : all) ops->finish();
  }
  void finish() {
    wait();
    begun_ = false;
  }

  const backend::Backend& device() const { return *slots_.front()->backend; }
  /// Bytes that each device can give to a call: the caller's memory if set, else most of the free
  /// memory, divided by how often the device is named.
  std::vector<size_t> available() const {
    std::vector<size_t> bytes;
    for (size_t d = 0; d < all.size(); ++d) {
      const size_t given = slots_[d]->user_workspace_bytes();
      const auto names = std::count(numbers_.begin(), numbers_.end(), numbers_[d]);
      bytes.push_back(given > 0 ? given
                                : all[d]->free_memory() / 16 * 15 / static_cast<size_t>(names));
    }
    return bytes;
  }
  /// Frees the memory of calls except for a small part.
  void give_back() {
    constexpr size_t kKept = size_t{256} << 20;
    for (const std::unique_ptr<BackendSlot>& slot : slots_) slot->keep_at_most(kKept);
  }

  tile::Devices<T> all;
  /// Whether products by residues are allowed.
  bool by_planes = false;

 private:
  const Handle::Devices slots_;
  const int threads_;
  std::vector<std::shared_ptr<backend::PanelOps<T>>> owned_;
  std::vector<int> numbers_;
  bool begun_ = false;
};

/// Runs body(); a failure of a device is stored in the handle.
template <class Body>
Status keep_failure(Handle& handle, Body&& body) {
  try {
    return body();
  } catch (const StatusError& error) {
    if (error.status().code() == Status::kDeviceError) handle.device_failure = error.status();
    throw;
  }
}

}  // namespace chol::routine
