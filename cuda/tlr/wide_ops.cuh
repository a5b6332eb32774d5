// Solves and products with many right-hand sides: see wide_products.cuh.
#pragma once

#include "tlr/device_ops.cuh"
#include "tlr/wide_launch.hpp"
#include "tlr/wide_stages.hpp"

namespace chol::cuda::tlr {

/// Rows of a stage of a solve, for which dense inverses may have a share of the factor's bytes.
inline constexpr int64_t kStageRows = 2048;
inline constexpr double kInverseShare = 0.6;

/// The memory of wide operations, and what kernels are told of it.
template <class T>
struct CudaTileOps<T>::Wide {
  using Launch = WideLaunch<D>;
  WideCall call{};
  const RightTask* right_tasks = nullptr;
  const LeftTask* left_tasks = nullptr;
  const PartTask *near_tasks = nullptr, *part_tasks = nullptr;
  Buffer<T> W, X, Y, parts;
  int64_t part_elements = 0;  ///< of the parts of one stage
  Buffer<RightColumn> right;
  Buffer<LeftColumn> left;
  int64_t n;
  int all;  ///< columns of a strip
};

/// The columns of all tiles, and the memory for strips of some right-hand sides.
template <class T>
typename CudaTileOps<T>::Wide CudaTileOps<T>::prepare_wide(const backend::LowerTiles<T>& L,
                                                           const WideLists<T>& lists, bool adjoint,
                                                           int64_t columns) {
  Wide wide;
  wide.n = L.starts.back();
  wide.all = columns <= Wide::Launch::kNarrow ? Wide::Launch::kNarrow : Wide::Launch::kMostWide;
  wide.W = this->buffer(lists.rows_of_W * wide.all);
  wide.X = this->buffer(wide.n * wide.all);
  wide.right = Buffer<RightColumn>(lists.right_columns, memory());
  wide.left = Buffer<LeftColumn>(lists.left_columns, memory());
  wide.call.right = wide.right.get();
  wide.call.left = wide.left.get();
  wide.call.identities = send(lists.identities);
  wide.call.starts = send(std::vector<int>(L.starts.begin(), L.starts.end()));
  wide.call.W = wide.W.get();
  wide.call.X = wide.X.get();
  wide.call.adjoint = adjoint;
  wide.call.has_pairs = L.has_pairs;
  Wide::Launch::allow_shared_memory(wide.all);
  Wide::Launch::list_columns(wide.call, send(lists.tiles), lists.count, wide.all, stream_);
  return wide;
}

template <class T>
void CudaTileOps<T>::add_wide(const backend::LowerTiles<T>& L, bool adjoint, int64_t columns,
                              const T* X, int64_t ldx, T* Y, int64_t ldy) {
  using Launch = WideLaunch<D>;
  const WideLists<T> lists(L, adjoint);
  std::vector<RightTask> right;
  std::vector<LeftTask> left;
  lists.add_right(right, 0, lists.count, 0, lists.count, Launch::kTaskRows);
  lists.add_left(left, 0, lists.count, 0, lists.count, Launch::kTaskRows);
  store_.upload.keep_together({bytes_of(lists.tiles), bytes_of(lists.identities),
                               sizeof(int) * L.starts.size(), bytes_of(right), bytes_of(left)});
  Wide wide = prepare_wide(L, lists, adjoint, columns);
  const RightTask* const right_tasks = send(right);
  const LeftTask* const left_tasks = send(left);
  for (int64_t first = 0; first < columns; first += wide.all) {
    wide.call.columns = static_cast<int>(std::min<int64_t>(wide.all, columns - first));
    wide.call.Y = Y + first * ldy;
    wide.call.row_step = 1;
    wide.call.column_step = ldy;
    Launch::gather(device(X) + first * ldx, ldx, wide.n, wide.call.columns, device(wide.X.get()),
                   wide.all, stream_);
    Launch::multiply_right(wide.call, right_tasks, std::ssize(right), wide.all,
                           Launch::Tasks::large, stream_);
    Launch::multiply_left(wide.call, left_tasks, std::ssize(left), wide.all, stream_);
  }
}

template <class T>
int64_t CudaTileOps<T>::stage(const backend::LowerTiles<T>& L, int64_t columns) const {
  if (columns <= kMostSolved || L.starts.size() < 3) return 1;
  double elements = 0;
  const int64_t count = std::ssize(L.starts) - 1;
  const auto rows = [&](int64_t i) { return double(L.starts[i + 1] - L.starts[i]); };
  auto tile = L.tiles.begin();
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < i; ++j, ++tile)
      elements += tile->rank < 0 ? rows(i) * rows(j) : double(tile->rank) * (rows(i) + rows(j));
  const double order = double(L.starts.back()), each = double(L.tile);
  const double most = kInverseShare * (elements + order * each) / (order * each);
  const int64_t wanted = std::min<int64_t>(kStageRows / L.tile, static_cast<int64_t>(most));
  return std::clamp<int64_t>(wanted, 1, count);
}

