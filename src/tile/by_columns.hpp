// The factorization of a matrix in block columns.
#pragma once

#include "tile/factorization.hpp"

namespace chol::tile {

/// Each device stores whole block columns: the owner of a panel factors it in place.
///
/// Diagonal blocks are updated on the panel queue: they are small triangles, which fill a device
/// only concurrently with the products, and the panel needs them.
template <class T>
class ByColumns : Factorization<T> {
 public:
  ByColumns(const Devices<T>& devices, const CyclicMatrix<T>& A, PotrfWorkspace<T>& work,
            ColumnSource<T>* source)
      : Factorization<T>(devices, A, work),
        source_(source),
        before_(source ? source->panels_before() : 0),
        ready_(static_cast<size_t>(A.over.blocks())),
        behind_(devices.size()) {}

  void run() {
    const int64_t blocks = over_.blocks();
    if (blocks == 0) return;
    for (int64_t step = 0; step < before_; ++step) {
      load_panel(step);
      for (int d = 0; d < this->count(); ++d) update_from(d, step, 0, 2, false);
    }
    if (before_ > 0) wait_for_products(0);
    finish_panel(0);
    for (int64_t k = 0; k + 1 < blocks; ++k) {
      if (groups_.is_on() && groups_.is_last(k) && !groups_.is_exact(k)) {
        go_on_natively(k);
        finish_panel(k + 1);
      } else {
        update_next(k);
        finish_panel(k + 1);
        for (int d = 0; d < this->count(); ++d) update_others(d, k);
      }
      if (source_) tell_readers(k);
    }
  }

 private:
  using Base = Factorization<T>;
  using Base::A_, Base::ops, Base::over_, Base::panel, Base::ring_, Base::groups_;

  // Steps are counted from the panels of the columns to the left; panel k of A is step before_ + k.
  bool is_in_place(int device, int64_t step) {
    return step >= before_ && device == panel(step).owner;
  }
  int64_t columns_of(int64_t step) const {
    return step < before_ ? source_->columns_of(step) : over_.width(step - before_);
  }
  /// The panel from its row `row` on.
  View<T> seen_by(int device, int64_t step, int64_t row) {
    const int64_t first = step < before_ ? 0 : over_.start(step - before_);
    return is_in_place(device, step) ? A_.at(row, first)
                                     : ring_.memory(device, step).at(row - first, 0);
  }
  void need(Queue queue, int64_t J) {
    if (source_) source_->need(queue, J);
  }

  /// Loads a panel of the columns to the left to one device and copies it from there to all others.
  void load_panel(int64_t step) {
    const int owner = static_cast<int>(step % this->count());
    ring_.claim(ops(owner), Queue::load, owner, step);
    ring_.claimed(owner, step);
    source_->load(owner, step, ring_.memory(owner, step));
    panel(step).owner = owner;
    panel(step).finished = ops(owner).record(Queue::load);
    ops(owner).wait(Queue::panel, panel(step).finished);
    this->publish(step, ring_.memory(owner, step), over_.rows_from(0), columns_of(step),
                  [&](int d) { return this->has_after(d, -1); });
    for (int d = 0; d < this->count(); ++d)
      if (d != owner && this->has_after(d, -1))
        ring_.reads(owner, step, panel(step).arrived[static_cast<size_t>(d)]);
  }
  void finish_panel(int64_t k) {
    const int64_t first = over_.start(k);
    const int owner = over_.owner(k);
    const View<T> here = A_.at(first, first);
    need(Queue::panel, k);
    factor_panel(ops(owner), here, over_.rows_from(k), over_.width(k), first,
                 over_.columns_of(owner) - over_.local_start(k) - over_.width(k));
    const Event finished = hand_out(k, k);
    if (source_) source_->finished(k, finished);
    quantize(k);
  }
  /// Broadcasts panel k to all devices that own columns after column `last`.
  Event hand_out(int64_t k, int64_t last) {
    const int64_t first = over_.start(k), step = before_ + k;
    panel(step).owner = over_.owner(k);
    const Event finished = panel(step).finished = ops(over_.owner(k)).record(Queue::panel);
    this->publish(step, A_.at(first, first), over_.rows_from(k), over_.width(k),
                  [&](int d) { return this->has_after(d, last); });
    return finished;
  }
  /// Converts panel k to planes on the devices that own columns after its group.
  void quantize(int64_t k) {
    if (!groups_.is_on() || !groups_.has_behind(k)) return;
    for (int d = 0; d < this->count(); ++d) {
      if (!this->has_after(d, groups_.last(k))) continue;
      if (is_in_place(d, k)) ops(d).wait(Queue::receive, panel(k).finished);
      const Event read = groups_.quantize(d, k, seen_by(d, k, over_.start(k)));
      if (!is_in_place(d, k))
        ring_.reads(d, k, read);
      else if (source_)
        source_->read(k, read);
    }
  }
  /// Records the readers of panel k: its owner, whose products with it are queued, and the devices
  /// with a copy.
  void tell_readers(int64_t k) {
    const int owner = over_.owner(k);
    for (const Queue queue : {Queue::panel, Queue::update})
      source_->read(k, ops(owner).record(queue));
    for (int d = 0; d < this->count(); ++d)
      if (d != owner && this->has_after(d, k))
        source_->read(k, panel(before_ + k).arrived[static_cast<size_t>(d)]);
  }
  void update_diagonal(int device, int64_t step, int64_t J) {
    const int64_t at = over_.start(J);
    need(Queue::panel, J);
    ops(device).update_diagonal(Queue::panel, A_.at(at, at), seen_by(device, step, at),
                                over_.width(J), columns_of(step));
  }
  void update_below(int device, Queue queue, int64_t step, int64_t J) {
    const int64_t at = over_.start(J), below = over_.end(J);
    need(queue, J);
    ops(device).update(queue, A_.at(below, at), seen_by(device, step, below),
                       seen_by(device, step, at), over_.rows_after(J), over_.width(J),
                       columns_of(step));
  }
  bool has_below(int64_t J) const { return over_.rows_after(J) > 0; }
  void wait_for_products(int64_t J) {
    Event& ready = ready_[static_cast<size_t>(J)];
    if (ready) ops(over_.owner(J)).wait(Queue::panel, ready);
    ready = {};
  }

