// The factorization of a matrix in block rows.
#pragma once

#include "tile/factorization.hpp"

namespace chol::tile {

/// Each device stores whole block rows, and therefore a part of every panel. The parts are gathered
/// at the owner of the diagonal block, which factors the panel and broadcasts it; each device
/// copies its part back from the broadcast panel.
template <class T>
class ByRows : Factorization<T> {
 public:
  ByRows(const Devices<T>& devices, const CyclicMatrix<T>& A, PotrfWorkspace<T>& work)
      : Factorization<T>(devices, A, work),
        updated_(2 * devices.size()),
        taken_back_(devices.size()),
        next_group_(devices.size()),
        behind_(devices.size()) {}

  void run() {
    const int64_t blocks = over_.blocks();
    if (blocks == 0) return;
    finish_panel(0);
    for (int64_t k = 0; k < blocks; ++k) {
      if (k + 1 < blocks && groups_.is_on() && groups_.is_last(k) && !groups_.is_exact(k)) {
        go_on_natively(k);
        finish_panel(k + 1);
        continue;
      }
      if (k + 1 < blocks) {
        for (int d = 0; d < this->count(); ++d) update_next(d, k);
        finish_panel(k + 1);
      }
      for (int d = 0; d < this->count(); ++d) update_rest(d, k);
    }
  }

 private:
  using Base = Factorization<T>;
  using Base::A_, Base::ops, Base::over_, Base::panel, Base::ring_, Base::groups_;

  View<T> seen_by(int device, int64_t k, int64_t block) {
    return ring_.memory(device, k).at(over_.start(block) - over_.start(k), 0);
  }
  /// Whether the device owns rows of panel k.
  bool has_part(int device, int64_t k) const { return over_.next_of(device, k) < over_.blocks(); }

  /// Copies the device's part of panel k between its own matrix and a panel that it can access.
  template <class Copy>
  void for_each_part(int device, int64_t k, const View<T>& whole, Copy&& copy) {
    this->for_each_block(device, k, [&](int64_t I) {
      copy(A_.at(over_.start(I), over_.start(k)), whole.at(over_.start(I) - over_.start(k), 0),
           over_.width(I));
    });
  }
  void finish_panel(int64_t k) {
    const View<T> whole = gather(k);
    factor_panel(ops(over_.owner(k)), whole, over_.rows_from(k), over_.width(k), over_.start(k),
                 PanelRing<T>::kBehind);
    hand_out(k, k);
    if (!groups_.is_on()) return;
    for (int d = 0; d < this->count(); ++d)
      if (has_part(d, k)) take_back(d, k);
  }
  /// Gathers the parts of panel k at the owner of its diagonal block.
  View<T> gather(int64_t k) {
    const int owner = over_.owner(k);
    const View<T> whole = ring_.memory(owner, k);
    std::vector<Event> gathered;
    for (int d = 0; d < this->count(); ++d) {
      if (!has_part(d, k)) continue;
      ring_.claim(ops(d), Queue::panel, owner, k);
      for_each_part(d, k, whole, [&](const View<T>& mine, const View<T>& there, int64_t rows) {
        copy_between<T>(this->devices_, d, Queue::panel, {owner, there}, {d, mine}, rows,
                        over_.width(k));
      });
      if (d != owner) gathered.push_back(ops(d).record(Queue::panel));
    }
    ring_.claimed(owner, k);
    for (const Event& part : gathered) ops(owner).wait(Queue::panel, part);
    return whole;
  }
  /// Broadcasts panel k to all devices that own rows from block `first` on.
  void hand_out(int64_t k, int64_t first) {
    const int owner = over_.owner(k);
    panel(k).owner = owner;
    panel(k).finished = ops(owner).record(Queue::panel);
    this->publish(k, ring_.memory(owner, k), over_.rows_from(k), over_.width(k),
                  [&](int d) { return has_part(d, first); });
    for (int d = 0; d < this->count(); ++d)
      if (d != owner && has_part(d, first))
        ring_.reads(owner, k, panel(k).arrived[static_cast<size_t>(d)]);
  }
  void copy_part_back(int d, Queue queue, int64_t k) {
    for_each_part(d, k, ring_.memory(d, k),
                  [&](const View<T>& mine, const View<T>& here, int64_t rows) {
                    ops(d).copy(queue, mine, here, rows, over_.width(k));
                  });
  }
  /// Copies the device's part of panel k back on the receive queue. With groups this queue also
  /// converts the panel to planes, since the update queue still processes the previous group.
  void take_back(int d, int64_t k) {
    if (d == panel(k).owner) ops(d).wait(Queue::receive, panel(k).finished);
    copy_part_back(d, Queue::receive, k);
    if (groups_.has_behind(k) && has_part(d, groups_.last(k) + 1))
      groups_.quantize(d, k, ring_.memory(d, k));
    taken_back_[static_cast<size_t>(d)] = ops(d).record(Queue::receive);
    ring_.reads(d, k, taken_back_[static_cast<size_t>(d)]);
  }
  void update_diagonal(int device, int64_t k, int64_t I) {
    const int64_t at = over_.start(I);
    ops(device).update_diagonal(Queue::panel, A_.at(at, at), seen_by(device, k, I), over_.width(I),
                                over_.width(k));
  }

