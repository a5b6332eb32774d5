// Whole matrices in registers, as methods.
#include "batched/method.hpp"
#include "batched/register/interface.hpp"
#include "tune/factor_rows.hpp"
#include "tune/solve_rows.hpp"

namespace chol::cuda {
namespace {

constexpr Knob kKnobs[] = {
    {"lanes", 0, 32, "lanes that share a matrix; 0: as many as the first kernel for the order"}};

template <SmallTask kTask, class T>
bool has_order(const Case& asked, const Params& params) {
  const int lanes = params.of("lanes");
  return [&]<class... S>(ShapeList<S...>) {
    return ((S::kLeast <= asked.n && asked.n <= S::kOrder && (lanes == 0 || lanes == S::kLanes)) ||
            ...);
  }(SmallShapes<kTask, T>{});
}

/// Whether a row may name a method of the task.
template <SmallTask kTask, class T>
bool accepts_row(const Row& row) {
  if (kTask == SmallTask::factor_and_solve_one) return false;
  if (!kFactors<kTask>) return is_potrs_row(row);
  const bool of_task =
      kTask == SmallTask::factor ? is_factor_row(row) : row.routine == Routine::posv;
  return of_task && row.cases.n.most <= small_limit<kTask, T>(row.choice.at(0));
}

template <SmallTask kTask, class T>
BatchMethod<T> method_of(const char* name) {
  return {name, kKnobs,
          [](const Case& asked, const Params& params, const DeviceLimits&) {
            return (kTask != SmallTask::solve_one || asked.nrhs == 1) &&
                   has_order<kTask, T>(asked, params);
          },
          [](const BatchProblem<T>& problem, const Params& params, cudaStream_t stream) {
            return run_small<kTask>(problem, params.of("lanes"), stream);
          },
          accepts_row<kTask, T>};
}

const AddBatchMethods methods([]<class T>(BatchMethods<T>& all) {
  all.add(method_of<SmallTask::factor, T>(factor::kRegister));
  all.add(method_of<SmallTask::factor_and_solve, T>(factor::kRegisterPosv));
  all.add(method_of<SmallTask::factor_and_solve_one, T>(factor::kRegisterGridPosv));
  all.add(method_of<SmallTask::solve, T>(solve::kRegister));
  all.add(method_of<SmallTask::solve_one, T>(solve::kRegisterGrid));
  all.add({factor::kVbatchedRegister,
           {},
           [](const Case& asked, const Params&, const DeviceLimits&) {
             return asked.n <= VbatchedRegisterShape<T>::kOrder;
           },
           [](const BatchProblem<T>& problem, const Params&, cudaStream_t stream) {
             return run_vbatched_register(problem, stream);
           },
           [](const Row& row) {
             return row.routine == Routine::potrf && row.cases.variable == Only::with &&
                    row.cases.n.most <= VbatchedRegisterShape<T>::kOrder;
           }});
});

}  // namespace
}  // namespace chol::cuda
