// One thread block a matrix whose warps share the rows, as a method.
#include "batched/method.hpp"
#include "batched/slices.hpp"
#include "batched/solve/block/interface.hpp"
#include "tune/solve_rows.hpp"

namespace chol::cuda {
namespace {

const AddBatchMethods methods([]<class T>(BatchMethods<T>& all) {
  all.add({solve::kBlock, kBlockSolveKnobs,
           [](const Case& asked, const Params& named, const DeviceLimits& device) {
             const auto params = BlockSolveParams::of(named);
             const bool one = asked.nrhs == 1;
             const int64_t rows = asked.n - is_bordered(asked.n, asked.variable);
             return (params.rhs == 1) == one && serves_order(params, asked.n, asked.variable) &&
                    can_run_block_solve<T>(params, one ? rows : asked.n, asked.upper, device);
           },
           [](const BatchProblem<T>& problem, const Params& named, cudaStream_t stream) {
             const auto params = BlockSolveParams::of(named);
             return for_slices(problem, kMostSlice, [&](const BatchProblem<T>& slice) {
               return run_block_solve(slice, params, stream);
             });
           },
           is_potrs_row});
});

}  // namespace
}  // namespace chol::cuda
