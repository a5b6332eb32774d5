// Interface between the methods of interleaved batches and the kernels, which have one compile unit
// a family, task and precision.
#pragma once

#include <utility>

#include "interleaved/block_shape.hpp"
#include "interleaved/call.cuh"
#include "interleaved/threads/shape.hpp"
#ifndef __CUDACC_RTC__  // kernels are also compiled at run time, launch code is not
#include "common/launch.hpp"
#endif

namespace chol::cuda {

template <class T>
inline constexpr char kPrecision = sizeof(T) == 4          ? 's'
                                   : sizeof(T) == 16       ? 'z'
                                   : Traits<T>::is_complex ? 'c'
                                                           : 'd';

/// Most threads of a block of the kernels of thread/registers.cuh.
inline constexpr int kRegisterThreads = 128;
/// Largest order whose triangle fits the registers of a thread.
template <class T>
inline constexpr int kRegisterOrder = register_order(kPrecision<T>);
/// Threads a matrix for each order, and the orders for which thread/left_looking.cuh and the
/// kernels of threads/ are built.
template <InterleavedTask kTask, class T>
inline constexpr ThreadsTable kThreadsTable{kPrecision<T>, kTask};
template <class T>
inline constexpr int kFirstColumnOrder =
    left_looking_orders(kPrecision<T>, InterleavedTask::factor).least;
template <InterleavedTask kTask, class T>
inline constexpr int kColumnOrder = left_looking_orders(kPrecision<T>, kTask).largest;
template <InterleavedTask kTask, class T>
inline constexpr int kFirstThreadsOrder =
    kTask == InterleavedTask::solve ? kRegisterOrder<T> + 1 : kColumnOrder<kTask, T> + 1;
template <InterleavedTask kTask, class T>
inline constexpr int kPanelOrder = kThreadsTable<kTask, T>.largest();

/// Compile units of run_columns and run_held, and that of an order.
inline constexpr int kOrderParts = 2;
template <InterleavedTask kTask, class T>
constexpr int part_of_order(int n) {
  const ThreadsShape shape = kThreadsTable<kTask, T>.shape(n);
  return (shape.threads > 0 ? shape.order(n) / shape.threads : n) % kOrderParts;
}

#ifndef __CUDACC_RTC__
/// One thread a matrix, orders up to kRegisterOrder. @param threads of a block, 0 for the most.
template <InterleavedTask kTask, class T>
Status run_registers(const InterleavedCall<T>& call, int threads, cudaStream_t stream);

/// One thread a matrix, orders from kFirstColumnOrder to kColumnOrder: factors, with at most one
/// right-hand side.
template <InterleavedTask kTask, int kPart, class T>
Status run_columns(const InterleavedCall<T>& call, cudaStream_t stream);

/// A few threads a matrix, orders from kFirstThreadsOrder to kPanelOrder: solves, and factors with
/// at most one right-hand side.
template <int kPart, class T>
Status run_threads_solve(const InterleavedCall<T>& call, cudaStream_t stream);
template <InterleavedTask kTask, int kPart, class T>
Status run_threads_factor(const InterleavedCall<T>& call, cudaStream_t stream);

/// Shared memory of a block of shared/factor.cuh, built or not.
template <InterleavedTask kTask>
int64_t shared_bytes(int64_t element_bytes, int64_t n, int64_t solvers, const SharedKnobs& knobs) {
  const int64_t vectors = kTask == InterleavedTask::factor
                              ? 0
                              : shared_vectors(kTask != InterleavedTask::solve, solvers);
  return shared_block_bytes(element_bytes, n, vectors, knobs);
}
struct SharedLaunch {
  unsigned blocks;
  int bytes;
};
/// Sets the members of `call` that depend on the kernel's shape. @param limit shared memory of a
/// block.
template <InterleavedTask kTask, class T>
SharedLaunch prepare_shared(InterleavedCall<T>& call, const SharedKnobs& knobs, int64_t limit) {
  const auto bytes = int64_t(sizeof(T));
  call.aligned = call.chunk % knobs.lanes == 0 && call.chunk * bytes % 16 == 0 &&
                 knobs.lanes * bytes % 16 == 0 && reinterpret_cast<uintptr_t>(call.A) % 16 == 0;
  const int slots = knobs.slots();
  call.solvers = call.nrhs < slots ? int(call.nrhs) : slots;
  if (call.solvers < 1) call.solvers = 1;
  const auto need = [&] { return shared_bytes<kTask>(bytes, call.n, call.solvers, knobs); };
  while (call.solvers > 1 && need() > limit) --call.solvers;
  return {static_cast<unsigned>((call.batch + knobs.lanes - 1) / knobs.lanes), int(need())};
}

/// Orders for which the triangles of a block's matrices fit its shared memory.
template <InterleavedTask kTask, class T>
Status run_shared(const InterleavedCall<T>& call, const SharedKnobs& knobs, cudaStream_t stream);
/// Shared memory of run_shared with so many right-hand sides at a time; negative if no such kernel
/// is built.
template <InterleavedTask kTask, class T>
int64_t shared_need(int64_t n, int64_t solvers, const SharedKnobs& knobs);

/// Factors by a warp or a few a matrix, with at most one right-hand side, and solves, orders up to
/// kWarpFactorOrder whose triangles fit the shared memory of a block.
template <InterleavedTask kTask, class T>
Status run_warp_factor(const InterleavedCall<T>& call, const WarpsParams& params,
                       cudaStream_t stream);
/// Shared memory of a block; more than any device has if there is no such kernel.
template <InterleavedTask kTask, class T>
int64_t warp_factor_need(int64_t n, const WarpsParams& params);

/// Solves by one warp a matrix, orders up to kWarpsOrder whose triangles fit the shared memory of a
/// block.
template <class T>
Status run_warps(const InterleavedCall<T>& call, cudaStream_t stream);
inline constexpr int kWarpsOrder = 128;
/// Shared memory of a block; more than any device has for orders that are too large.
template <class T>
int64_t warps_need(int64_t n);

/// One thread a matrix in device memory, any order.
template <InterleavedTask kTask, class T>
Status run_streamed(const InterleavedCall<T>& call, cudaStream_t stream);
/// The inverse from the factor.
template <class T>
Status run_inverse(const InterleavedCall<T>& call, cudaStream_t stream);
template <class T>
Status run_log_determinant(const InterleavedCall<T>& call, Real<T>* result, cudaStream_t stream);
#endif

}  // namespace chol::cuda
