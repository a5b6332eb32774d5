#include "tile/potri.hpp"

#include "base/precisions.h"
#include "tile/peer_copy.hpp"

namespace chol::tile {
namespace {

template <class T>
class Inversion {
 public:
  Inversion(const Devices<T>& devices, const CyclicMatrix<T>& A, PanelRing<T>& ring)
      : devices_(devices),
        over_(A.over),
        A_(A),
        upper_(A.local.front().swapped),
        ring_(ring),
        final_(devices.size()) {}

  void run() {
    const int64_t blocks = over_.blocks();
    for (int64_t at = 0; at < blocks; ++at)
      step(upper_ ? blocks - 1 - at : at, [this](int d, int64_t j) { invert_factor(d, j); });
    for (int d = 0; d < count(); ++d) final_[static_cast<size_t>(d)] = ops(d).record(Queue::update);
    for (int64_t k = 0; k < blocks; ++k)
      step(k, [this](int d, int64_t j) { multiply_by_adjoint(d, j); });
  }

 private:
  PanelOps<T>& ops(int device) const { return *devices_[static_cast<size_t>(device)]; }
  int count() const { return static_cast<int>(devices_.size()); }
  /// Rows of the triangle in block column j outside its diagonal block, [first, end).
  int64_t first_beside(int64_t j) const { return upper_ ? 0 : over_.end(j); }
  int64_t end_beside(int64_t j) const { return upper_ ? over_.start(j) : over_.n; }
  int64_t rows_beside(int64_t j) const { return end_beside(j) - first_beside(j); }

  T* stored(int device, int64_t row, int64_t local_column) const {
    const View<T>& local = A_.local[static_cast<size_t>(device)];
    return local.first + local_column * local.ld + row;
  }
  int64_t ld(int device) const { return A_.local[static_cast<size_t>(device)].ld; }

  /// Broadcasts block column j and calls each device's part: that of the owner last, since it
  /// overwrites the column.
  template <class Part>
  void step(int64_t j, Part&& part) {
    const int owner = over_.owner(j);
    const int64_t from = upper_ ? 0 : over_.start(j), to = upper_ ? over_.end(j) : over_.n;
    arrived_.clear();
    for (int d = 0; d < count(); ++d) {
      if (d == owner || over_.columns_of(d) == 0) continue;
      if (final_[static_cast<size_t>(owner)])
        ops(d).wait(Queue::receive, final_[static_cast<size_t>(owner)]);
      ring_.claim(ops(d), Queue::receive, d, step_);
      ring_.claimed(d, step_);
      copy_between<T>(devices_, d, Queue::receive, {d, ring_.memory(d, step_).at(from, 0)},
                      {owner, {stored(owner, from, over_.local_start(j)), ld(owner)}}, to - from,
                      over_.width(j));
      arrived_.push_back(ops(d).record(Queue::receive));
      ops(d).wait(Queue::update, arrived_.back());
      part(d, j);
      ring_.reads(d, step_, ops(d).record(Queue::update));
    }
    part(owner, j);
    ++step_;
  }
  backend::Stored<T> panel(int device, int64_t j, int64_t row, bool adjoint = false) {
    if (device == over_.owner(j))
      return {stored(device, row, over_.local_start(j)), ld(device), adjoint};
    const View<T>& copy = ring_.memory(device, step_);
    return {copy.at(row, 0).first, copy.ld, adjoint};
  }
  void wait_for_copies(int owner) {
    for (const Event& there : arrived_) ops(owner).wait(Queue::update, there);
  }

  /// The device's columns of blocks before `j`, or of the blocks after it.
  struct Columns {
    int64_t first, count;
  };
  Columns columns(int device, int64_t j, bool behind) const {
    const int64_t next = over_.next_of(device, behind ? j + 1 : j);
    const int64_t total = over_.columns_of(device);
    const int64_t at = next < over_.blocks() ? over_.local_start(next) : total;
    return behind ? Columns{at, total - at} : Columns{0, at};
  }

