// Tiles of a triangle in shared memory, as a method.
#include "batched/method.hpp"
#include "batched/slices.hpp"
#include "batched/solve/tile/interface.hpp"
#include "tune/solve_rows.hpp"

namespace chol::cuda {
namespace {

const AddBatchMethods methods([]<class T>(BatchMethods<T>& all) {
  all.add({solve::kTile,
           {},
           [](const Case& asked, const Params&, const DeviceLimits& device) {
             return asked.n <= solve_limit<T>(device);
           },
           [](const BatchProblem<T>& problem, const Params&, cudaStream_t stream) {
             return for_slices(problem, kMostSlice, [&](const BatchProblem<T>& slice) {
               return run_solve(slice, stream);
             });
           },
           is_potrs_row});
});

}  // namespace
}  // namespace chol::cuda
