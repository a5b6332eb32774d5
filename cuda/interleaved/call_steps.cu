#include <algorithm>
#include <cstdio>
#include <cstring>

#include "call.hpp"
#include "call_choice.hpp"
#include "column_major_call.hpp"
#include "common/precisions.hpp"
#include "interleaved/call_steps.hpp"
#include "interleaved/problem.hpp"
#include "interleaved/via_column_major.hpp"

namespace chol::cuda {
namespace {

using backend::Chosen;
using backend::Problem;
using backend::Resources;

/// Trace of an interleaved call: the method of each step and, for slices, of their steps.
class Trace {
 public:
  void add(const Choice& choice, const char* of_slices) {
    char own[160];
    print_choice(own, sizeof own, choice);
    const size_t used = std::strlen(text_);
    std::snprintf(text_ + used, sizeof text_ - used, "%s%s%s%s", used ? "+" : "", own,
                  *of_slices ? ":" : "", of_slices);
  }
  /// Valid until the thread's next call.
  const char* text() const {
    thread_local char kept[sizeof text_];
    std::memcpy(kept, text_, sizeof text_);
    return kept;
  }

 private:
  char text_[360] = "";
};

template <class T>
Status run_in_slices(DeviceState& state, const Problem<T>& problem, const Resources& resources) {
  const bool factors = problem.routine != Routine::potrs;
  const bool solves = problem.sizes.nrhs > 0;
  if (!factors && !solves) return Status::success();
  const auto stream = static_cast<cudaStream_t>(resources.stream);
  Arena arena(resources.workspace, resources.workspace_bytes);
  const Slices<T> slices(arena, problem);
  Resources left = resources;
  left.workspace = static_cast<char*>(resources.workspace) + arena.used();
  left.workspace_bytes = resources.workspace_bytes - arena.used();
  const RowTable& rows = rows_of<T>(state, problem.routine, Form::batch);
  Status status = Status::success();
  int64_t count = 0;
  for (int64_t first = 0; first < problem.sizes.count && status.ok(); first += count) {
    count = slices.count(first);
    const Problem<T> columns = slices.columns(first, count);
    const auto copy = [&](Routine routine, bool wanted, bool of_B) {
      if (status.ok() && wanted)
        status = copy_interleaved(slices.copy(routine, of_B, first, columns), stream);
    };
    copy(Routine::unpack, true, false);
    copy(Routine::unpack, solves, true);
    if (status.ok()) status = run_column_major(state, columns, look_up(state, columns, rows), left);
    copy(Routine::pack, factors, false);
    copy(Routine::pack, solves, true);
  }
  return status;
}

/// Calls body(problem, choice) for the routines that an interleaved call consists of.
template <class T, class Body>
Status over_steps(const Problem<T>& problem, const Chosen& chosen, Body&& body) {
  if (!chosen.solution) return body(problem, *chosen.choice);
  Problem<T> step = problem;
  step.routine = Routine::potrf;
  step.sizes.nrhs = 0;
  const Status status = body(step, *chosen.choice);
  if (!status.ok()) return status;
  step = problem;
  step.routine = Routine::potrs;
  return body(step, *chosen.solution);
}

}  // namespace

template <class T>
size_t interleaved_workspace(const DeviceState& state, const Problem<T>& problem,
                             const Chosen& chosen) {
  size_t bytes = 0;
  over_steps(problem, chosen, [&](const Problem<T>& step, const Choice& choice) {
    if (!in_slices(step, choice)) return Status::success();
    Arena arena;
    const Slices<T> slices(arena, step);
    const auto columns = slices.columns(0, slices.most());
    bytes =
        std::max(bytes, arena.used() + workspace_of(state, columns,
                                                    rows_of<T>(state, step.routine, Form::batch),
                                                    Resources{}));
    return Status::success();
  });
  return bytes;
}

template <class T>
Status run_interleaved_call(DeviceState& state, const Problem<T>& problem, const Chosen& chosen,
                            const Resources& resources) {
  const auto stream = static_cast<cudaStream_t>(resources.stream);
  if (Status status = check_order(problem.sizes.n); !status.ok()) return status;
  const bool packs = problem.routine == Routine::pack || problem.routine == Routine::unpack;
  Trace trace;
  const Status status = over_steps(problem, chosen, [&](const Problem<T>& step, Choice choice) {
    const bool sliced = in_slices(step, choice);
    const Status its = packs    ? copy_interleaved(step, stream)
                       : sliced ? run_in_slices(state, step, resources)
                                : run_in_place(step, choice, stream);
    if (resources.method_used) trace.add(choice, sliced ? *resources.method_used : "");
    return its;
  });
  if (resources.method_used) *resources.method_used = trace.text();
  return status;
}

#define CHOL_INSTANTIATE(T)                                                                       \
  template size_t interleaved_workspace<T>(const DeviceState&, const Problem<T>&, const Chosen&); \
  template Status run_interleaved_call<T>(DeviceState&, const Problem<T>&, const Chosen&,         \
                                          const Resources&);
CHOL_FOR_EACH_HOST_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda
