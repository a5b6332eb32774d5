// The block columns of a factor for a solve: in the devices' memory, or transferred from host
// memory once a sweep to a few slots of the owner, which are reused.
#pragma once

#include "tile/staging.hpp"

namespace chol::tile {

template <class T>
class FactorColumns {
 public:
  /// For a factor in the devices' memory.
  explicit FactorColumns(const CyclicMatrix<T>& A)
      : over_(A.over), upper_(A.local.front().swapped), resident_(&A) {}
  /// For a factor in host memory. @param whole its lower view.
  /// @param staging for pageable memory, or nullptr.
  FactorColumns(const Devices<T>& devices, const Distribution& over, const View<T>& whole,
                PanelRing<T>& ring, Staging<T>* staging = nullptr)
      : over_(over),
        upper_(whole.swapped),
        devices_(&devices),
        whole_(whole),
        ring_(&ring),
        staging_(staging),
        next_(devices.size()),
        steps_(static_cast<size_t>(over.blocks()), kAbsent) {}

  const Distribution& over() const { return over_; }
  bool upper() const { return upper_; }

  /// Makes block column k available to the next operation on the owner's update queue.
  void need(int64_t k) {
    if (resident_ || step(k) != kAbsent) return;
    const int owner = over_.owner(k);
    PanelOps<T>& ops = *(*devices_)[static_cast<size_t>(owner)];
    step(k) = next_[static_cast<size_t>(owner)]++;
    ring_->claim(ops, Queue::load, owner, step(k));
    ring_->claimed(owner, step(k));
    // By columns as stored, whichever triangle it is: the columns of an upper triangle are rows of
    // its lower view.
    const int64_t first = over_.start(k), width = over_.width(k);
    View<T> slot = ring_->memory(owner, step(k));
    slot.swapped = upper_;
    const View<T> to = upper_ ? slot : slot.at(first, 0);
    const int64_t column = upper_ ? 0 : first;
    const int64_t rows = upper_ ? width : over_.n - first, columns = upper_ ? over_.end(k) : width;
    if (staging_)
      staging_->load(owner, to, first, column, rows, columns);
    else
      ops.copy(Queue::load, to, whole_.at(first, column), rows, columns);
    ops.wait(Queue::update, ops.record(Queue::load));
  }
  /// The operation queued last was the last one of this sweep to read block column k.
  void done(int64_t k) {
    if (resident_) return;
    const int owner = over_.owner(k);
    ring_->reads(owner, step(k), (*devices_)[static_cast<size_t>(owner)]->record(Queue::update));
    step(k) = kAbsent;
  }
  /// The block column from the first row of block i on.
  backend::Stored<T> at(int64_t i, int64_t k, bool adjoint) const {
    const int owner = over_.owner(k);
    if (resident_) {
      const View<T>& local = resident_->local[static_cast<size_t>(owner)];
      return {local.first + over_.local_start(k) * local.ld + over_.start(i), local.ld, adjoint};
    }
    const View<T>& slot = ring_->memory(owner, steps_[static_cast<size_t>(k)]);
    return {slot.first + over_.start(i), slot.ld, adjoint};
  }

 private:
  static constexpr int64_t kAbsent = -1;
  int64_t& step(int64_t k) { return steps_[static_cast<size_t>(k)]; }

  const Distribution over_;
  const bool upper_;
  const CyclicMatrix<T>* resident_ = nullptr;
  const Devices<T>* devices_ = nullptr;
  View<T> whole_;
  PanelRing<T>* ring_ = nullptr;
  Staging<T>* staging_ = nullptr;
  std::vector<int64_t> next_;   ///< step of the next load of each device
  std::vector<int64_t> steps_;  ///< step of each resident block column
};

}  // namespace chol::tile
