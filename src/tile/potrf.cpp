#include "tile/potrf.hpp"

#include "base/precisions.h"
#include "tile/factor_panel.hpp"
#include "tile/peer_copy.hpp"

namespace chol::tile {
namespace {

/// What both distributions share: the panels, who has them and who waits for them.
template <class T>
class Factorization {
 public:
  Factorization(const Devices<T>& devices, const CyclicMatrix<T>& A, PanelRing<T>& ring)
      : devices_(devices), A_(A), over_(A.over), ring_(ring), panels_(PanelRing<T>::kSlots) {
    for (Panel& panel : panels_) panel.arrived.resize(devices.size());
  }

 protected:
  struct Panel {
    int owner = 0;
    Event finished;
    std::vector<Event> arrived;  ///< at each other device
  };

  PanelOps<T>& ops(int device) const { return *devices_[static_cast<size_t>(device)]; }
  int count() const { return static_cast<int>(devices_.size()); }
  Panel& panel(int64_t k) { return panels_[static_cast<size_t>(k % PanelRing<T>::kSlots)]; }
  bool has_after(int device, int64_t block) const {
    return over_.next_of(device, block + 1) < over_.blocks();
  }
  /// Calls body(block) for the blocks from `first` on that the device has.
  template <class Body>
  void for_each_block(int device, int64_t first, Body&& body) const {
    for (int64_t J = over_.next_of(device, first); J < over_.blocks(); J += over_.devices) body(J);
  }

  /// Hands panel k, which lies in `from`, to every device that `wants` it.
  template <class Wants>
  void publish(int64_t k, const View<T>& from, int64_t rows, int64_t columns, Wants&& wants) {
    Panel& given = panel(k);
    for (int d = 0; d < count(); ++d) {
      if (d == given.owner || !wants(d)) continue;
      ops(d).wait(Queue::receive, given.finished);
      ring_.claim(ops(d), Queue::receive, d, k);
      ring_.claimed(d, k);
      copy_between<T>(devices_, d, Queue::receive, {d, ring_.memory(d, k)}, {given.owner, from},
                      rows, columns);
      given.arrived[static_cast<size_t>(d)] = ops(d).record(Queue::receive);
    }
  }
  /// `queue` of the device goes on when panel k is there.
  void await(int device, Queue queue, int64_t k) {
    const Panel& wanted = panel(k);
    if (device != wanted.owner)
      ops(device).wait(queue, wanted.arrived[static_cast<size_t>(device)]);
    else if (queue != Queue::panel)
      ops(device).wait(queue, wanted.finished);
  }

  const Devices<T>& devices_;
  const CyclicMatrix<T>& A_;
  const Distribution& over_;
  PanelRing<T>& ring_;
  std::vector<Panel> panels_;
};

/// Devices have block columns: a panel lies whole at its owner, who works on it in place.
///
/// Diagonal blocks are updated on the queue of panels: they are small triangles, which fill a
/// device only beside the products, and are needed there.
template <class T>
class ByColumns : Factorization<T> {
 public:
  ByColumns(const Devices<T>& devices, const CyclicMatrix<T>& A, PanelRing<T>& ring,
            ColumnSource<T>* source)
      : Factorization<T>(devices, A, ring),
        source_(source),
        before_(source ? source->panels_before() : 0),
        ready_(static_cast<size_t>(A.over.blocks())) {}

  void run() {
    const int64_t blocks = over_.blocks();
    if (blocks == 0) return;
    for (int64_t step = 0; step < before_; ++step) {
      load_panel(step);
      for (int d = 0; d < this->count(); ++d) update_from(d, step, 0);
    }
    if (before_ > 0) wait_for_products(0);
    finish_panel(0);
    for (int64_t k = 0; k + 1 < blocks; ++k) {
      update_next(k);
      finish_panel(k + 1);
      for (int d = 0; d < this->count(); ++d) update_from(d, before_ + k, k + 2);
      if (source_) tell_readers(k);
    }
  }

 private:
  using Base = Factorization<T>;
  using Base::A_, Base::ops, Base::over_, Base::panel, Base::ring_;

