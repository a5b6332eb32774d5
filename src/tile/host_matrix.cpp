#include "tile/host_matrix.hpp"

#include <cmath>
#include <memory>

#include "base/precisions.h"
#include "tile/staging.hpp"

namespace chol::tile {
namespace {

template <class T>
int64_t padded(int64_t n) {
  constexpr int64_t kLine = 128 / sizeof(T) > 0 ? 128 / sizeof(T) : 1;
  return (n + kLine - 1) / kLine * kLine;
}

/// Columns of a block: wide enough for products at full rate, with enough blocks for all devices.
int64_t block_columns(int64_t n, int devices, bool by_planes) {
  constexpr int64_t kMost = 1024, kBlocksOfDevice = 6;
  const int64_t step = by_planes ? 128 : 64;
  return std::clamp(n / (devices * kBlocksOfDevice) / step * step, step, kMost);
}

/// Largest number of columns of a superpanel on one device.
int64_t local_columns(const HostPlan& plan, int devices) {
  return (plan.blocks + devices - 1) / devices * plan.nb;
}

/// One superpanel. Its block columns are loaded when they are needed or their memory is free, and
/// are stored to the host when they are finished.
template <class T>
class Superpanel final : public ColumnSource<T> {
 public:
  /// @param staging nullptr: direct copies.
  Superpanel(const Devices<T>& devices, const View<T>& whole, int64_t n, const HostPlan& plan,
             int64_t first, HostWorkspace<T>& work, Staging<T>* staging, HostProgress* progress)
      : devices_(devices),
        whole_(whole),
        plan_(plan),
        first_(first),
        work_(work),
        staging_(staging),
        progress_(progress) {
    const int count = static_cast<int>(devices.size());
    const int64_t columns = std::min(plan.blocks * plan.nb, n - first);
    A_.over = {columns, plan.nb, count, n - first - columns};
    // The same for all superpanels, so that a block column uses the memory of one of the previous
    // superpanel.
    const int64_t ld = padded<T>(whole.swapped ? local_columns(plan, count) : n);
    for (T* memory : work.columns) A_.local.push_back({memory, ld, whole.swapped});
    const auto blocks = static_cast<size_t>(A_.over.blocks());
    loaded_.resize(blocks);
    finished_.resize(blocks);
    reads_.resize(blocks);
    for (auto& awaited : awaited_) awaited.resize(blocks);
  }

  /// @param next superpanel whose block columns reuse the memory of this one, or nullptr.
  void run(Superpanel* next) {
    if (staging_) staging_->count_from(first_);
    factor(devices_, A_, work_.factor, this);
    const int64_t blocks = A_.over.blocks(), under_way = 2 * A_.over.devices;
    for (int64_t k = 0; k < blocks; ++k) {
      if (!staging_ && k >= under_way) unpack_diagonal(k - under_way);
      send_back(k);
      if (next && k < next->A_.over.blocks()) next->follow(k, reads_[static_cast<size_t>(k)]);
    }
    if (staging_) return staging_->finish();
    for (int64_t k = std::max<int64_t>(0, blocks - under_way); k < blocks; ++k) unpack_diagonal(k);
  }

  void need(Queue queue, int64_t J) override {
    if (!loaded_[static_cast<size_t>(J)]) load_own(J);
    auto awaited = awaited_[queue == Queue::panel ? 0 : 1].begin() + J;
    if (!*awaited) ops(J).wait(queue, loaded_[static_cast<size_t>(J)]);
    *awaited = true;
  }
  int64_t panels_before() const override { return first_ / plan_.nb; }
  int64_t columns_of(int64_t) const override { return plan_.nb; }
  void load(int device, int64_t panel, const View<T>& to) override {
    copy_in(device, to, first_, panel * plan_.nb, A_.over.rows_from(0), plan_.nb);
  }
  void finished(int64_t k, const Event& event) override {
    finished_[static_cast<size_t>(k)] = event;
  }
  void read(int64_t k, const Event& event) override {
    reads_[static_cast<size_t>(k)].push_back(event);
  }