  Event& updated(int device, int64_t k) {
    return updated_[static_cast<size_t>(2 * device + k % 2)];
  }
  /// Updates the device's part of block column k + 1 by panel k or its group.
  void update_next(int d, int64_t k) {
    if (!has_part(d, k + 1)) return;
    const bool by_group = groups_.is_on() && groups_.is_last(k);
    if (by_group) {
      groups_.await(d, Queue::panel, k);
      wait_for(d, next_group_);
      this->for_each_block(
          d, k + 1, [&](int64_t I) { update_by_group(d, Queue::panel, k, I, k + 1, k + 2); });
      return groups_.reads(d, Queue::panel, k);
    }
    this->await(d, Queue::panel, k);
    if (groups_.is_on())
      wait_for(d, next_group_);
    else if (k > 0 && updated(d, k - 1))
      ops(d).wait(Queue::panel, updated(d, k - 1));
    this->for_each_block(d, k + 1, [&](int64_t I) {
      if (I == k + 1) return update_diagonal(d, k, I);
      update_row(d, Queue::panel, k, I, k + 1, k + 2);
    });
  }
  /// Updates block row I from block column `first` up to block column `end`.
  void update_row(int d, Queue queue, int64_t k, int64_t I, int64_t first, int64_t end) {
    const int64_t row = over_.start(I), column = over_.start(first);
    ops(d).update(queue, A_.at(row, column), seen_by(d, k, I), seen_by(d, k, first), over_.width(I),
                  over_.start(end) - column, over_.width(k));
  }
  /// Updates block row I by the group of panel k, up to the diagonal.
  void update_by_group(int d, Queue queue, int64_t k, int64_t I, int64_t first, int64_t end) {
    const int64_t row = over_.start(I), column = over_.start(first);
    groups_.update(d, queue, k, A_.at(row, column), row, column, over_.width(I),
                   over_.end(std::min(I, end - 1)) - column);
  }
  void wait_for(int d, const std::vector<Event>& events) {
    if (const Event& event = events[static_cast<size_t>(d)]) ops(d).wait(Queue::panel, event);
  }
  /// Updates the device's part of the block columns after it, once its part of panel k is copied
  /// back.
  void update_rest(int d, int64_t k) {
    if (!has_part(d, k)) return;
    if (groups_.is_on())
      return groups_.is_last(k) ? update_behind_group(d, k) : update_in_group(d, k);
    if (has_part(d, k + 1))
      this->for_each_block(d, k + 2, [&](int64_t I) { update_diagonal(d, k, I); });
    ring_.reads(d, k, ops(d).record(Queue::panel));
    this->await(d, Queue::update, k);
    copy_part_back(d, Queue::update, k);
    this->for_each_block(d, k + 3,
                         [&](int64_t I) { update_row(d, Queue::update, k, I, k + 2, I); });
    updated(d, k) = ops(d).record(Queue::update);
    ring_.reads(d, k, updated(d, k));
  }
  /// Updates the other columns of its group by panel k.
  void update_in_group(int d, int64_t k) {
    if (!has_part(d, k + 1)) return;
    const int64_t end = groups_.last(k) + 1;
    if (k + 2 < end)
      this->for_each_block(d, k + 2, [&](int64_t I) {
        if (I < end) update_diagonal(d, k, I);
        if (I > k + 2) update_row(d, Queue::panel, k, I, k + 2, std::min(I, end));
      });
    ring_.reads(d, k, ops(d).record(Queue::panel));
  }
  /// Updates the columns after the group that ends with panel k: first the next group and the
  /// look-ahead column of the group after it.
  void update_behind_group(int d, int64_t k) {
    if (!has_part(d, k + 2)) return;
    const int64_t middle = std::min(k + 2 + groups_.panels(), over_.blocks());
    groups_.await(d, Queue::update, k);
    this->for_each_block(
        d, k + 2, [&](int64_t I) { update_by_group(d, Queue::update, k, I, k + 2, middle); });
    next_group_[static_cast<size_t>(d)] = ops(d).record(Queue::update);
    this->for_each_block(d, middle, [&](int64_t I) {
      update_by_group(d, Queue::update, k, I, middle, over_.blocks());
    });
    behind_[static_cast<size_t>(d)] = ops(d).record(Queue::update);
    groups_.reads(d, Queue::update, k);
  }
  /// The group that ends with panel k exceeds the bound: its panels are broadcast again, and all
  /// columns after it are updated by one panel at a time.
  void go_on_natively(int64_t k) {
    const int64_t first = groups_.first(k);
    groups_.give_up();
    for (int d = 0; d < this->count(); ++d) {
      wait_for(d, taken_back_);
      wait_for(d, behind_);
    }
    for (int64_t step = first; step <= k; ++step) {
      gather(step);
      hand_out(step, k + 1);
      for (int d = 0; d < this->count(); ++d)
        if (has_part(d, k + 1)) update_behind(d, step, k + 1);
    }
    for (int d = 0; d < this->count(); ++d)
      if (const Event& done = updated(d, k)) ops(d).wait(Queue::panel, done);
  }
  /// Updates block columns from `first` on by panel k.
  void update_behind(int d, int64_t k, int64_t first) {
    this->await(d, Queue::panel, k);
    this->for_each_block(d, first, [&](int64_t I) { update_diagonal(d, k, I); });
    ring_.reads(d, k, ops(d).record(Queue::panel));
    if (!has_part(d, first + 1)) return;
    this->await(d, Queue::update, k);
    this->for_each_block(d, first + 1,
                         [&](int64_t I) { update_row(d, Queue::update, k, I, first, I); });
    updated(d, k) = ops(d).record(Queue::update);
    ring_.reads(d, k, updated(d, k));
  }

  std::vector<Event> updated_;                           ///< of each device, by the last two panels
  std::vector<Event> taken_back_, next_group_, behind_;  ///< of each device, with groups
};

}  // namespace chol::tile