  // Steps are counted on from the panels of the columns to the left; panel k of A is step
  // before_ + k.
  bool is_in_place(int device, int64_t step) {
    return step >= before_ && device == panel(step).owner;
  }
  int64_t columns_of(int64_t step) const {
    return step < before_ ? source_->columns_of(step) : over_.width(step - before_);
  }
  /// From its row `row` on.
  View<T> seen_by(int device, int64_t step, int64_t row) {
    const int64_t first = step < before_ ? 0 : over_.start(step - before_);
    return is_in_place(device, step) ? A_.at(row, first)
                                     : ring_.memory(device, step).at(row - first, 0);
  }
  void need(Queue queue, int64_t J) {
    if (source_) source_->need(queue, J);
  }

  /// A panel of the columns to the left comes to one device, and from there to all.
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
    const int64_t first = over_.start(k), step = before_ + k;
    const int owner = over_.owner(k);
    const View<T> here = A_.at(first, first);
    need(Queue::panel, k);
    factor_panel(ops(owner), here, over_.rows_from(k), over_.width(k), first,
                 over_.columns_of(owner) - over_.local_start(k) - over_.width(k));
    panel(step).owner = owner;
    panel(step).finished = ops(owner).record(Queue::panel);
    if (source_) source_->finished(k, panel(step).finished);
    this->publish(step, here, over_.rows_from(k), over_.width(k),
                  [&](int d) { return this->has_after(d, k); });
  }
  /// Of panel k: its owner, whose products with it are queued, and who has a copy.
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
    if (const Event& ready = ready_[static_cast<size_t>(J)])
      ops(over_.owner(J)).wait(Queue::panel, ready);
  }

  /// Block column k + 1 by panel k.
  void update_next(int64_t k) {
    const int64_t J = k + 1, step = before_ + k;
    const int owner = over_.owner(J);
    this->await(owner, Queue::panel, step);
    update_diagonal(owner, step, J);
    if (!has_below(J)) return;
    wait_for_products(J);
    update_below(owner, Queue::panel, step, J);
  }
  /// The block columns of the device from `first` on.
  void update_from(int d, int64_t step, int64_t first) {
    const bool has_any = over_.next_of(d, first) < over_.blocks();
    const bool did_next = step >= before_ && d == over_.owner(first - 1);
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
      // The panels ahead wait for them: of the columns to the left none has been ahead.
      if (J < (step < before_ ? 2 : first + 1))
        ready_[static_cast<size_t>(J)] = ops(d).record(Queue::update);
    });
    if (reads_copy && awaited) ring_.reads(d, step, ops(d).record(Queue::update));
  }

  ColumnSource<T>* const source_;
  const int64_t before_;
  /// Of a block column: the products on the update queue that its panel waits for are done.
  std::vector<Event> ready_;
};

/// Devices have block rows: each has a part of every panel. The parts are gathered at the owner of
/// the diagonal block, and what has become of them is copied back from the panel that all get.
template <class T>
class ByRows : Factorization<T> {
 public:
  ByRows(const Devices<T>& devices, const CyclicMatrix<T>& A, PanelRing<T>& ring)
      : Factorization<T>(devices, A, ring), updated_(2 * devices.size()) {}

  void run() {
    const int64_t blocks = over_.blocks();
    if (blocks == 0) return;
    finish_panel(0);
    for (int64_t k = 0; k < blocks; ++k) {
      if (k + 1 < blocks) {
        for (int d = 0; d < this->count(); ++d) update_next(d, k);
        finish_panel(k + 1);
      }
      for (int d = 0; d < this->count(); ++d) update_rest(d, k);
    }
  }

 private:
  using Base = Factorization<T>;
  using Base::A_, Base::ops, Base::over_, Base::panel, Base::ring_;

  View<T> seen_by(int device, int64_t k, int64_t block) {
    return ring_.memory(device, k).at(over_.start(block) - over_.start(k), 0);
  }
  /// The device has rows of panel k.
  bool has_part(int device, int64_t k) const { return over_.next_of(device, k) < over_.blocks(); }

