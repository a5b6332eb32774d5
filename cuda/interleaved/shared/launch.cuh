// Finds the kernels of shared/factor.cuh by their knobs and launches them.
#pragma once

#include "interleaved/shared/factor.cuh"
#include "interleaved/shared/shapes.hpp"

namespace chol::cuda {

template <class T, class Shape, InterleavedTask kTask>
Status launch_shared(InterleavedCall<T> call, cudaStream_t stream) {
  const SharedLaunch its = prepare_shared<kTask>(
      call, {Shape::kColumns, Shape::kLanes, Shape::kThreads}, block_shared_limit());
  return launch("interleaved, shared memory", shared_kernel<T, Shape, kTask>, its.blocks,
                Shape::kThreads, its.bytes, stream, call);
}

/// Calls visit(shape) for the shape of those knobs, if it is built.
template <InterleavedTask kTask, class T, class Visit>
bool with_shape(const SharedKnobs& knobs, Visit&& visit) {
  const auto consider = [&]<class S>(S shape) {
    if (knobs.columns != S::kColumns || knobs.lanes != S::kLanes || knobs.threads != S::kThreads)
      return false;
    visit(shape);
    return true;
  };
  return [&]<class... S>(ShapeList<S...>) {
    return (consider(S{}) || ...);
  }(typename SharedShapesOf<kTask, T>::List{});
}

template <InterleavedTask kTask, class T>
int64_t shared_need(int64_t n, int64_t solvers, const SharedKnobs& knobs) {
  int64_t need = -1;
  with_shape<kTask, T>(knobs,
                       [&](auto) { need = shared_bytes<kTask>(sizeof(T), n, solvers, knobs); });
  return need;
}

template <InterleavedTask kTask, class T>
Status run_shared(const InterleavedCall<T>& call, const SharedKnobs& knobs, cudaStream_t stream) {
  Status status;
  const bool found = with_shape<kTask, T>(
      knobs, [&]<class S>(S) { status = launch_shared<T, S, kTask>(call, stream); });
  return found ? status
               : Status::error(Status::kNotSupported,
                               "interleaved: no kernel of %d columns, %d lanes and %d threads",
                               knobs.columns, knobs.lanes, knobs.threads);
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_INTERLEAVED_SHARED(task, T)                                  \
  template chol::Status chol::cuda::run_shared<chol::cuda::InterleavedTask::task, T>( \
      const InterleavedCall<T>&, const SharedKnobs&, cudaStream_t);                   \
  template int64_t chol::cuda::shared_need<chol::cuda::InterleavedTask::task, T>(     \
      int64_t, int64_t, const SharedKnobs&);
