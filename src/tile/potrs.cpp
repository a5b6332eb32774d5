#include "tile/potrs.hpp"

#include "base/precisions.h"
#include "tile/peer_copy.hpp"

namespace chol::tile {
namespace {

template <class T>
class Sweeps {
 public:
  Sweeps(const Devices<T>& devices, FactorColumns<T>& A, int64_t nrhs, T* B, int64_t ldb,
         PotrsWorkspace<T>& work)
      : devices_(devices),
        A_(A),
        over_(A.over()),
        upper_(A.upper()),
        nrhs_(nrhs),
        B_(B),
        ldb_(ldb),
        work_(work),
        solved_(static_cast<size_t>(over_.blocks())),
        next_subtracted_(solved_.size()),
        rest_subtracted_(solved_.size()),
        received_(devices.size()) {}

  void run() {
    for (int d = 0; d < count(); ++d) load(d);
    if (upper_) {
      multiply_solved(true);
      for (int d = 0; d < count(); ++d) clear_others(d);
      add_up(false);
    } else {
      add_up(true);
      multiply_solved(false);
    }
    for (int64_t k = 0; k < over_.blocks(); ++k) store(k);
  }

 private:
  PanelOps<T>& ops(int device) const { return *devices_[static_cast<size_t>(device)]; }
  int count() const { return static_cast<int>(devices_.size()); }
  T* X(int device, int64_t block) const {
    return work_.devices[static_cast<size_t>(device)].X + over_.start(block);
  }
  T* incoming(int device, int from) const {
    return work_.devices[static_cast<size_t>(device)].incoming +
           from * work_.block_ld * work_.columns;
  }
  /// Rows of block i in block column k of the factor, as stored.
  backend::Stored<T> stored(int64_t i, int64_t k, bool adjoint) const {
    return A_.at(i, k, adjoint);
  }
  Event& solved(int64_t k) { return solved_[static_cast<size_t>(k)]; }

  /// Copies the device's blocks of B to X and sets the other blocks to zero.
  void load(int d) {
    ops(d).clear(Queue::load, X(d, 0), work_.ld, over_.n, nrhs_);
    for (int64_t k = d; k < over_.blocks(); k += over_.devices)
      ops(d).copy(Queue::load, {X(d, k), work_.ld}, {B_ + over_.start(k), ldb_}, over_.width(k),
                  nrhs_);
    const Event loaded = ops(d).record(Queue::load);
    for (const Queue queue : {Queue::update, Queue::receive}) ops(d).wait(queue, loaded);
  }
  void store(int64_t k) {
    const int owner = over_.owner(k);
    ops(owner).wait(Queue::store, solved(k));
    ops(owner).copy(Queue::store, {B_ + over_.start(k), ldb_}, {X(owner, k), work_.ld},
                    over_.width(k), nrhs_);
  }
  void solve_block(int owner, int64_t k, bool adjoint) {
    ops(owner).solve(Queue::update, upper_, stored(k, k, adjoint), over_.width(k), nrhs_,
                     X(owner, k), work_.ld);
    solved(k) = ops(owner).record(Queue::update);
  }

  /// Sweep that subtracts products in advance, from the first block on or from the last.
  void add_up(bool ascending) {
    const int64_t blocks = over_.blocks();
    for (int64_t at = 0; at < blocks; ++at) {
      const int64_t k = ascending ? at : blocks - 1 - at, next = ascending ? k + 1 : k - 1;
      const int owner = over_.owner(k);
      for (int64_t back = 1; back < std::min<int64_t>(over_.devices, at + 1); ++back)
        add_from(owner, k, ascending ? k - back : k + back, back == 1);
      A_.need(k);
      solve_block(owner, k, false);
      if (at + 1 < blocks) {
        subtract(owner, k, next, next);
        next_subtracted_[static_cast<size_t>(k)] = ops(owner).record(Queue::update);
      }
      if (at + 2 < blocks) {
        subtract(owner, k, ascending ? k + 2 : 0, ascending ? blocks - 1 : k - 2);
        rest_subtracted_[static_cast<size_t>(k)] = ops(owner).record(Queue::update);
      }
      A_.done(k);
    }
  }
  /// The owner of block k adds the products that the owner of block j has subtracted for it.
  void add_from(int owner, int64_t k, int64_t j, bool is_next) {
    const int from = over_.owner(j);
    auto& receiver = ops(owner);
    const auto& subtracted = is_next ? next_subtracted_ : rest_subtracted_;
    receiver.wait(Queue::receive, subtracted[static_cast<size_t>(j)]);
    // The previous block must have been added.
    if (const Event& added = received_[static_cast<size_t>(owner)])
      receiver.wait(Queue::receive, added);
    copy_between<T>(devices_, owner, Queue::receive,
                    {owner, {incoming(owner, from), work_.block_ld}},
                    {from, {X(from, k), work_.ld}}, over_.width(k), nrhs_);
    receiver.wait(Queue::update, receiver.record(Queue::receive));
    receiver.add(Queue::update, X(owner, k), work_.ld, incoming(owner, from), work_.block_ld,
                 over_.width(k), nrhs_);
    received_[static_cast<size_t>(owner)] = receiver.record(Queue::update);
  }
  void subtract(int owner, int64_t k, int64_t first, int64_t last) {
    ops(owner).multiply(Queue::update, -1, stored(first, k, false), {X(owner, k), work_.ld}, 1,
                        X(owner, first), work_.ld, rows(first, last), nrhs_, over_.width(k));
  }
  int64_t rows(int64_t first, int64_t last) const {
    return over_.start(last) + over_.width(last) - over_.start(first);
  }

