// One thread block a matrix, by block columns of several panels, as a method.
#include "batched/method.hpp"
#include "batched/multi_panel/interface.hpp"
#include "batched/slices.hpp"
#include "tune/factor_rows.hpp"

namespace chol::cuda {
namespace {

constexpr Knob kKnobs[] = {{"threads", 32, 256, "threads of the block that works on a matrix"}};

const AddBatchMethods methods([]<class T>(BatchMethods<T>& all) {
  all.add({factor::kMultiPanel, kKnobs,
           [](const Case& asked, const Params& params, const DeviceLimits&) {
             return has_wide<T>(asked.upper, params.of("threads"));
           },
           [](const BatchProblem<T>& problem, const Params& params, cudaStream_t stream) {
             const int threads = params.of("threads");
             return for_slices(problem, kMostSlice, [&](const BatchProblem<T>& slice) {
               return slice.swapped ? run_wide_left_looking<T, true>(slice, threads, stream)
                                    : run_wide_left_looking<T, false>(slice, threads, stream);
             });
           },
           [](const Row& row) {
             const int threads = row.choice.at(0);
             return is_factor_row(row) &&
                    (has_left_looking(kLetter<T>, threads) || has_wide<T>(false, threads) ||
                     has_wide<T>(true, threads));
           }});
});

}  // namespace
}  // namespace chol::cuda
