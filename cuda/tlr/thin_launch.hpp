// Kernels of solves with few right-hand sides by stages, compiled separately.
#pragma once

#include <cuda_runtime_api.h>

#include "tlr/wide.hpp"
#include "tlr/wide_stages.hpp"

namespace chol::cuda::tlr {

/// The functions of WideLaunch for solves, with kColumns right-hand sides.
/// @tparam T the device's type
template <class T, int kColumns>
struct ThinLaunch {
  static constexpr WideTaskSizes kSizes{16, 8, 32, 128, 128, 64};
  static constexpr int kPlan = 1;  ///< index of its plan in those of a matrix
  enum class Tasks : uint8_t { large, small };

  static int strip(int64_t) { return kColumns; }
  static void allow_shared_memory(const WideCall& call, int all);
  static void multiply_right(const WideCall& call, const RightTask* tasks, int64_t count, int all,
                             Tasks size, cudaStream_t stream);
  static void solve(const WideCall& call, const T* inverse, int start, int order, int all,
                    cudaStream_t stream);
  static void set_parts(const WideCall& call, const PartTask* tasks, int64_t count, int all,
                        cudaStream_t stream);
  static void subtract_all(const WideCall& call, const PartTask* tasks, int64_t count, int all,
                           cudaStream_t stream);
  static void gather(const T* X, int64_t ldx, int64_t n, int columns, T* to, int all,
                     cudaStream_t stream);
  static void scatter(const T* from, int all, int64_t n, int columns, T* X, int64_t ldx,
                      cudaStream_t stream);
};

}  // namespace chol::cuda::tlr
