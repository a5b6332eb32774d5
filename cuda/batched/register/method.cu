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

template <SmallTask kTask, class T>
BatchMethod<T> method_of(const char* name) {
  return {name, kKnobs,
          [](const Case& asked, const Params& params, const DeviceLimits&) {
            return (kTask != SmallTask::solve_one || asked.nrhs == 1) &&
                   has_order<kTask, T>(asked, params);
          },
          [](const BatchProblem<T>& problem, const Params& params, cudaStream_t stream) {
            return run_small<kTask>(problem, params.of("lanes"), stream);
          }};
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
           }});
});

}  // namespace
}  // namespace chol::cuda
