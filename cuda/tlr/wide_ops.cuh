// Solves and products with many right-hand sides: see wide_products.cuh.
#pragma once

#include "tlr/device_ops.cuh"
#include "tlr/wide_launch.hpp"
#include "tlr/wide_stages.hpp"

namespace chol::cuda::tlr {

/// Rows of a stage of a solve, for which dense inverses may have a share of the factor's bytes.
inline constexpr int64_t kStageRows = 2048;
inline constexpr double kInverseShare = 0.25;

/// The memory of wide operations, and what kernels are told of it.
template <class T>
struct CudaTileOps<T>::Wide {
  using Launch = WideLaunch<D>;
  WideCall call{};
  const RightTask* right_tasks = nullptr;
  const LeftTask* left_tasks = nullptr;
  const PartTask* part_tasks = nullptr;
  Buffer<T> W, X, Y, parts;
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
    Launch::multiply_left(wide.call, left_tasks, std::ssize(left), wide.all, Launch::Tasks::large,
                          stream_);
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

/// Each stage is one product with the inverse of its rows. The stage that is next takes its
/// products from it at once; those of the others are formed beside the stages that follow, and
/// become sums two stages before these are needed.
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
  wide.parts = this->buffer(plan.part_rows * wide.all);
  wide.right_tasks = send(plan.right);
  wide.left_tasks = send(plan.left);
  wide.part_tasks = send(plan.parts);
  wide.call.Y = wide.Y.get();
  wide.call.parts = wide.parts.get();
  wide.call.row_step = wide.call.columns = wide.all;
  wide.call.column_step = 1;
  wide.call.subtracts = true;
  const std::vector<const T*>& inverses = L.stage > 1 ? L.stage_inverses : L.inverses;
  for (int64_t first = 0; first < columns; first += wide.all) {
    const int here = static_cast<int>(std::min<int64_t>(wide.all, columns - first));
    Launch::gather(device(B) + first * ldb, ldb, wide.n, here, device(wide.Y.get()), wide.all,
                   stream_);
    for (size_t s = 0; s + 1 < plan.stages.size(); ++s)
      queue_wide_stage(wide, plan.stages.data() + s, s == 0, plan.stages.size() - 1 - s,
                       inverses[static_cast<size_t>(plan.stages[s].index)]);
    for (const auto kind : {Store::cores, Store::samples_ahead})
      check(cudaStreamWaitEvent(stream_, store_.strand(kind).ended, 0), "a wide solve");
    Launch::scatter(device(wide.X.get()), wide.all, wide.n, here, device(B) + first * ldb, ldb,
                    stream_);
  }
}

/// @param left stages from this one on
template <class T>
void CudaTileOps<T>::queue_wide_stage(const Wide& wide, const WideStage* stage, bool is_first,
                                      size_t left, const T* inverse) {
  using Launch = WideLaunch<D>;
  using Tasks = typename Launch::Tasks;
  const Strand &sums = store_.strand(Store::cores), &far = store_.strand(Store::samples_ahead);
  const auto multiply_right = [&](int64_t from, int64_t to, Tasks size, cudaStream_t stream) {
    Launch::multiply_right(wide.call, wide.right_tasks + from, to - from, wide.all, size, stream);
  };
  const auto wait = [&](cudaStream_t stream, cudaEvent_t event) {
    check(cudaStreamWaitEvent(stream, event, 0), "a wide solve");
  };
  const auto record = [&](cudaEvent_t event, cudaStream_t stream) {
    check(cudaEventRecord(event, stream), "a wide solve");
  };
  Launch::solve(wide.call, device(inverse), stage->start, stage->order, wide.all, stream_);
  record(sums.begun, stream_);
  if (left > 1) {
    multiply_right(stage->near_right, stage->next_right, Tasks::small, stream_);
    if (!is_first) wait(stream_, sums.ended);  // the sums of the next stage
    Launch::multiply_left(wide.call, wide.left_tasks + stage->near_left,
                          stage[1].near_left - stage->near_left, wide.all, Tasks::small, stream_);
  }
  wait(sums.stream, sums.begun);
  wait(far.stream, sums.begun);
  if (left > 2) {
    multiply_right(stage->next_right, stage->far_right, Tasks::large, sums.stream);
    if (!is_first) wait(sums.stream, far.ended);  // products of the stage before
    Launch::set_parts(wide.call, wide.part_tasks + stage->parts, stage[1].parts - stage->parts,
                      wide.all, sums.stream);
    Launch::subtract_parts(wide.call, stage->part_count, stage[2].start, stage[2].order, wide.all,
                           sums.stream);
  }
  record(sums.ended, sums.stream);
  if (left > 3) multiply_right(stage->far_right, stage[1].near_right, Tasks::large, far.stream);
  record(far.ended, far.stream);
}

}  // namespace chol::cuda::tlr
