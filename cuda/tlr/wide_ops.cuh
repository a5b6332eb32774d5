// Solves and products with many right-hand sides: see wide_products.cuh and wide_chain.cuh.
#pragma once

#include "tlr/device_ops.cuh"
#include "tlr/wide_launch.hpp"

namespace chol::cuda::tlr {

/// Block columns that are solved for between two updates of all that follow.
inline constexpr int kChainColumns = 8;

/// The memory of wide operations, and what kernels are told of it.
template <class T>
struct CudaTileOps<T>::Wide {
  using Launch = WideLaunch<D>;
  WideCall call{};
  const RightTask* right_tasks = nullptr;
  const LeftTask* left_tasks = nullptr;
  const ChainLink* links = nullptr;
  Buffer<T> W, X, Y;
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

/// What is done for some block columns of a solve, as parts of lists. Near ones are the block rows
/// that are solved for next.
struct WideStage {
  int64_t links, near_right, near_left, far_right, next_left, far_left;
};

/// Solves for some block columns, one after the other, and takes them from all others: from those
/// that are next at once, from the rest beside the solves that follow.
template <class T>
void CudaTileOps<T>::solve_wide(const backend::LowerTiles<T>& L, bool adjoint, int64_t columns,
                                T* B, int64_t ldb) {
  using Launch = WideLaunch<D>;
  const WideLists<T> lists(L, adjoint);
  const int count = lists.count, rows = Launch::kTaskRows;
  std::vector<RightTask> right;
  std::vector<LeftTask> left;
  std::vector<ChainLink> links;
  std::vector<WideStage> stages;
  const auto begin_stage = [&] {
    stages.push_back({std::ssize(links), std::ssize(right), std::ssize(left), 0, 0, 0});
  };
  for (int begin = 0; begin < count; begin += kChainColumns) {
    const int end = std::min(begin + kChainColumns, count);
    const int next = std::min(end + kChainColumns, count);
    const int after = std::min(next + kChainColumns, count);
    begin_stage();
    WideStage& stage = stages.back();
    lists.add_chain(links, begin, end);
    lists.add_right(right, begin, end, end, next, Launch::kSmallRows);
    lists.add_left(left, begin, end, end, next, Launch::kSmallRows);
    stage.far_right = std::ssize(right);
    lists.add_right(right, begin, end, next, count, rows);
    stage.next_left = std::ssize(left);
    lists.add_left(left, begin, end, next, after, rows);
    stage.far_left = std::ssize(left);
    lists.add_left(left, begin, end, after, count, rows);
  }
  begin_stage();
  const int64_t steps = std::ssize(stages) - 1;
  const auto multiprocessors = device_attribute(cudaDevAttrMultiProcessorCount);
  const int parts = static_cast<int>(std::clamp<int64_t>(
      multiprocessors / 2, 1,
      std::min<int64_t>(16, (L.tile + Launch::kSmallRows - 1) / Launch::kSmallRows)));
  constexpr int kApart = 32 * (Launch::kMostWide / Launch::kNarrow);  // counts of different lines
  const Buffer<int> arrivals(steps * kApart, memory());
  store_.upload.keep_together({bytes_of(lists.tiles), bytes_of(lists.identities),
                               sizeof(int) * L.starts.size(), sizeof(void*) * L.inverses.size(),
                               bytes_of(right), bytes_of(left), bytes_of(links)});
  Wide wide = prepare_wide(L, lists, adjoint, columns);
  wide.Y = this->buffer(wide.n * wide.all);
  wide.call.inverses = send(std::vector<const void*>(L.inverses.begin(), L.inverses.end()));
  wide.right_tasks = send(right);
  wide.left_tasks = send(left);
  wide.links = send(links);
  wide.call.Y = wide.Y.get();
  wide.call.row_step = wide.call.columns = wide.all;
  wide.call.column_step = 1;
  wide.call.subtracts = true;
  wide.call.parts = parts;
  for (int64_t first = 0; first < columns; first += wide.all) {
    const int here = static_cast<int>(std::min<int64_t>(wide.all, columns - first));
    Launch::gather(device(B) + first * ldb, ldb, wide.n, here, device(wide.Y.get()), wide.all,
                   stream_);
    check(cudaMemsetAsync(arrivals.get(), 0, sizeof(int) * static_cast<size_t>(arrivals.count()),
                          stream_),
          "a wide solve");
    for (int64_t s = 0; s < steps; ++s) {
      wide.call.arrivals = arrivals.get() + s * kApart;
      queue_wide_stage(wide, stages[s], stages[s + 1], s > 0);
    }
    Launch::scatter(device(wide.X.get()), wide.all, wide.n, here, device(B) + first * ldb, ldb,
                    stream_);
  }
}

template <class T>
void CudaTileOps<T>::queue_wide_stage(const Wide& wide, const WideStage& stage,
                                      const WideStage& behind, bool has_former) {
  using Launch = WideLaunch<D>;
  const Strand& strand = store_.strand(Store::samples_ahead);
  using Tasks = typename Launch::Tasks;
  const auto multiply_right = [&](int64_t from, int64_t to, Tasks size, cudaStream_t stream) {
    Launch::multiply_right(wide.call, wide.right_tasks + from, to - from, wide.all, size, stream);
  };
  const auto multiply_left = [&](int64_t from, int64_t to, Tasks size, cudaStream_t stream) {
    Launch::multiply_left(wide.call, wide.left_tasks + from, to - from, wide.all, size, stream);
  };
  Launch::solve_chain(wide.call, wide.links + stage.links,
                      static_cast<int>(behind.links - stage.links), wide.all, stream_);
  check(cudaEventRecord(strand.begun, stream_), "a wide solve");
  multiply_right(stage.near_right, stage.far_right, Tasks::small, stream_);
  // What the stage before does beside the chain concerns the rows that are next now.
  if (has_former) check(cudaStreamWaitEvent(stream_, strand.ended, 0), "a wide solve");
  multiply_left(stage.near_left, stage.next_left, Tasks::small, stream_);
  check(cudaStreamWaitEvent(strand.stream, strand.begun, 0), "a wide solve");
  multiply_right(stage.far_right, behind.near_right, Tasks::large, strand.stream);
  multiply_left(stage.next_left, stage.far_left, Tasks::large, strand.stream);
  check(cudaEventRecord(strand.ended, strand.stream), "a wide solve");
  multiply_left(stage.far_left, behind.near_left, Tasks::large, strand.stream);
}

}  // namespace chol::cuda::tlr