 private:
  PanelOps<T>& ops(int64_t block) const {
    return *devices_[static_cast<size_t>(A_.over.owner(block))];
  }
  void copy_in(int device, const View<T>& to, int64_t row, int64_t column, int64_t rows,
               int64_t columns) {
    progress_->moved += rows * columns;
    if (staging_) return staging_->load(device, to, row, column, rows, columns);
    devices_[static_cast<size_t>(device)]->copy(Queue::load, to, whole_.at(row, column), rows,
                                                columns);
  }
  void load_own(int64_t J) {
    const int64_t at = A_.over.start(J);
    copy_in(A_.over.owner(J), A_.at(at, at), first_ + at, first_ + at, A_.over.rows_from(J),
            A_.over.width(J));
    loaded_[static_cast<size_t>(J)] = ops(J).record(Queue::load);
  }
  /// Loads block column J into the memory of the one that is read until `reads`.
  void follow(int64_t J, const std::vector<Event>& reads) {
    for (const Event& event : reads) ops(J).wait(Queue::load, event);
    load_own(J);
  }
  /// Pinned buffer for diagonal block k on its transfer to the host: nothing outside the triangle
  /// of the host's matrix may be written.
  View<T> diagonal_on_the_way(int64_t k) const {
    const auto size = static_cast<size_t>(plan_.nb * plan_.nb);
    T* const slots =
        static_cast<T*>(ops(k).pinned_memory(backend::Pinned::host_matrix, 2 * size * sizeof(T)));
    return {slots + static_cast<size_t>(k / A_.over.devices % 2) * size, plan_.nb, whole_.swapped};
  }
  void send_back(int64_t k) {
    const int64_t at = A_.over.start(k), end = A_.over.end(k), width = A_.over.width(k);
    PanelOps<T>& owner = ops(k);
    owner.wait(Queue::store, finished_[static_cast<size_t>(k)]);
    progress_->moved += A_.over.rows_from(k) * width;
    if (staging_)
      return read(k, staging_->store(A_.over.owner(k), A_.at(at, at), first_ + at, first_ + at,
                                     A_.over.rows_from(k), width));
    owner.copy(Queue::store, diagonal_on_the_way(k), A_.at(at, at), width, width);
    if (A_.over.rows_after(k) > 0)
      owner.copy(Queue::store, whole_.at(first_ + end, first_ + at), A_.at(end, at),
                 A_.over.rows_after(k), width);
    read(k, owner.record(Queue::store));
  }
  void unpack_diagonal(int64_t k) {
    const int64_t at = first_ + A_.over.start(k), width = A_.over.width(k);
    // The last reader recorded is the transfer to the host.
    ops(k).wait_on_host(reads_[static_cast<size_t>(k)].back());
    ops(k).copy_on_host(whole_.at(at, at), diagonal_on_the_way(k), width, width, true);
  }

