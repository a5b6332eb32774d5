// What the driver calls of tensor_solve.cuh.
#pragma once

#include "common/launch.hpp"
#include "common/view.cuh"

namespace chol::cuda {

/// Solves for several right-hand sides by tensor cores, orders up to tensor_solve_limit().
template <class T, bool kSwapped>
Status run_tensor_solve_stored(const BatchProblem<T>& problem, cudaStream_t stream);
template <class T>
Status run_tensor_solve(const BatchProblem<T>& problem, cudaStream_t stream) {
  return problem.swapped ? run_tensor_solve_stored<T, true>(problem, stream)
                         : run_tensor_solve_stored<T, false>(problem, stream);
}
/// Largest order that it takes on the current device, 0 where the cores do not multiply what T is
/// summed up in.
template <class T>
int tensor_solve_limit();

/// Orders after the first, up to the second.
struct OrderRange {
  int64_t after, to;
  constexpr bool has(int64_t n) const { return after < n && n <= to; }
};
/// Which ones it solves faster than any other kernel, by the right-hand sides: one, up to four, and
/// more. Kernels with the triangle in shared memory read it once, but leave room for few matrices;
/// of the largest orders of one right-hand side streams of tiles wait less. Measured on an H200.
template <class T>
struct TensorSolveOrders;
inline constexpr int64_t kAnyOrder = int64_t(1) << 31;
template <>
struct TensorSolveOrders<float> {
  static constexpr OrderRange kOne{0, 0}, kFew{128, kAnyOrder}, kMany{128, kAnyOrder};
};
template <>
struct TensorSolveOrders<double> {
  static constexpr OrderRange kOne{224, 600}, kFew{128, kAnyOrder}, kMany{128, kAnyOrder};
};
template <>
struct TensorSolveOrders<Complex<float>> {
  static constexpr OrderRange kOne{256, 600}, kFew{64, kAnyOrder}, kMany{128, kAnyOrder};
};
template <>
struct TensorSolveOrders<Complex<double>> {
  static constexpr OrderRange kOne{96, kAnyOrder}, kFew{60, kAnyOrder}, kMany{96, kAnyOrder};
};

}  // namespace chol::cuda
