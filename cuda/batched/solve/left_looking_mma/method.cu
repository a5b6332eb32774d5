// Several right-hand sides by tensor cores, the triangle not in shared memory, as a method.
#include "batched/method.hpp"
#include "batched/slices.hpp"
#include "batched/solve/left_looking_mma/interface.hpp"
#include "tune/solve_rows.hpp"

namespace chol::cuda {
namespace {

const AddBatchMethods methods([]<class T>(BatchMethods<T>& all) {
  all.add(
      {solve::kLeftLooking, solve_info(solve::kLeftLooking).knobs,
       [](const Case& asked, const Params& params, const DeviceLimits& device) {
         return has_tensor_solve(params.of("threads")) && asked.n <= tensor_solve_limit<T>(device);
       },
       [](const BatchProblem<T>& problem, const Params& params, cudaStream_t stream) {
         return for_slices(problem, slice_by_columns(problem), [&](const BatchProblem<T>& slice) {
           return run_tensor_solve(slice, params.of("threads"), stream);
         });
       },
       is_potrs_row});
});

}  // namespace
}  // namespace chol::cuda