  const Devices<T>& devices_;
  const View<T> whole_;
  const HostPlan plan_;
  const int64_t first_;  ///< first column
  HostWorkspace<T>& work_;
  Staging<T>* const staging_;
  HostProgress* const progress_;
  CyclicMatrix<T> A_;
  std::vector<Event> loaded_, finished_;   ///< for each block column
  std::vector<std::vector<Event>> reads_;  ///< readers of each; last, its store
  std::vector<bool> awaited_[2];           ///< by the panel queue, and by the update queue
};

}  // namespace

template <class T>
void HostWorkspace<T>::carve(Arena& arena, PanelOps<T>& ops, int devices, int64_t n,
                             const HostPlan& plan, bool upper) {
  const int64_t mine = local_columns(plan, devices);
  const int64_t elements = upper ? padded<T>(mine) * n : padded<T>(n) * mine;
  columns.push_back(arena.take<T>(static_cast<size_t>(elements)));
  factor.carve(arena, ops, {n, plan.nb, devices}, n, upper, plan.by_planes);
}

template <class T>
HostPlan plan_host_matrix(const Devices<T>& devices, const std::vector<size_t>& bytes, int64_t n,
                          bool upper, bool by_planes) {
  const int count = static_cast<int>(devices.size());
  const auto fits = [&](const HostPlan& plan) {
    for (size_t d = 0; d < devices.size(); ++d) {
      HostWorkspace<T> work;
      Arena arena;
      work.carve(arena, *devices[d], count, n, plan, upper);
      if (arena.used() > bytes[d]) return false;
    }
    return true;
  };
  constexpr int64_t kLeast = 64, kMostOfParts = 512;
  for (int64_t nb = block_columns(n, count, by_planes); nb >= kLeast; nb /= 2) {
    HostPlan plan{nb, (n + nb - 1) / nb};
    plan.by_planes = by_planes;
    if (by_planes && fits(plan)) return plan;
    plan.by_planes = false;
    if (fits(plan)) return plan;
    // Narrower panels leave memory for wider superpanels and run at full rate down to this width.
    if (nb > kMostOfParts) continue;
    // A multiple of the number of devices, so that each superpanel begins at the first device.
    int64_t least = 0, most = (plan.blocks - 1) / count;
    while (least < most) {
      const int64_t middle = (least + most + 1) / 2;
      if (fits({nb, middle * count}))
        least = middle;
      else
        most = middle - 1;
    }
    // With few columns at a time all others are read too often: narrower panels leave more memory.
    constexpr int64_t kRounds = 2;
    if (least >= kRounds || (least > 0 && nb / 2 < kLeast)) return {nb, least * count};
  }
  return {};
}

template <class T>
int factor_host_matrix(const Devices<T>& devices, const View<T>& whole, int64_t n,
                       const HostPlan& plan, HostWorkspace<T>& work, HostProgress* progress) {
  std::unique_ptr<Staging<T>> staging;
  if (plan.staging > 0) {
    staging = std::make_unique<Staging<T>>(devices, whole, n, plan.staging, &progress->returned);
    if (plan.is_kept_before_bad) staging->keep_bad_piece();
  }
  const int64_t width = plan.blocks * plan.nb;
  if (work.factor.group() > 0) {
    work.factor.diagonal.clear();
    for (int64_t i = 0; i < n; ++i) work.factor.diagonal.push_back(*whole.at(i, i).first);
  }
  std::vector<std::unique_ptr<Superpanel<T>>> superpanels;
  for (int64_t first = 0; first < n; first += width)
    superpanels.push_back(std::make_unique<Superpanel<T>>(devices, whole, n, plan, first, work,
                                                          staging.get(), progress));
  for (size_t s = 0; s < superpanels.size(); ++s) {
    superpanels[s]->run(s + 1 < superpanels.size() ? superpanels[s + 1].get() : nullptr);
    for (PanelOps<T>* ops : devices) ops->finish();
    if (const int bad = first_bad_minor(devices); bad > 0)
      return static_cast<int>(static_cast<int64_t>(s) * width) + bad;
  }
  return 0;
}

double least_traffic(int64_t n, const HostPlan& plan, double memory) {
  const double order = static_cast<double>(n), triangle = order * order;
  if (plan.blocks * plan.nb >= n) return triangle;
  return std::max(triangle, order * order * order / (3 * std::sqrt(memory)));
}

#define CHOL_INSTANTIATE(prefix, T, R)                                                            \
  template struct HostWorkspace<T>;                                                               \
  template HostPlan plan_host_matrix<T>(const Devices<T>&, const std::vector<size_t>&, int64_t,   \
                                        bool, bool);                                              \
  template int factor_host_matrix<T>(const Devices<T>&, const View<T>&, int64_t, const HostPlan&, \
                                     HostWorkspace<T>&, HostProgress*);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tile
