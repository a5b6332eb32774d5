// Interface of the left-looking kernels.
#pragma once

#include "batched/left_looking/params.hpp"
#include "common/batch_view.cuh"
#include "common/device_limits.hpp"
#include "common/launch.hpp"

namespace chol::cuda {

/// Factors matrices of any order. @tparam kFused whether a single right-hand side may be solved for
/// or, with `bordered`, the last row is factored separately; all matrices then have the same order.
template <bool kFused, class T, bool kSwapped>
Status run_left_looking_stored(const BatchProblem<T>& problem, const LeftLookingParams& params,
                               bool bordered, cudaStream_t stream);
template <bool kFused, class T>
Status run_left_looking(const BatchProblem<T>& problem, const LeftLookingParams& params,
                        bool bordered, cudaStream_t stream) {
  return problem.swapped
             ? run_left_looking_stored<kFused, T, true>(problem, params, bordered, stream)
             : run_left_looking_stored<kFused, T, false>(problem, params, bordered, stream);
}
/// Whether that kernel is built and the device has the resources for order n.
template <bool kFused, class T, bool kSwapped>
bool can_run_left_looking_stored(const LeftLookingParams& params, int64_t n, bool bordered,
                                 const DeviceLimits& device);
template <bool kFused, class T>
bool can_run_left_looking(const LeftLookingParams& params, int64_t n, bool upper, bool bordered,
                          const DeviceLimits& device) {
  return upper ? can_run_left_looking_stored<kFused, T, true>(params, n, bordered, device)
               : can_run_left_looking_stored<kFused, T, false>(params, n, bordered, device);
}

}  // namespace chol::cuda
