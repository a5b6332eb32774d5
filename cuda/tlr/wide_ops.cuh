// Solves and products with many right-hand sides: see wide_products.cuh.
#pragma once

#include "tlr/device_ops.cuh"
#include "tlr/thin_launch.hpp"
#include "tlr/wide_launch.hpp"
#include "tlr/wide_stages.hpp"

namespace chol::cuda::tlr {

/// Rows of a stage of a solve. The dense inverses may take a limited share of the factor's bytes.
inline constexpr int64_t kStageRows = 2048;
inline constexpr double kInverseShare = 0.6;

/// The lists of a sweep in device memory.
template <class T>
struct CudaTileOps<T>::WidePlan final : backend::SweepPlan {
  WideCall call{};
  Buffer<RightColumn> right;
  Buffer<LeftColumn> left;
  std::vector<Buffer<char>> lists;
  int64_t rows_of_W = 0, right_count = 0, left_count = 0;
  const RightTask* right_tasks = nullptr;
  const LeftTask* left_tasks = nullptr;
  const PartTask *near_tasks = nullptr, *part_tasks = nullptr;
  std::vector<WideStage> stages;
  int64_t part_rows = 0;  ///< number of rows of the parts of one stage
};

/// Memory of one call, in addition to a plan.
template <class T>
struct CudaTileOps<T>::Wide {
  const WidePlan& plan;
  WideCall call;
  int all;  ///< columns of a strip
  Buffer<T> W, X, Y, parts;
};

template <class T>
template <class E>
const E* CudaTileOps<T>::keep(const std::vector<E>& list, WidePlan& plan) {
  plan.lists.emplace_back(static_cast<int64_t>(bytes_of(list)), memory());
  char* const to = plan.lists.back().get();
  check(cudaMemcpyAsync(to, list.data(), bytes_of(list), cudaMemcpyHostToDevice, stream_), "plan");
  return reinterpret_cast<const E*>(to);
}

/// @param add_tasks (lists, plan): creates the lists of tasks
template <class T>
template <class AddTasks>
const typename CudaTileOps<T>::WidePlan& CudaTileOps<T>::wide_plan(const backend::LowerTiles<T>& L,
                                                                   bool adjoint, int kind,
                                                                   const AddTasks& add_tasks) {
  std::unique_ptr<backend::SweepPlan>& place =
      (*L.plans)[static_cast<size_t>(2 * kind + int{adjoint})];
  if (!place) {
    auto plan = std::make_unique<WidePlan>();
    const WideLists<T> lists(L, adjoint);
    plan->rows_of_W = lists.rows_of_W;
    plan->right = Buffer<RightColumn>(lists.right_columns, memory());
    plan->left = Buffer<LeftColumn>(lists.left_columns, memory());
    plan->call.right = plan->right.get();
    plan->call.left = plan->left.get();
    plan->call.identities = keep(lists.identities, *plan);
    plan->call.starts = keep(std::vector<int>(L.starts.begin(), L.starts.end()), *plan);
    plan->call.adjoint = adjoint;
    plan->call.has_pairs = L.has_pairs;
    plan->call.tile = static_cast<int>(L.tile);
    WideLaunch<D>::list_columns(plan->call, keep(lists.tiles, *plan), lists.count, stream_);
    add_tasks(lists, *plan);
    place = std::move(plan);
  }
  return static_cast<const WidePlan&>(*place);
}

/// The memory for the strips of the right-hand sides.
template <class T>
typename CudaTileOps<T>::Wide CudaTileOps<T>::prepare_wide(const WidePlan& plan, int64_t n,
                                                           int all) {
  Wide wide{plan, plan.call, all, this->buffer(plan.rows_of_W * all), this->buffer(n * all),
            {},   {}};
  wide.call.W = wide.W.get();
  wide.call.X = wide.X.get();
  return wide;
}

template <class T>
void CudaTileOps<T>::add_wide(const backend::LowerTiles<T>& L, bool adjoint, int64_t columns,
                              const T* X, int64_t ldx, T* Y, int64_t ldy) {
  using Launch = WideLaunch<D>;
  const int64_t n = L.starts.back();
  const WidePlan& plan = wide_plan(L, adjoint, 2, [&](const WideLists<T>& lists, WidePlan& to) {
    std::vector<RightTask> right;
    std::vector<LeftTask> left;
    lists.add_right(right, 0, lists.count, 0, lists.count, Launch::kTaskRows);
    lists.add_left(left, 0, lists.count, 0, lists.count, Launch::kTaskRows);
    to.right_tasks = keep(right, to);
    to.left_tasks = keep(left, to);
    to.right_count = std::ssize(right);
    to.left_count = std::ssize(left);
  });
  Wide wide = prepare_wide(plan, n, Launch::strip(columns));
  Launch::allow_shared_memory(wide.call, wide.all);
  for (int64_t first = 0; first < columns; first += wide.all) {
    wide.call.columns = static_cast<int>(std::min<int64_t>(wide.all, columns - first));
    wide.call.Y = Y + first * ldy;
    wide.call.row_step = 1;
    wide.call.column_step = ldy;
    Launch::gather(device(X) + first * ldx, ldx, n, wide.call.columns, device(wide.X.get()),
                   wide.all, stream_);
    Launch::multiply_right(wide.call, plan.right_tasks, plan.right_count, wide.all,
                           Launch::Tasks::large, stream_);
    Launch::multiply_left(wide.call, plan.left_tasks, plan.left_count, wide.all, stream_);
  }
}

template <class T>
int64_t CudaTileOps<T>::stage(const backend::LowerTiles<T>& L) const {
  if (L.starts.size() < 3) return 1;
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

/// Each stage is one product with the inverse of its diagonal block. The next stage adds the
/// products of the near stages itself; the contributions of earlier stages are summed concurrently.
template <class T>
template <class Launch>
void CudaTileOps<T>::solve_stages(const backend::LowerTiles<T>& L, bool adjoint, int64_t columns,
                                  T* B, int64_t ldb) {
  const int64_t n = L.starts.back();
  const WidePlan& plan =
      wide_plan(L, adjoint, Launch::kPlan, [&](const WideLists<T>& lists, WidePlan& to) {
        const WideStages<T> stages(lists, L, adjoint, Launch::kSizes);
        to.right_tasks = keep(stages.right, to);
        to.near_tasks = keep(stages.left, to);
        to.part_tasks = keep(stages.parts, to);
        to.stages = stages.stages;
        to.part_rows = stages.part_rows;
      });
  Wide wide = prepare_wide(plan, n, Launch::strip(columns));
  wide.Y = this->buffer(n * wide.all);
  wide.parts = this->buffer(kPartBuffers * plan.part_rows * wide.all);
  wide.call.Y = wide.Y.get();
  wide.call.row_step = wide.call.columns = wide.all;
  wide.call.column_step = 1;
  Launch::allow_shared_memory(wide.call, wide.all);
  const std::vector<const T*>& inverses = L.stage > 1 ? L.stage_inverses : L.inverses;
  for (int64_t first = 0; first < columns; first += wide.all) {
    const int here = static_cast<int>(std::min<int64_t>(wide.all, columns - first));
    Launch::gather(device(B) + first * ldb, ldb, n, here, device(wide.Y.get()), wide.all, stream_);
    for (size_t s = 0; s + 1 < plan.stages.size(); ++s)
      queue_stage<Launch>(wide, s, inverses[static_cast<size_t>(plan.stages[s].index)]);
    Launch::scatter(device(wide.X.get()), wide.all, n, here, device(B) + first * ldb, ldb, stream_);
  }
}

template <class T>
template <class Launch>
void CudaTileOps<T>::queue_stage(Wide& wide, size_t s, const T* inverse) {
  using Tasks = typename Launch::Tasks;
  const std::vector<WideStage>& stages = wide.plan.stages;
  const size_t count = stages.size() - 1, beyond = s + kNearStages + 1;
  const WideStage &stage = stages[s], &next = stages[s + 1];
  const Strand &sums = store_.strand(Store::cores), &far = store_.strand(Store::samples_ahead);
  // Events of the parts of the sums formed at a stage, used cyclically.
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
    wide.call.parts = wide.parts.get() +
                      static_cast<int64_t>(target % kPartBuffers) * wide.plan.part_rows * wide.all;
    wide.call.part_count = stages[target].part_count;
    wide.call.part_rows = stages[target].order;
  };
  Launch::solve(wide.call, device(inverse), stage.start, stage.order, wide.all, stream_);
  if (s + 1 == count) return;
  const bool has_far = beyond < count;
  if (has_far) record(sums.begun, stream_);
  Launch::multiply_right(wide.call, wide.plan.right_tasks + stage.near_right,
                         stage.far_right - stage.near_right, wide.all, Tasks::small, stream_);
  use_parts_of(s + 1);
  if (wide.call.part_count > 0) wait(stream_, parts[(s + 1) % kPartBuffers]);
  Launch::subtract_all(wide.call, wide.plan.near_tasks + stage.near_left,
                       next.near_left - stage.near_left, wide.all, stream_);
  if (!has_far) return;
  wait(far.stream, sums.begun);
  Launch::multiply_right(wide.call, wide.plan.right_tasks + stage.far_right,
                         next.near_right - stage.far_right, wide.all, Tasks::large, far.stream);
  record(far.ended, far.stream);
  wait(sums.stream, far.ended);
  use_parts_of(beyond);
  Launch::set_parts(wide.call, wide.plan.part_tasks + stage.parts, next.parts - stage.parts,
                    wide.all, sums.stream);
  record(parts[beyond % kPartBuffers], sums.stream);
}

}  // namespace chol::cuda::tlr
