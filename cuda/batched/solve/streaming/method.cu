// Any order, tiles of the triangle read as they are needed, as a method.
#include "batched/method.hpp"
#include "batched/slices.hpp"
#include "batched/solve/streaming/interface.hpp"
#include "tune/solve_rows.hpp"

namespace chol::cuda {
namespace {

const AddBatchMethods methods([]<class T>(BatchMethods<T>& all) {
  all.add({solve::kStreaming,
           {},
           [](const Case&, const Params&, const DeviceLimits&) { return true; },
           [](const BatchProblem<T>& problem, const Params&, cudaStream_t stream) {
             return for_slices(problem, slice_by_columns(problem),
                               [&](const BatchProblem<T>& slice) {
                                 return run_stream_solve(slice, false, stream);
                               });
           },
           is_potrs_row});
});

}  // namespace
}  // namespace chol::cuda
