// Kernels of solves and products with many right-hand sides, compiled separately.
#pragma once

#include <cuda_runtime_api.h>

#include "common/scalar.cuh"
#include "tlr/wide.hpp"
#include "tlr/wide_stages.hpp"

namespace chol::cuda::tlr {

/// @tparam T the device's type. `all`: columns of X and W, a multiple of 32 up to kMostWide
template <class T>
struct WideLaunch {
  static constexpr int kMostWide = 64, kNarrow = 32;
  /// Rows of a task, half as many for complex elements.
  static constexpr int kTaskRows = Traits<T>::is_complex ? 64 : 128;
  /// Rows of small tasks, which have 32 columns and are on the critical path of solves.
  static constexpr int kSmallRows = 32;
  static constexpr int kPlan = 0;  ///< index of its plan in those of a matrix
  static constexpr WideTaskSizes kSizes{kSmallRows, kSmallRows, kTaskRows, kTaskRows, 512, 16};
  enum class Tasks : uint8_t { large, small };

  /// Width of a strip for this number of columns.
  static int strip(int64_t columns) { return columns <= kNarrow ? kNarrow : kMostWide; }
  /// Called before the other functions.
  static void allow_shared_memory(const WideCall& call, int all);
  /// @param call its lists are filled
  static void list_columns(const WideCall& call, const WideTileColumns* tiles, int block_rows,
                           cudaStream_t stream);
  static void multiply_right(const WideCall& call, const RightTask* tasks, int64_t count, int all,
                             Tasks size, cudaStream_t stream);
  static void multiply_left(const WideCall& call, const LeftTask* tasks, int64_t count, int all,
                            cudaStream_t stream);
  /// X := inverse Y for `order` rows from `start` on.
  static void solve(const WideCall& call, const T* inverse, int start, int order, int all,
                    cudaStream_t stream);
  static void set_parts(const WideCall& call, const PartTask* tasks, int64_t count, int all,
                        cudaStream_t stream);
  /// Y -= sums and parts, by small tasks.
  static void subtract_all(const WideCall& call, const PartTask* tasks, int64_t count, int all,
                           cudaStream_t stream);
  static void gather(const T* X, int64_t ldx, int64_t n, int columns, T* to, int all,
                     cudaStream_t stream);
  static void scatter(const T* from, int all, int64_t n, int columns, T* X, int64_t ldx,
                      cudaStream_t stream);
};

}  // namespace chol::cuda::tlr
