// Factors of diagonal tiles, their inverses, and the norms of the inverses.
#pragma once

#include "tlr/device_ops.cuh"

namespace chol::cuda::tlr {

template <class T>
int CudaTileOps<T>::potrf(T* A, int64_t n) {
  const Buffer<int> info(1, memory());
  queue_potrf(A, n, info.get());
  return *read(info.get(), 1);
}

template <class T>
void CudaTileOps<T>::queue_potrf(T* A, int64_t n, int* info) {
  const backend::Problem<T> problem{.routine = Routine::potrf,
                                    .form = Form::one,
                                    .uplo = CHOL_LOWER,
                                    .sizes = {1, n, 0},
                                    .A = MatrixBatch<T>::strided(A, n, 0),
                                    .B = {},
                                    .info = info};
  backend::Solver<T>& solver = backend_.solver<T>();
  const RowTable& rows = backend_.tuning().rows(Routine::potrf, Form::one, precision_letter<T>);
  backend::Resources resources;
  resources.stream = stream_;
  resources.workspace_bytes = solver.workspace_bytes(problem, rows, resources);
  const Buffer<char> workspace(static_cast<int64_t>(resources.workspace_bytes), memory());
  resources.workspace = workspace.get();
  require(solver.run(problem, rows, resources));
  checked("potrf");
  clear_upper_kernel<D><<<blocks_for(n * n), kThreads, 0, stream_>>>(device(A), n);
  checked("diagonal tile");
}

/// Runs on a second stream that waits for the current one. Memory released before the two streams
/// are synchronized is not reused until then.
template <class T>
void CudaTileOps<T>::begin_diagonal(T* A, int64_t n, T* inverses, T* x, int steps) {
  Strand& side = store_.strand(Store::diagonal);
  check(cudaEventRecord(side.begun, stream_), "diagonal tile");
  check(cudaStreamWaitEvent(side.stream, side.begun, 0), "diagonal tile");
  store_.pool.hold(Pool::beside);
  const OnStream on_side(stream_, side.stream);
  const Buffer<char> results(sizeof(int) + 8 + sizeof(double) * 2 * kInnerBlocks, memory());
  auto* const sums = reinterpret_cast<double*>(results.get());
  auto* const info = reinterpret_cast<int*>(sums + 2 * kInnerBlocks);
  queue_potrf(A, n, info);
  invert_triangle(A, n, inverses);
  queue_norm_of_inverse(A, inverses, n, x, steps, sums);
  check(cudaMemcpyAsync(store_.diagonal_results, sums, sizeof(double) * (2 * kInnerBlocks + 1),
                        cudaMemcpyDeviceToHost, stream_),
        "diagonal tile");
  check(cudaEventRecord(side.ended, stream_), "diagonal tile");
}

template <class T>
backend::DiagonalFactor CudaTileOps<T>::end_diagonal() {
  const Strand& side = store_.strand(Store::diagonal);
  check(cudaStreamWaitEvent(stream_, side.ended, 0), "diagonal tile");
  check(cudaEventSynchronize(side.ended), "diagonal tile");
  store_.pool.end_hold(Pool::beside);
  const auto* const sums = static_cast<const double*>(store_.diagonal_results);
  return {*reinterpret_cast<const int*>(sums + 2 * kInnerBlocks), ratio_of_norms(sums)};
}

/// Memory released before all work of the next column is queued must not be reused by that
/// work, which may execute earlier.
template <class T>
void CudaTileOps<T>::fork_ahead() {
  check(cudaEventRecord(store_.strand(Store::samples_ahead).begun, stream_), "next column");
  store_.pool.hold(Pool::forked);
}
template <class T>
void CudaTileOps<T>::begin_ahead(typename backend::TileOps<T>::Ahead kind) {
  using Ahead = typename backend::TileOps<T>::Ahead;
  ahead_ = kind == Ahead::samples ? Store::samples_ahead : Store::tiles_ahead;
  stream_ = store_.strand(ahead_).stream;
  store_.pool.hold(Pool::ahead);
  check(cudaStreamWaitEvent(stream_, store_.strand(Store::samples_ahead).begun, 0), "next column");
}
template <class T>
void CudaTileOps<T>::end_ahead() {
  check(cudaEventRecord(store_.strand(ahead_).ended, stream_), "next column");
  stream_ = store_.strand(Store::column).stream;
  store_.pool.end_hold(Pool::ahead, false);
}
template <class T>
void CudaTileOps<T>::join_ahead() {
  for (const auto kind : {Store::samples_ahead, Store::tiles_ahead})
    check(cudaStreamWaitEvent(stream_, store_.strand(kind).ended, 0), "next column");
  store_.pool.end_hold(Pool::ahead);
  store_.pool.end_hold(Pool::forked);
}
/// Inverts the whole factor: small blocks on the diagonal first, then pairs of blocks,
/// [X1 0; -X2 L21 X1, X2], whose order doubles in each step.
template <class T>
void CudaTileOps<T>::invert_triangle(const T* L, int64_t n, T* inverses) {
  constexpr int kOrder = sizeof(D) == 16 ? 32 : 64;
  set_zero(inverses, n * n);
  invert_small_kernel<D>
      <<<static_cast<unsigned>((n + kOrder - 1) / kOrder), kOrder, sizeof(D) * kOrder * kOrder,
         stream_>>>(device(L), n, kOrder, device(inverses));
  checked("inverse");
  const Buffer<T> scratch = this->buffer(n * n / 2);
  for (int64_t order = kOrder; order < n; order *= 2) {
    backend::ProductSteps<T> steps;
    T* free = scratch.get();
    for (int64_t first = 0; first + order < n; first += 2 * order) {
      const int64_t second = first + order, rows = std::min(order, n - second);
      steps.add(0, {false, false, 0, rows, order, order, L + second + first * n, n,
                    inverses + first + first * n, n, free, rows});
      steps.add(1, {false, false, -1, rows, order, rows, inverses + second + second * n, n, free,
                    rows, inverses + second + first * n, n});
      free += rows * order;
    }
    multiply(steps);
  }
}

/// With pivots B of order 1 and 2: inverse(B) inverse(L inverse(B)).
template <class T>
void CudaTileOps<T>::invert_blocks(const T* L, int64_t n, T* inverses, bool has_pairs) {
  if (!has_pairs) return invert_triangle(L, n, inverses);
  const Buffer<T> triangle = this->buffer(n * n);
  divide_columns_kernel<D>
      <<<blocks_for(n * n), kThreads, 0, stream_>>>(device(L), n, device(triangle.get()));
  checked("inverse");
  invert_triangle(triangle.get(), n, inverses);
  divide_rows_kernel<D>
      <<<blocks_for(n * n), kThreads, 0, stream_>>>(device(L), n, device(inverses));
  checked("inverse");
}

template <class T>
double CudaTileOps<T>::norm_of_inverse(const T* L, const T* inverses, int64_t n, T* x, int steps) {
  const Buffer<double> sums(2 * kInnerBlocks, memory());
  queue_norm_of_inverse(L, inverses, n, x, steps, sums.get());
  return ratio_of_norms(read(sums.get(), 2 * kInnerBlocks));
}

/// Without scaling between steps: there are few steps, and the factorization has accepted the
/// norms.
template <class T>
void CudaTileOps<T>::queue_norm_of_inverse(const T* L, const T* inverses, int64_t n, T* x,
                                           int steps, double* sums) {
  const Buffer<T> y = this->buffer(n);
  for (int step = 0; step < steps; ++step) {
    if (step == steps - 1) queue_inner(x, x, n, sums);
    backend::ProductGroups<T> down, up;
    add_inverse_products({L, inverses, n, false, nullptr, 1, n}, x, y.get(), n, down);
    add_inverse_products({L, inverses, n, true, nullptr, 1, n}, y.get(), x, n, up);
    multiply(down);
    multiply(up);
  }
  queue_inner(x, x, n, sums + kInnerBlocks);
}
template <class T>
double CudaTileOps<T>::ratio_of_norms(const double* sums) {
  double before = 0, after = 0;
  for (int block = 0; block < kInnerBlocks; ++block) {
    before += sums[block];
    after += sums[kInnerBlocks + block];
  }
  return std::sqrt(after / before);
}

}  // namespace chol::cuda::tlr