/// Each stage is one product with the inverse of its rows. The next stage takes the products of
/// those that are near at once; what those before contribute has been added up beside them.
template <class T>
void CudaTileOps<T>::solve_wide(const backend::LowerTiles<T>& L, bool adjoint, int64_t columns,
                                T* B, int64_t ldb) {
  using Launch = WideLaunch<D>;
  const WideLists<T> lists(L, adjoint);
  const WideStages<T> plan(lists, L, adjoint, Launch::kSmallRows, Launch::kTaskRows);
  store_.upload.keep_together({bytes_of(lists.tiles), bytes_of(lists.identities),
                               sizeof(int) * L.starts.size(), bytes_of(plan.right),
                               bytes_of(plan.left), bytes_of(plan.parts)});
  Wide wide = prepare_wide(L, lists, adjoint, columns);
  wide.Y = this->buffer(wide.n * wide.all);
  wide.part_elements = plan.part_rows * wide.all;
  wide.parts = this->buffer(kPartBuffers * wide.part_elements);
  wide.right_tasks = send(plan.right);
  wide.near_tasks = send(plan.left);
  wide.part_tasks = send(plan.parts);
  wide.call.Y = wide.Y.get();
  wide.call.row_step = wide.call.columns = wide.all;
  wide.call.column_step = 1;
  const std::vector<const T*>& inverses = L.stage > 1 ? L.stage_inverses : L.inverses;
  for (int64_t first = 0; first < columns; first += wide.all) {
    const int here = static_cast<int>(std::min<int64_t>(wide.all, columns - first));
    Launch::gather(device(B) + first * ldb, ldb, wide.n, here, device(wide.Y.get()), wide.all,
                   stream_);
    for (size_t s = 0; s + 1 < plan.stages.size(); ++s)
      queue_wide_stage(wide, plan.stages, s, inverses[static_cast<size_t>(plan.stages[s].index)]);
    Launch::scatter(device(wide.X.get()), wide.all, wide.n, here, device(B) + first * ldb, ldb,
                    stream_);
  }
}

template <class T>
void CudaTileOps<T>::queue_wide_stage(Wide& wide, const std::vector<WideStage>& stages, size_t s,
                                      const T* inverse) {
  using Launch = WideLaunch<D>;
  using Tasks = typename Launch::Tasks;
  const size_t count = stages.size() - 1, beyond = s + kNearStages + 1;
  const WideStage &stage = stages[s], &next = stages[s + 1];
  const Strand &sums = store_.strand(Store::cores), &far = store_.strand(Store::samples_ahead);
  // Of the parts of the sums that are formed at a stage, by turns.
  static_assert(kPartBuffers == 3);
  const cudaEvent_t parts[] = {sums.ended, store_.strand(Store::tiles_ahead).ended,
                               store_.strand(Store::sums_ahead).ended};
  const auto wait = [&](cudaStream_t stream, cudaEvent_t event) {
    check(cudaStreamWaitEvent(stream, event, 0), "a wide solve");
  };
  const auto record = [&](cudaEvent_t event, cudaStream_t stream) {
    check(cudaEventRecord(event, stream), "a wide solve");
  };
  const auto use_parts_of = [&](size_t target) {
    wide.call.parts = wide.parts.get() + target % kPartBuffers * wide.part_elements;
    wide.call.part_count = stages[target].part_count;
    wide.call.part_rows = stages[target].order;
  };
  Launch::solve(wide.call, device(inverse), stage.start, stage.order, wide.all, stream_);
  if (s + 1 == count) return;
  const bool has_far = beyond < count;
  if (has_far) record(sums.begun, stream_);
  Launch::multiply_right(wide.call, wide.right_tasks + stage.near_right,
                         stage.far_right - stage.near_right, wide.all, Tasks::small, stream_);
  use_parts_of(s + 1);
  if (wide.call.part_count > 0) wait(stream_, parts[(s + 1) % kPartBuffers]);
  Launch::subtract_all(wide.call, wide.near_tasks + stage.near_left,
                       next.near_left - stage.near_left, wide.all, stream_);
  if (!has_far) return;
  wait(far.stream, sums.begun);
  Launch::multiply_right(wide.call, wide.right_tasks + stage.far_right,
                         next.near_right - stage.far_right, wide.all, Tasks::large, far.stream);
  record(far.ended, far.stream);
  wait(sums.stream, far.ended);
  use_parts_of(beyond);
  Launch::set_parts(wide.call, wide.part_tasks + stage.parts, next.parts - stage.parts, wide.all,
                    sums.stream);
  record(parts[beyond % kPartBuffers], sums.stream);
}

}  // namespace chol::cuda::tlr