  /// Rows of block j of the inverse, and their products with the remaining rows.
  void invert_factor(int d, int64_t j) {
    const Columns done = columns(d, j, upper_);
    const int64_t width = over_.width(j), beside = first_beside(j), rows = rows_beside(j);
    PanelOps<T>& o = ops(d);
    if (done.count > 0) {
      T* const mine = stored(d, over_.start(j), done.first);
      o.solve(Queue::update, upper_, panel(d, j, over_.start(j)), width, done.count, mine, ld(d));
      if (rows > 0)
        o.multiply(Queue::update, -1, panel(d, j, beside), {mine, ld(d)}, 1,
                   stored(d, beside, done.first), ld(d), rows, done.count, width);
    }
    if (d != over_.owner(j)) return;
    wait_for_copies(d);
    const backend::Stored<T> block = panel(d, j, over_.start(j));
    if (rows > 0)
      o.solve_right(Queue::update, -1, upper_, block, width, rows, panel(d, j, beside).first,
                    ld(d));
    o.invert_triangle(Queue::update, upper_, block.first, ld(d), width);
  }

  /// X^H X of a lower triangle X, X X^H of an upper one.
  void multiply_by_adjoint(int d, int64_t j) {
    upper_ ? add_products(d, j) : replace_row(d, j);
    if (d != over_.owner(j)) return;
    wait_for_copies(d);
    const int64_t width = over_.width(j), beside = first_beside(j), rows = rows_beside(j);
    PanelOps<T>& o = ops(d);
    const backend::Stored<T> block = panel(d, j, over_.start(j), true);
    if (upper_ && rows > 0)
      o.multiply_triangle(Queue::update, false, true, block, width, rows, panel(d, j, beside).first,
                          ld(d));
    o.square_triangle(Queue::update, upper_, block.first, ld(d), width);
    if (!upper_ && rows > 0)
      o.add_square(Queue::update, false, panel(d, j, beside, true), width, rows, block.first,
                   ld(d));
  }
  /// Row j of the lower triangle of X^H X.
  void replace_row(int d, int64_t j) {
    const Columns before = columns(d, j, false);
    if (before.count == 0) return;
    const int64_t width = over_.width(j), beside = first_beside(j), rows = rows_beside(j);
    T* const row = stored(d, over_.start(j), before.first);
    ops(d).multiply_triangle(Queue::update, true, false, panel(d, j, over_.start(j), true), width,
                             before.count, row, ld(d));
    if (rows > 0)
      ops(d).multiply(Queue::update, 1, panel(d, j, beside, true),
                      {stored(d, beside, before.first), ld(d)}, 1, row, ld(d), width, before.count,
                      rows);
  }
  /// Adds the products of column j of X with its adjoint to the preceding columns of the upper
  /// triangle.
  void add_products(int d, int64_t j) {
    for (int64_t c = d; c < j; c += over_.devices) {
      const int64_t width = over_.width(c), local = over_.local_start(c), above = over_.start(c);
      if (above > 0)
        ops(d).multiply(Queue::update, 1, panel(d, j, 0), panel(d, j, above, true), 1,
                        stored(d, 0, local), ld(d), above, width, over_.width(j));
      ops(d).add_square(Queue::update, true, panel(d, j, above), width, over_.width(j),
                        stored(d, above, local), ld(d));
    }
  }

  const Devices<T>& devices_;
  const Distribution& over_;
  const CyclicMatrix<T>& A_;
  const bool upper_;
  PanelRing<T>& ring_;
  int64_t step_ = 0;
  std::vector<Event> final_;    ///< for each device: its part of the inverted factor is finished
  std::vector<Event> arrived_;  ///< block column of this step, at each device except its owner
};

}  // namespace

template <class T>
void invert(const Devices<T>& devices, const CyclicMatrix<T>& A, PotriWorkspace<T>& work) {
  Inversion<T>(devices, A, work.ring).run();
}

#define CHOL_INSTANTIATE(prefix, T, R) \
  template void invert<T>(const Devices<T>&, const CyclicMatrix<T>&, PotriWorkspace<T>&);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tile
