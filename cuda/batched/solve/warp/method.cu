// One warp a matrix and its right-hand sides, as a method.
#include "batched/method.hpp"
#include "batched/slices.hpp"
#include "batched/solve/warp/interface.hpp"
#include "tune/solve_rows.hpp"

namespace chol::cuda {
namespace {

const AddBatchMethods methods([]<class T>(BatchMethods<T>& all) {
  all.add({solve::kWarp,
           {},
           [](const Case& asked, const Params&, const DeviceLimits& device) {
             return asked.n <= warp_solve_limit<T>(device);
           },
           [](const BatchProblem<T>& problem, const Params&, cudaStream_t stream) {
             return for_slices(problem, kMostSlice, [&](const BatchProblem<T>& slice) {
               return run_warp_solve(slice, stream);
             });
           },
           is_potrs_row});
});

}  // namespace
}  // namespace chol::cuda
