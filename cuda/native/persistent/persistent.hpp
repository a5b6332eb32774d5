// One matrix, or a block column of it, by one kernel over all multiprocessors.
#pragma once

#include "base/arena.hpp"
#include "common/batch_view.cuh"
#include "native/persistent/launch.hpp"
#include "native/update/call.hpp"

namespace chol::cuda::persistent {

template <class T>
struct Workspace {
  int* flags = nullptr;
  Doubled<T>* scratch = nullptr;

  /// @param columns upper bound of the columns of one kernel, n of the rows.
  static Workspace carve(Arena& arena, int64_t n, int64_t columns);
};

/// Leading dimensions from this one on exceed the range of the kernel's addresses.
template <class T>
inline constexpr int64_t kLargestDimension = (int64_t(1) << 28) / int64_t(sizeof(T));

/// Whether the current device has the resources for the kernel: shared memory, the instructions of
/// compute capability 9.0, and a second multiprocessor. Devices with slow double precision are
/// excluded.
template <class T>
bool can_run();

/// Factors columns [first, first + columns) of one matrix over all rows from `first` down; updates
/// by the columns before have been done. info is set for the first of them.
template <class T>
Status factor_columns(const BatchProblem<T>& problem, int64_t first, int64_t columns, int groups,
                      const Workspace<T>& work, cudaStream_t stream);

/// Whether it factors one matrix of a batch, whose address may be in device memory.
template <class T>
bool factors_whole(int64_t n, int64_t ld) {
  return n > 0 && ld < kLargestDimension<T> && can_run<T>();
}

/// From columns [column, column + width), down to the last row, the product of columns
/// [first, first + depth) with their adjoint is subtracted, of the lower triangle.
template <class T>
Status update_columns(const BatchProblem<T>& problem, int64_t first, int64_t depth, int64_t column,
                      int64_t width, cudaStream_t stream);

/// The same for a rectangle with separate operands. @param swapped whether all three have the
/// storage of an upper triangle.
template <class T>
Status update_rectangle(const update::RectangleCall<T>& call, bool swapped, cudaStream_t stream);

}  // namespace chol::cuda::persistent