  /// Updates block column k + 1 by panel k or its group.
  void update_next(int64_t k) {
    const int64_t J = k + 1, step = before_ + k;
    const int owner = over_.owner(J);
    if (groups_.is_on()) wait_for_products(J);
    if (groups_.is_on() && groups_.is_last(k)) {
      groups_.await(owner, Queue::panel, k);
      update_by_group(owner, Queue::panel, k, J);
      groups_.reads(owner, Queue::panel, k);
      return;
    }
    this->await(owner, Queue::panel, step);
    update_diagonal(owner, step, J);
    if (!has_below(J)) return;
    wait_for_products(J);
    update_below(owner, Queue::panel, step, J);
  }
  /// Updates the block columns of the device after k + 1.
  void update_others(int d, int64_t k) {
    if (!groups_.is_on())
      update_from(d, before_ + k, k + 2, k + 3, d == over_.owner(k + 1));
    else if (groups_.is_last(k))
      update_behind_group(d, k);
    else
      update_in_group(d, k);
  }
  /// Updates the block columns from `first` on by one panel.
  /// @param ahead end of the columns whose panels will wait for the update.
  /// @param did_next whether the device has updated the preceding column by this panel.
  void update_from(int d, int64_t step, int64_t first, int64_t ahead, bool did_next) {
    const bool has_any = over_.next_of(d, first) < over_.blocks();
    const bool reads_copy = !is_in_place(d, step) && (has_any || did_next);
    if (has_any) {
      if (!did_next) this->await(d, Queue::panel, step);
      this->for_each_block(d, first, [&](int64_t J) { update_diagonal(d, step, J); });
    }
    if (reads_copy) ring_.reads(d, step, ops(d).record(Queue::panel));
    bool awaited = false;
    this->for_each_block(d, first, [&](int64_t J) {
      if (!has_below(J)) return;
      if (!awaited) this->await(d, Queue::update, step);
      awaited = true;
      update_below(d, Queue::update, step, J);
      // No panel was factored in advance from the columns to the left.
      if (J < ahead) ready_[static_cast<size_t>(J)] = ops(d).record(Queue::update);
    });
    if (reads_copy && awaited) ring_.reads(d, step, ops(d).record(Queue::update));
  }

  /// Updates the other columns of its group by panel k on the panel queue, since the update queue
  /// still processes the previous group.
  void update_in_group(int d, int64_t k) {
    bool awaited = d == over_.owner(k + 1);
    this->for_each_block(d, k + 2, [&](int64_t J) {
      if (J > groups_.last(k)) return;
      if (!awaited) this->await(d, Queue::panel, k);
      awaited = true;
      wait_for_products(J);
      update_diagonal(d, k, J);
      if (has_below(J)) update_below(d, Queue::panel, k, J);
    });
    if (awaited && !is_in_place(d, k)) ring_.reads(d, k, ops(d).record(Queue::panel));
  }
  /// Updates the columns after the group that ends with panel k.
  void update_behind_group(int d, int64_t k) {
    if (!this->has_after(d, k + 1)) return;
    groups_.await(d, Queue::update, k);
    this->for_each_block(d, k + 2, [&](int64_t J) {
      update_by_group(d, Queue::update, k, J);
      // The next group, and the look-ahead column of the group after it.
      if (J <= k + 1 + groups_.panels())
        ready_[static_cast<size_t>(J)] = ops(d).record(Queue::update);
    });
    groups_.reads(d, Queue::update, k);
    behind_[static_cast<size_t>(d)] = ops(d).record(Queue::update);
  }
  void update_by_group(int d, Queue queue, int64_t k, int64_t J) {
    const int64_t at = over_.start(J);
    need(queue, J);
    groups_.update(d, queue, k, A_.at(at, at), at, at, over_.rows_from(J), over_.width(J));
  }
  /// The group that ends with panel k exceeds the bound: its panels are broadcast again, and all
  /// columns after it are updated by one panel at a time.
  void go_on_natively(int64_t k) {
    const int64_t first = groups_.first(k);
    groups_.give_up();
    for (int d = 0; d < this->count(); ++d)
      if (const Event& behind = behind_[static_cast<size_t>(d)]) ops(d).wait(Queue::panel, behind);
    for (int64_t step = first; step <= k; ++step) {
      hand_out(step, k);
      for (int d = 0; d < this->count(); ++d) update_from(d, step, k + 1, k + 3, false);
      if (source_ && step < k) tell_readers(step);
    }
    wait_for_products(k + 1);
  }

  ColumnSource<T>* const source_;
  const int64_t before_;
  /// For each block column: completion of the products on the update queue for which its panel
  /// waits.
  std::vector<Event> ready_;
  /// For each device: completion of the last products with a group.
  std::vector<Event> behind_;
};

}  // namespace chol::tile