  /// The device's part of panel k, between its memory and a panel that it can reach.
  template <class Copy>
  void for_each_part(int device, int64_t k, const View<T>& whole, Copy&& copy) {
    this->for_each_block(device, k, [&](int64_t I) {
      copy(A_.at(over_.start(I), over_.start(k)), whole.at(over_.start(I) - over_.start(k), 0),
           over_.width(I));
    });
  }
  void finish_panel(int64_t k) {
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
    factor_panel(ops(owner), whole, over_.rows_from(k), over_.width(k), over_.start(k),
                 PanelRing<T>::kBehind);
    panel(k).owner = owner;
    panel(k).finished = ops(owner).record(Queue::panel);
    this->publish(k, whole, over_.rows_from(k), over_.width(k),
                  [&](int d) { return has_part(d, k); });
    for (int d = 0; d < this->count(); ++d)
      if (d != owner && has_part(d, k))
        ring_.reads(owner, k, panel(k).arrived[static_cast<size_t>(d)]);
  }
  void update_diagonal(int device, int64_t k, int64_t I) {
    const int64_t at = over_.start(I);
    ops(device).update_diagonal(Queue::panel, A_.at(at, at), seen_by(device, k, I), over_.width(I),
                                over_.width(k));
  }

  Event& updated(int device, int64_t k) {
    return updated_[static_cast<size_t>(2 * device + k % 2)];
  }
  /// The device's part of block column k + 1 by panel k.
  void update_next(int d, int64_t k) {
    if (!has_part(d, k + 1)) return;
    this->await(d, Queue::panel, k);
    if (k > 0 && updated(d, k - 1)) ops(d).wait(Queue::panel, updated(d, k - 1));
    this->for_each_block(d, k + 1, [&](int64_t I) {
      if (I == k + 1) return update_diagonal(d, k, I);
      ops(d).update(Queue::panel, A_.at(over_.start(I), over_.start(k + 1)), seen_by(d, k, I),
                    seen_by(d, k, k + 1), over_.width(I), over_.width(k + 1), over_.width(k));
    });
  }
  /// What the device has of the block columns behind it, after its part of panel k is back.
  void update_rest(int d, int64_t k) {
    if (!has_part(d, k)) return;
    if (has_part(d, k + 1))
      this->for_each_block(d, k + 2, [&](int64_t I) { update_diagonal(d, k, I); });
    ring_.reads(d, k, ops(d).record(Queue::panel));
    this->await(d, Queue::update, k);
    for_each_part(d, k, ring_.memory(d, k),
                  [&](const View<T>& mine, const View<T>& here, int64_t rows) {
                    ops(d).copy(Queue::update, mine, here, rows, over_.width(k));
                  });
    this->for_each_block(d, k + 3, [&](int64_t I) {
      const int64_t first = over_.start(k + 2), at = over_.start(I);
      ops(d).update(Queue::update, A_.at(at, first), seen_by(d, k, I), seen_by(d, k, k + 2),
                    over_.width(I), at - first, over_.width(k));
    });
    updated(d, k) = ops(d).record(Queue::update);
    ring_.reads(d, k, updated(d, k));
  }

  std::vector<Event> updated_;  ///< of a device, by the last two panels
};

}  // namespace

template <class T>
void factor(const Devices<T>& devices, const CyclicMatrix<T>& A, PotrfWorkspace<T>& work,
            ColumnSource<T>* source) {
  if (A.by_rows)
    ByRows<T>(devices, A, work.ring).run();
  else
    ByColumns<T>(devices, A, work.ring, source).run();
}

template <class T>
int first_bad_minor(const Devices<T>& devices) {
  int first = 0;
  for (PanelOps<T>* ops : devices)
    if (const int bad = ops->info(); bad > 0 && (first == 0 || bad < first)) first = bad;
  return first;
}

#define CHOL_INSTANTIATE(prefix, T, R)                                                   \
  template void factor<T>(const Devices<T>&, const CyclicMatrix<T>&, PotrfWorkspace<T>&, \
                          ColumnSource<T>*);                                             \
  template int first_bad_minor<T>(const Devices<T>&);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tile
