// Which methods of the device backend are worth a trial.
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "native/knobs.hpp"
#include "tools/tune/device_space.hpp"
#include "tune/built_instances.hpp"
#include "tune/factor_rows.hpp"
#include "tune/rows.hpp"
#include "tune/solve_rows.hpp"

namespace chol::tune {
namespace {

using cuda::KernelKind;

constexpr int64_t kManyMatrices = 100000;  ///< more than fill any device
constexpr size_t kMostPlans = 40;          ///< of a point that get a trial

KernelKind kind_of(const Point& point) { return {point.routine, point.precision}; }

/// Calls visit(choice) for the knob values to be tried; knobs without such values are unchanged.
template <class Visit>
void for_each_tried(Choice choice, Visit&& visit, size_t knob = 0) {
  const std::span<const Knob> knobs = choice.method->knobs;
  while (knob < knobs.size() && knobs[knob].tried.empty()) ++knob;
  if (knob == knobs.size()) return visit(choice);
  for (const int value : knobs[knob].tried) {
    choice.values[knob] = value;
    for_each_tried(choice, visit, knob + 1);
  }
}
/// Whether all knobs have values for trials, so that these enumerate all kernels of a method.
bool has_values(const MethodInfo& method) {
  return std::all_of(method.knobs.begin(), method.knobs.end(),
                     [](const Knob& knob) { return !knob.tried.empty(); });
}

/// The knobs that select a kernel of interleaved_columns: threads and columns.
cuda::ThreadsShape columns_kernel(const KernelKind& kind, const cuda::ColumnsParams& params,
                                  int n) {
  const cuda::ThreadsShape shape = cuda::threads_shape(kind, params, n);
  return shape.threads > 0 ? shape : cuda::ThreadsShape{0, cuda::leading_columns(kind, params, n)};
}

void add_columns(std::vector<Choice>& choices, const KernelKind& kind, int n) {
  add_choice(choices, cuda::kInterleavedColumns);
  const cuda::ThreadsShape own = columns_kernel(kind, {}, n);
  const auto add_around = [&](int around, int threads) {
    for (const int more : {-4, -2, 0, 2, 4}) {
      if (around + more <= 0 || around + more >= n) continue;
      // With columns clamped to the order: choices of the same kernel are equal.
      const auto [group, columns] = columns_kernel(kind, {around + more, threads}, n);
      if (group == own.threads && columns == own.columns) continue;
      add_choice(choices,
                 {cuda::kInterleavedColumns, {{"columns", columns}, {"threads", threads}}});
    }
  };
  if (kind.factors()) add_around(cuda::leading_columns(kind, {}, n), 1);
  // For each number of threads the columns that need as many registers as the built-in choice.
  const cuda::ThreadsShape rule = cuda::threads_shape({Routine::potrs, kind.precision}, {}, n);
  for (int threads = kind.factors() ? 2 : 1; threads <= cuda::kMostHeldThreads; threads *= 2)
    add_around(int(rule.columns * std::sqrt(double(threads) / rule.threads)), threads);
}

bool is_tiled(const Choice& choice) { return choice.is(cuda::kInterleavedTiled); }

/// Whether another choice selects the same kernel: with one tile for the whole matrix the order of
/// tiles has no effect, and one kernel is built in.
bool is_double(const Choice& choice, int64_t n) {
  if (!is_tiled(choice)) return false;
  const auto [edge, looking, unrolled, threads] = cuda::tiled_knobs(choice);
  const cuda::TiledKnobs& built = cuda::kStreamed;
  const bool is_own =
      edge == built.tile && looking == built.looking && !unrolled && threads == built.threads;
  return edge > n || (edge == n && looking != cuda::Looking::left) || is_own;
}

/// Whether a choice has a kernel that needs no compiler.
bool is_built(const KernelKind& kind, const Choice& choice, int64_t n) {
  if (choice.is(cuda::kInterleavedRegisters)) return n <= cuda::register_order(kind.precision);
  if (choice.is(cuda::kInterleavedColumns))
    return choice == Choice(cuda::kInterleavedColumns) &&
           n <= cuda::ThreadsTable{kind.precision, cuda::task_of(kind.routine)}.largest();
  return std::any_of(std::begin(cuda::kInterleavedInstances), std::end(cuda::kInterleavedInstances),
                     [&](const cuda::InterleavedInstance& instance) {
                       return serves(instance, kind) && instance.choice == choice;
                     });
}

/// Column-major batches: the kernels that are built.
std::vector<Choice> column_major(const Point& point, const Choice& built_in) {
  std::vector<Choice> choices = {built_in};
  if (point.routine == Routine::potrs) {
    const auto add = [&](const Choice& choice) { add_choice(choices, choice); };
    for (const MethodInfo& method : cuda::solve_infos())
      if (has_values(method)) for_each_tried(method, add);
    for (const cuda::BlockSolveInstance& instance : cuda::kBlockSolveInstances) {
      const bool of_one = instance.params.rhs == 1;
      if (instance.precision == point.precision && of_one &&
          cuda::serves_order(instance.params, point.n, false))
        add(cuda::block_solve_choice(instance.params));
    }
    return choices;
  }
  const bool solves = point.routine == Routine::posv;
  const MethodInfo& in_registers = solves ? cuda::kRegisterPosv : cuda::kRegisterPotrf;
  const auto add_lanes = [&](int lanes) {
    add_choice(choices, {in_registers, {{"lanes", lanes}, {"in_order", 1}}});
  };
  for (const cuda::RegisterInstance& instance : cuda::kRegisterInstances)
    if (instance.precision == point.precision && point.n <= instance.largest &&
        instance.task == (solves ? "factor_and_solve" : "factor")) {
      add_lanes(0);
      add_lanes(instance.lanes);
    }
  const MethodInfo& left_looking = solves ? cuda::kLeftLookingPosv : cuda::kLeftLookingPotrf;
  // The last row may be factored separately where it would be the only one of its block column.
  for (const cuda::LeftLookingRow& row : cuda::left_looking_rows())
    for (const bool bordered : {false, true})
      if (row.precision == point.precision && !row.upper && row.columns == cuda::Columns::any &&
          (!bordered || point.n % row.params.columns == 1))
        add_choice(
            choices,
            {left_looking,
             {{"warps", row.plan_warps}, {"blocks", row.plan_blocks}, {"bordered", bordered}}});
  for (const cuda::MultiPanelInstance& instance : cuda::kMultiPanelInstances)
    if (instance.precision == point.precision)
      add_choice(choices, {cuda::kMultiPanelPotrf, {{"threads", instance.threads}}});
  return choices;
}

/// One matrix by one kernel, or in panels of so many columns.
std::vector<Choice> one_matrix(const Point& point, const Choice& built_in) {
  std::vector<Choice> choices = {built_in};
  if (!built_in.is(cuda::kPersistentPotrf)) return choices;
  for_each_tried(built_in, [&](Choice choice) {
    const auto params = cuda::native::Params::of(choice);
    const bool is_other =
        params.panel > 0 || !params.blas_updates;  // one kernel has no updates between panels
    if (params.panel < point.n && is_other) add_choice(choices, choice);
  });
  return choices;
}

}  // namespace

DevicePlans::DevicePlans(const DeviceModel& model, bool compiled)
    : model_(model), compiled_(compiled) {
  constexpr int kHopper = 90, kMultiprocessors = 132;  // whose rows serve all orders so far
  built_in_.load_rows(cuda::built_in_rows(kHopper, kMultiprocessors));
}

Choice DevicePlans::built_in(const Point& point) const {
  Case asked{point.routine, point.form, point.precision};
  asked.n = point.n;
  asked.nrhs = point.routine == Routine::potrf ? 0 : 1;
  asked.batch = point.form == Form::one ? 1 : kManyMatrices;
  return built_in_.rows(point.routine, point.form, point.precision).choose(asked);
}

/// The interleaved choices of a point, the built-in one first.
std::vector<Choice> DevicePlans::possible(const Point& point) const {
  const KernelKind kind = kind_of(point);
  std::vector<Choice> all, choices = {built_in(point)};
  add_columns(all, kind, static_cast<int>(point.n));
  for (const MethodInfo* method : cuda::kInterleavedMethods)
    if (!method->knobs.empty() && has_values(*method))
      for_each_tried(*method, [&](const Choice& choice) {
        if (!is_double(choice, point.n)) add_choice(all, choice);
      });
  for (const Choice& choice : all)
    if (cuda::can_compile(kind, choice, point.n, model_.block_memory) &&
        (compiled_ || is_built(kind, choice, point.n)))
      add_choice(choices, choice);
  add_choice(choices, cuda::kInterleavedStreamed);
  return choices;
}

/// For each order of the tiles, with and without loops over them: the choice with the best
/// estimate, one with another tile edge and one with another number of threads. The model is too
/// coarse to choose among these.
std::vector<Choice> DevicePlans::best_tiled(const Point& point,
                                            const std::vector<Choice>& choices) const {
  std::vector<Choice> all;
  for (const int unrolled : {0, 1})
    for (const int looking : {0, 1, 2}) {
      const auto best = [&](auto&& counts) {
        std::optional<Choice> most;
        double covered = 0;
        for (const Choice& choice : choices) {
          if (!is_tiled(choice) || choice.at(1) != looking || choice.at(2) != unrolled ||
              !counts(choice))
            continue;
          const double own = coverage(footprint_of(point, choice), model_);
          if (own > covered) most = choice;
          covered = std::max(own, covered);
        }
        if (most) all.push_back(*most);
        return most;
      };
      const std::optional<Choice> first = best([](const Choice&) { return true; });
      if (!first) continue;
      best([&](const Choice& c) { return c.at(0) != first->at(0); });
      best([&](const Choice& c) { return c.at(0) == first->at(0) && c.at(3) != first->at(3); });
    }
  return all;
}

std::vector<Choice> DevicePlans::interleaved(const Point& point) const {
  std::vector<Choice> all = possible(point);
  const std::vector<Choice> tiled = best_tiled(point, prune(point, all, model_, all.size()));
  all.erase(std::remove_if(all.begin() + 1, all.end(), is_tiled), all.end());
  std::vector<Choice> left = prune(point, all, model_, kMostPlans - tiled.size());
  for (const Choice& choice : tiled) add_choice(left, choice);
  // Warps with a matrix each, and potrf followed by potrs with their own rows, are not covered by
  // the model. A single block column leaves most of a warp idle.
  constexpr int64_t kBlockColumn = 16;
  if (point.routine == Routine::potrs) add_choice(left, cuda::kInterleavedWarpSolve);
  if (point.routine == Routine::posv) add_choice(left, cuda::kInterleavedTwoSteps);
  for (const cuda::InterleavedInstance& instance : cuda::kInterleavedInstances)
    if (instance.choice.is(cuda::kInterleavedWarps) && serves(instance, kind_of(point)) &&
        point.n > kBlockColumn && point.n <= cuda::kWarpFactorOrder)
      add_choice(left, instance.choice);
  return left;
}

std::vector<Choice> DevicePlans::candidates(const Point& point) const {
  if (point.form == Form::interleaved) return interleaved(point);
  return point.form == Form::one ? one_matrix(point, built_in(point))
                                 : column_major(point, built_in(point));
}

std::vector<Choice> DevicePlans::ruled_out(const Point& point) const {
  if (point.form != Form::interleaved) return {};
  std::vector<Choice> out = possible(point);
  const std::vector<Choice> kept = interleaved(point);
  out.erase(std::remove_if(out.begin(), out.end(),
                           [&](const Choice& choice) { return has_choice(kept, choice); }),
            out.end());
  return out;
}

int64_t DevicePlans::reach(const Point& point, const Choice& choice, int64_t order) const {
  // The largest order of a shape is unknown here.
  if (point.form == Form::one) return order;
  if (point.form == Form::batch)
    return choice.is(cuda::kLeftLookingPotrf) || choice.is(cuda::kLeftLookingPosv) ? order
                                                                                   : point.n;
  if (choice.is(cuda::kInterleavedStreamed)) return order;
  while (order > point.n && !cuda::can_compile(kind_of(point), choice, order, model_.block_memory))
    --order;
  return order;
}

}  // namespace chol::tune
