#pragma once

#include "tlr/pool.hpp"
#include "tlr/wide_launch.hpp"
#include "tlr/wide_products.cuh"

namespace chol::cuda::tlr {

/// The largest number of stages with which two blocks fit in the shared memory of a multiprocessor.
template <class T, int kDown, int kAcross, int kWarpsDown, int kSplit, int kInner>
constexpr int wide_stages() {
  using One = WideShape<T, kWarpsDown, 2, kSplit, kDown, kAcross, kInner, 1>;
  return smaller(6, 112 * 1024 / One::kSharedBytes);
}
/// Shape of the blocks of a task.
template <class T, int kColumns>
using WideTaskShape = WideShape<
    T, 4, 2, 1, Traits<T>::is_complex ? 1 : 2, kColumns / 16, sizeof(T) == 16 ? 8 : 16,
    wide_stages<T, Traits<T>::is_complex ? 1 : 2, kColumns / 16, 4, 1, sizeof(T) == 16 ? 8 : 16>()>;
/// Shape of blocks with 32 columns on the critical path: each of two groups of warps processes one
/// half of every step.
template <class T>
using WideSmallShape = WideShape<T, 2, 2, 2, 1, 2, sizeof(T) == 16 ? 16 : 32,
                                 wide_stages<T, 1, 2, 2, 2, sizeof(T) == 16 ? 16 : 32>()>;

template <class Shape>
__global__ void __launch_bounds__(256, 2)
    wide_right_kernel(const __grid_constant__ WideCall call, const RightTask* tasks) {
  extern __shared__ __align__(16) char memory[];
  WideProducts<Shape>(call, memory)
      .multiply_right(tasks[blockIdx.x], static_cast<int>(blockIdx.y) * Shape::kColumns,
                      static_cast<int>(gridDim.y) * Shape::kColumns);
}
template <class Shape>
__global__ void __launch_bounds__(256, 2)
    wide_left_kernel(const __grid_constant__ WideCall call, const LeftTask* tasks) {
  extern __shared__ __align__(16) char memory[];
  WideProducts<Shape>(call, memory)
      .add_sums(tasks[blockIdx.x], static_cast<int>(blockIdx.y) * Shape::kColumns,
                static_cast<int>(gridDim.y) * Shape::kColumns);
}
template <class Shape>
__global__ void __launch_bounds__(256, 2)
    wide_part_kernel(const __grid_constant__ WideCall call, const PartTask* tasks) {
  extern __shared__ __align__(16) char memory[];
  WideProducts<Shape>(call, memory)
      .set_part(tasks[blockIdx.x], static_cast<int>(blockIdx.y) * Shape::kColumns,
                static_cast<int>(gridDim.y) * Shape::kColumns);
}
/// Blocks with the longest sums start first.
template <class Shape>
__global__ void __launch_bounds__(256, 2)
    wide_solve_kernel(const __grid_constant__ WideCall call, const typename Shape::T* inverse,
                      int start, int order) {
  extern __shared__ __align__(16) char memory[];
  const unsigned block = call.adjoint ? blockIdx.x : gridDim.x - 1 - blockIdx.x;
  WideProducts<Shape>(call, memory)
      .solve(inverse, start, order, static_cast<int>(block) * Shape::kRows,
             static_cast<int>(blockIdx.y) * Shape::kColumns,
             static_cast<int>(gridDim.y) * Shape::kColumns);
}
template <class Shape>
__global__ void __launch_bounds__(256, 2)
    wide_subtract_kernel(const __grid_constant__ WideCall call, const PartTask* tasks) {
  extern __shared__ __align__(16) char memory[];
  WideProducts<Shape>(call, memory)
      .subtract_all(tasks[blockIdx.x], static_cast<int>(blockIdx.y) * Shape::kColumns,
                    static_cast<int>(gridDim.y) * Shape::kColumns);
}

/// A block lists the columns of one tile, with target and source computed from its index.
template <class T>
__global__ void __launch_bounds__(128)
    list_columns_kernel(const __grid_constant__ WideCall call, const WideTileColumns* tiles,
                        int count) {
  const auto rows = [&](int position) {
    const int i = call.adjoint ? count - 1 - position : position;
    return int64_t{call.starts[i + 1] - call.starts[i]};
  };
  const int target = static_cast<int>(blockIdx.x) + 1, source = static_cast<int>(blockIdx.y);
  if (source >= target) return;
  const WideTileColumns tile = tiles[target * (target - 1) / 2 + source];
  RightColumn* const right = const_cast<RightColumn*>(call.right) + tile.right_first;
  LeftColumn* const left = const_cast<LeftColumn*>(call.left) + tile.left_first;
  for (int c = static_cast<int>(threadIdx.x); c < tile.count; c += 128) {
    if (tile.right) right[c] = {static_cast<const T*>(tile.right) + c * rows(source), tile.row + c};
    if (tile.left)
      left[c] = {static_cast<const T*>(tile.left) + c * rows(target),
                 tile.right ? int64_t{tile.row} + c : ~(int64_t{tile.row} + c)};
  }
}
template <class T>
__global__ void __launch_bounds__(256)
    gather_kernel(const T* X, int64_t ldx, int64_t n, int columns, T* to, int all) {
  using Transpose = WideTranspose<T>;
  __shared__ __align__(16) char memory[sizeof(T) * Transpose::kTile * Transpose::kPitch];
  Transpose::gather(X, ldx, n, columns, to, all, int64_t{blockIdx.x} * Transpose::kTile,
                    static_cast<int>(blockIdx.y) * Transpose::kTile, reinterpret_cast<T*>(memory));
}
template <class T>
__global__ void __launch_bounds__(256)
    scatter_kernel(const T* from, int all, int64_t n, int columns, T* X, int64_t ldx) {
  using Transpose = WideTranspose<T>;
  __shared__ __align__(16) char memory[sizeof(T) * Transpose::kTile * Transpose::kPitch];
  Transpose::scatter(from, all, n, columns, X, ldx, int64_t{blockIdx.x} * Transpose::kTile,
                     static_cast<int>(blockIdx.y) * Transpose::kTile, reinterpret_cast<T*>(memory));
}

template <class T>
dim3 tiles_of(int64_t n, int all) {
  return dim3(static_cast<unsigned>((n + 31) / 32), static_cast<unsigned>(all / 32));
}

template <class T>
void WideLaunch<T>::list_columns(const WideCall& call, const WideTileColumns* tiles, int block_rows,
                                 cudaStream_t stream) {
  if (block_rows < 2) return;
  const auto others = static_cast<unsigned>(block_rows - 1);
  list_columns_kernel<T><<<dim3(others, others), 128, 0, stream>>>(call, tiles, block_rows);
  check(cudaGetLastError(), "wide products");
}

/// Launches body<Shape>() with the shape for tasks of this size.
template <class T, class Body>
void with_shape(typename WideLaunch<T>::Tasks size, int all, Body&& body) {
  using Launch = WideLaunch<T>;
  static_assert(WideSmallShape<T>::kRows == Launch::kSmallRows &&
                WideSmallShape<T>::kColumns == Launch::kNarrow &&
                WideTaskShape<T, 64>::kRows == Launch::kTaskRows);
  if (size == Launch::Tasks::small)
    body.template operator()<WideSmallShape<T>>();
  else if (all == Launch::kNarrow)
    body.template operator()<WideTaskShape<T, Launch::kNarrow>>();
  else
    body.template operator()<WideTaskShape<T, Launch::kMostWide>>();
  check(cudaGetLastError(), "wide products");
}
/// Launches one kernel with a given shape, for all columns.
template <class Shape, class Kernel, class Task>
void launch_tasks(Kernel kernel, const WideCall& call, const Task* tasks, int64_t count, int all,
                  cudaStream_t stream) {
  if (count == 0) return;
  const dim3 grid(static_cast<unsigned>(count), static_cast<unsigned>(all / Shape::kColumns));
  kernel<<<grid, Shape::kThreads, Shape::kSharedBytes, stream>>>(call, tasks);
}

template <class T>
void WideLaunch<T>::allow_shared_memory(const WideCall&, int all) {
  with_shape<T>(Tasks::large, all, [&]<class Shape>() {
    allow_shared(wide_right_kernel<Shape>, Shape::kSharedBytes);
    allow_shared(wide_left_kernel<Shape>, Shape::kSharedBytes);
    allow_shared(wide_part_kernel<Shape>, Shape::kSharedBytes);
  });
  with_shape<T>(Tasks::small, all, [&]<class Shape>() {
    allow_shared(wide_right_kernel<Shape>, Shape::kSharedBytes);
    allow_shared(wide_subtract_kernel<Shape>, Shape::kSharedBytes);
    allow_shared(wide_solve_kernel<Shape>, Shape::kSharedBytes);
  });
}

template <class T>
void WideLaunch<T>::multiply_right(const WideCall& call, const RightTask* tasks, int64_t count,
                                   int all, Tasks size, cudaStream_t stream) {
  with_shape<T>(size, all, [&]<class Shape>() {
    launch_tasks<Shape>(wide_right_kernel<Shape>, call, tasks, count, all, stream);
  });
}
template <class T>
void WideLaunch<T>::multiply_left(const WideCall& call, const LeftTask* tasks, int64_t count,
                                  int all, cudaStream_t stream) {
  with_shape<T>(Tasks::large, all, [&]<class Shape>() {
    launch_tasks<Shape>(wide_left_kernel<Shape>, call, tasks, count, all, stream);
  });
}

template <class T>
void WideLaunch<T>::solve(const WideCall& call, const T* inverse, int start, int order, int all,
                          cudaStream_t stream) {
  using Shape = WideSmallShape<T>;
  const dim3 grid(static_cast<unsigned>((order + Shape::kRows - 1) / Shape::kRows),
                  static_cast<unsigned>(all / Shape::kColumns));
  wide_solve_kernel<Shape><<<grid, 256, Shape::kSharedBytes, stream>>>(call, inverse, start, order);
  check(cudaGetLastError(), "wide products");
}
template <class T>
void WideLaunch<T>::set_parts(const WideCall& call, const PartTask* tasks, int64_t count, int all,
                              cudaStream_t stream) {
  with_shape<T>(Tasks::large, all, [&]<class Shape>() {
    launch_tasks<Shape>(wide_part_kernel<Shape>, call, tasks, count, all, stream);
  });
}
template <class T>
void WideLaunch<T>::subtract_all(const WideCall& call, const PartTask* tasks, int64_t count,
                                 int all, cudaStream_t stream) {
  with_shape<T>(Tasks::small, all, [&]<class Shape>() {
    launch_tasks<Shape>(wide_subtract_kernel<Shape>, call, tasks, count, all, stream);
  });
}

template <class T>
void WideLaunch<T>::gather(const T* X, int64_t ldx, int64_t n, int columns, T* to, int all,
                           cudaStream_t stream) {
  gather_kernel<T><<<tiles_of<T>(n, all), 256, 0, stream>>>(X, ldx, n, columns, to, all);
  check(cudaGetLastError(), "wide products");
}
template <class T>
void WideLaunch<T>::scatter(const T* from, int all, int64_t n, int columns, T* X, int64_t ldx,
                            cudaStream_t stream) {
  scatter_kernel<T><<<tiles_of<T>(n, all), 256, 0, stream>>>(from, all, n, columns, X, ldx);
  check(cudaGetLastError(), "wide products");
}

}  // namespace chol::cuda::tlr

#define CHOL_INSTANTIATE_TLR_WIDE(T) template struct chol::cuda::tlr::WideLaunch<T>;