  /// Sweep that solves a block by products with all solved blocks.
  void multiply_solved(bool ascending) {
    const int64_t blocks = over_.blocks();
    for (int64_t at = 0; at < blocks; ++at) {
      const int64_t k = ascending ? at : blocks - 1 - at;
      const int owner = over_.owner(k);
      const int64_t near = std::min<int64_t>(over_.devices - 1, at);
      A_.need(k);
      if (near > 0) {
        // The block solved last arrives last.
        ops(owner).wait(Queue::update, arrived_);
        subtract_product(owner, k, ascending ? k - near : k + 1, ascending ? k - 1 : k + near);
      }
      solve_block(owner, k, true);
      A_.done(k);
      broadcast(owner, k);
      // The products for the owner's next block that do not depend on other blocks.
      const int64_t mine = ascending ? k + over_.devices : k - over_.devices;
      if (mine < 0 || mine >= blocks) continue;
      A_.need(mine);
      subtract_product(owner, mine, ascending ? 0 : k, ascending ? k : blocks - 1);
    }
  }
  /// Subtracts the product of rows [first, last] of column k with the solved blocks from block k.
  void subtract_product(int owner, int64_t k, int64_t first, int64_t last) {
    ops(owner).multiply(Queue::update, -1, stored(first, k, true), {X(owner, first), work_.ld}, 1,
                        X(owner, k), work_.ld, over_.width(k), nrhs_, rows(first, last));
  }
  void broadcast(int owner, int64_t k) {
    for (int d = 0; d < count(); ++d) {
      const bool has_more = upper_ ? over_.next_of(d, k + 1) < over_.blocks() : d < k;
      if (d == owner || !has_more) continue;
      ops(d).wait(Queue::receive, solved(k));
      copy_between<T>(devices_, d, Queue::receive, {d, {X(d, k), work_.ld}},
                      {owner, {X(owner, k), work_.ld}}, over_.width(k), nrhs_);
      const Event here = ops(d).record(Queue::receive);
      if (d == next_owner(k)) arrived_ = here;
    }
  }
  int next_owner(int64_t k) const { return over_.owner(upper_ ? k + 1 : k + over_.devices - 1); }
  void clear_others(int d) {
    ops(d).wait(Queue::update, ops(d).record(Queue::receive));
    for (int64_t k = 0; k < over_.blocks(); ++k)
      if (over_.owner(k) != d)
        ops(d).clear(Queue::update, X(d, k), work_.ld, over_.width(k), nrhs_);
  }

  const Devices<T>& devices_;
  FactorColumns<T>& A_;
  const Distribution& over_;
  const bool upper_;
  const int64_t nrhs_;
  T* const B_;
  const int64_t ldb_;
  PotrsWorkspace<T>& work_;
  std::vector<Event> solved_;           ///< for each block
  std::vector<Event> next_subtracted_;  ///< for the next block,
  std::vector<Event> rest_subtracted_;  ///< and for all others
  std::vector<Event> received_;         ///< for each device: the block received last has been added
  Event arrived_;                       ///< the block solved last, at the next owner
};

}  // namespace

template <class T>
void solve(const Devices<T>& devices, FactorColumns<T>& A, int64_t nrhs, T* B, int64_t ldb,
           PotrsWorkspace<T>& work) {
  for (int64_t first = 0; first < nrhs; first += work.columns) {
    if (first > 0)
      for (PanelOps<T>* ops : devices) ops->finish();
    const int64_t columns = std::min(work.columns, nrhs - first);
    Sweeps<T>(devices, A, columns, B + first * ldb, ldb, work).run();
  }
}

#define CHOL_INSTANTIATE(prefix, T, R)                                               \
  template void solve<T>(const Devices<T>&, FactorColumns<T>&, int64_t, T*, int64_t, \
                         PotrsWorkspace<T>&);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tile
