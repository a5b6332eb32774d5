// Which plans of the device backend are worth a trial.
#include <algorithm>
#include <cmath>
#include <optional>

#include "interleaved/jit/request.hpp"
#include "tools/tune/device_space.hpp"
#include "tune/rows.hpp"

namespace chol::tune {
namespace {

using cuda::KernelKind;

constexpr Plan kAnyOrder{Method::blocked, 0, 0, 0};
constexpr size_t kMostPlans = 40;  ///< of a point that get a trial

KernelKind kind_of(const Point& point) { return {point.routine, point.precision}; }

/// The kernel of a plan of Method::panel, of columns.cuh without threads.
cuda::ThreadsShape panel_kernel(const KernelKind& kind, const Plan& plan, int n) {
  const cuda::ThreadsShape shape = cuda::panel_shape(kind, plan, n);
  return shape.threads > 0 ? shape : cuda::ThreadsShape{0, cuda::panel_columns(kind, plan, n)};
}

void add_panels(std::vector<Plan>& plans, const KernelKind& kind, int n) {
  const Plan own{Method::panel, 0, 0, 0};
  add_plan(plans, own);
  const cuda::ThreadsShape own_kernel = panel_kernel(kind, own, n);
  const auto add_columns = [&](int around, int threads) {
    for (const int more : {-4, -2, 0, 2, 4}) {
      if (around + more <= 0 || around + more >= n) continue;
      // By the columns that there are: plans of one kernel are one plan.
      const auto [group, columns] =
          panel_kernel(kind, {Method::panel, around + more, threads, 0}, n);
      if (group == own_kernel.threads && columns == own_kernel.columns) continue;
      add_plan(plans, {Method::panel, columns, threads, 0});
    }
  };
  if (kind.factors()) add_columns(cuda::panel_columns(kind, own, n), 1);
  // As many columns for each number of threads as take the registers of the rule's.
  const cuda::ThreadsShape rule = cuda::panel_shape({Routine::potrs, kind.precision}, own, n);
  for (int threads = kind.factors() ? 2 : 1; threads <= cuda::kMostHeldThreads; threads *= 2)
    add_columns(int(rule.columns * std::sqrt(double(threads) / rule.threads)), threads);
}

void add_shared(std::vector<Plan>& plans) {
  for (const int columns : {1, 2, 3, 4, 5, 6, 8})
    for (const int lanes : {1, 2, 4, 8, 16, 32})
      for (const int threads : {32, 64, 128, 256, 512})
        add_plan(plans, {Method::fused, columns, lanes, threads});
}

/// The literature's kernels of one thread a matrix, without those that are one kernel: a tile that
/// is the matrix has no order.
void add_tiled(std::vector<Plan>& plans, int64_t n) {
  for (const int order : {0, 1, 2, 3, 4, 5})
    for (const int edge : {8, 6, 4, 3, 2, 1})
      for (const int threads : {32, 64, 128}) {
        const Plan plan{Method::blocked, edge, order, threads};
        const bool one_tile = edge >= n, is_own = edge == cuda::kStreamed.tile && order == 0 &&
                                                  threads == cuda::kStreamed.threads;
        if (edge <= n && !(one_tile && order % 3 != 0) && !is_own) add_plan(plans, plan);
      }
}

bool is_tiled(const Plan& plan) {
  return plan.method == Method::blocked && !same_plan(plan, kAnyOrder);
}

/// Column-major plans. The trials' one right-hand side says nothing of how many go a way: that
/// bound is the built-in plan's.
std::vector<Plan> column_major(const Point& point, const Plan& built_in) {
  constexpr int kAsTheyLie = 1, kFew = 4;
  std::vector<Plan> plans = {built_in};
  if (point.routine == Routine::potrs) {
    const int few = built_in.block > 0 ? built_in.block : kFew;
    for (const Method method : {Method::lanes, Method::panel})
      if (built_in.method != method) add_plan(plans, {method, few, 0, 0});
    add_plan(plans, {Method::fused, 0, 0, 0});
    add_plan(plans, kAnyOrder);
    return plans;
  }
  for (const int lanes : {0, 4, 8, 16, 32}) add_plan(plans, {Method::lanes, kAsTheyLie, lanes, 0});
  for (const int threads : {32, 64, 96, 128, 256})
    for (const int blocks : {0, 2, 3, 4, 5, 6, 8, 12, 14, 16, 24})
      add_plan(plans, {Method::panel, 0, blocks, threads});
  for (const int threads : {64, 128, 256}) add_plan(plans, {Method::fused, 0, 0, threads});
  return plans;
}

/// Plans of one matrix by one kernel, or by panels of so many columns.
std::vector<Plan> one_matrix(const Point& point, const Plan& built_in) {
  std::vector<Plan> plans = {built_in};
  if (built_in.method != Method::persistent) return plans;
  for (const int panel : {0, 256, 512, 1024, 2048})
    for (const int groups : {1, 2})
      if (panel < point.n) add_plan(plans, {Method::persistent, panel, groups, built_in.threads});
  return plans;
}

}  // namespace

DevicePlans::DevicePlans(const DeviceModel& model, bool compiled)
    : model_(model), compiled_(compiled) {
  constexpr int kHopper = 90;  // whose rows serve all so far
  built_in_.load_rows(cuda::built_in_rows(kHopper));
}

Plan DevicePlans::built_in(const Point& point) const {
  return cuda::plan_for(built_in_.rows(point.routine, point.form, point.precision), point.n);
}

/// Calls visit(plan, largest order) for the built-in rows of a point's key.
template <class Visit>
void DevicePlans::for_each_named(const Point& point, Visit&& visit) const {
  built_in_.rows(point.routine, point.form, point.precision)
      .for_each_within(INT64_MAX, INT64_MAX, [&](const Choice& named, int64_t max_n, int64_t) {
        visit(cuda::plan_of(named), max_n);
      });
}

/// Whether a plan has a kernel that needs no compiler: of shared.cuh those that a row names.
bool DevicePlans::is_built(const Point& point, const Plan& plan) const {
  const KernelKind kind = kind_of(point);
  if (plan.method == Method::lanes) return point.n <= cuda::register_order(kind.bytes);
  if (plan.method == Method::panel)
    return plan.block == 0 && plan.tile == 0 &&
           point.n <= cuda::threads_table(kind.precision, kind.factors(), kind.solves()).largest();
  bool is_named = false;
  for_each_named(
      point, [&](const Plan& named, int64_t) { is_named = is_named || same_plan(named, plan); });
  return is_named;
}

/// The interleaved plans of a point, the built-in one first.
std::vector<Plan> DevicePlans::possible(const Point& point) const {
  const KernelKind kind = kind_of(point);
  std::vector<Plan> all, plans = {built_in(point)};
  for (const int threads : {32, 64, 128}) add_plan(all, {Method::lanes, 0, 0, threads});
  add_panels(all, kind, static_cast<int>(point.n));
  add_shared(all);
  add_tiled(all, point.n);
  for (const Plan& plan : all)
    if (cuda::can_compile(kind, plan, point.n, model_.block_memory) &&
        (compiled_ || is_built(point, plan)))
      add_plan(plans, plan);
  add_plan(plans, kAnyOrder);
  return plans;
}

/// Of each order of the tiles, with loops over them and without, the plan that covers most, one of
/// another edge and one of another number of threads: the model knows too little of what tells
/// orders apart to choose among them.
std::vector<Plan> DevicePlans::best_tiled(const Point& point,
                                          const std::vector<Plan>& plans) const {
  std::vector<Plan> all;
  for (int order = 0; order < 6; ++order) {
    const auto best = [&](auto&& counts) {
      std::optional<Plan> most;
      double covered = 0;
      for (const Plan& plan : plans) {
        if (!is_tiled(plan) || plan.tile != order || !counts(plan)) continue;
        const double own = coverage(footprint_of(point, plan), model_);
        if (own > covered) most = plan;
        covered = std::max(own, covered);
      }
      if (most) all.push_back(*most);
      return most;
    };
    const std::optional<Plan> first = best([](const Plan&) { return true; });
    if (!first) continue;
    best([&](const Plan& p) { return p.block != first->block; });
    best([&](const Plan& p) { return p.block == first->block && p.threads != first->threads; });
  }
  return all;
}

std::vector<Plan> DevicePlans::interleaved(const Point& point) const {
  std::vector<Plan> all = possible(point);
  const std::vector<Plan> tiled = best_tiled(point, prune(point, all, model_, all.size()));
  all.erase(std::remove_if(all.begin() + 1, all.end(), is_tiled), all.end());
  std::vector<Plan> left = prune(point, all, model_, kMostPlans - tiled.size());
  for (const Plan& plan : tiled) add_plan(left, plan);
  // Warps that have a matrix, or potrf and potrs each by its own plan: nothing that the model
  // describes. A block column alone leaves most of a warp without work, and of a shape for orders
  // far larger too few matrices are at work.
  constexpr int64_t kBlockColumn = 16;
  if (point.routine != Routine::potrf) add_plan(left, {Method::fused, 0, 0, 0});
  for_each_named(point, [&](const Plan& named, int64_t max_n) {
    if (cuda::is_warp_factor(named) && point.n > kBlockColumn && point.n > max_n / 3 &&
        point.n <= max_n)
      add_plan(left, named);
  });
  return left;
}

std::vector<Plan> DevicePlans::candidates(const Point& point) const {
  if (point.form == Form::interleaved) return interleaved(point);
  return point.form == Form::one ? one_matrix(point, built_in(point))
                                 : column_major(point, built_in(point));
}

std::vector<Plan> DevicePlans::ruled_out(const Point& point) const {
  if (point.form != Form::interleaved) return {};
  std::vector<Plan> out = possible(point);
  const std::vector<Plan> kept = interleaved(point);
  out.erase(
      std::remove_if(out.begin(), out.end(), [&](const Plan& p) { return has_plan(kept, p); }),
      out.end());
  return out;
}

int64_t DevicePlans::reach(const Point& point, const Plan& plan, int64_t order) const {
  if (same_plan(plan, kAnyOrder)) return order;
  if (point.form == Form::batch)
    // A shape's largest order is not known here.
    return plan.method == Method::panel && point.routine != Routine::potrs ? order : point.n;
  while (order > point.n && !cuda::can_compile(kind_of(point), plan, order, model_.block_memory))
    --order;
  return order;
}

}  // namespace chol::tune
