// One thread block a matrix, by block columns of one panel, as methods.
#include "batched/left_looking/interface.hpp"
#include "batched/method.hpp"
#include "batched/slices.hpp"
#include "tune/factor_rows.hpp"

namespace chol::cuda {
namespace {

/// @param kSolves whether one right-hand side is solved for at the same time.
template <bool kSolves, class T>
BatchMethod<T> method_of(const char* name) {
  return {
      name, kLeftLookingKnobs,
      [](const Case& asked, const Params& named, const DeviceLimits& device) {
        const auto params = LeftLookingParams::of(named);
        const bool bordered = named.of("bordered") != 0;
        return kSolves || bordered
                   ? can_run_left_looking<true, T>(params, asked.n, asked.upper, bordered, device)
                   : can_run_left_looking<false, T>(params, asked.n, asked.upper, false, device);
      },
      [](const BatchProblem<T>& problem, const Params& named, cudaStream_t stream) {
        const auto params = LeftLookingParams::of(named);
        const bool bordered = named.of("bordered") != 0;
        return for_slices(problem, kMostSlice, [&](const BatchProblem<T>& slice) {
          return kSolves || bordered ? run_left_looking<true>(slice, params, bordered, stream)
                                     : run_left_looking<false>(slice, params, false, stream);
        });
      },
      [](const Row& row) {
        return (kSolves ? row.routine == Routine::posv : is_factor_row(row)) &&
               has_left_looking(kLetter<T>, 32 * row.choice.at(0));
      }};
}

const AddBatchMethods methods([]<class T>(BatchMethods<T>& all) {
  all.add(method_of<false, T>(factor::kLeftLooking));
  all.add(method_of<true, T>(factor::kLeftLookingPosv));
});

}  // namespace
}  // namespace chol::cuda
