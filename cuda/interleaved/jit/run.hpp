// Interleaved kernels that are compiled when a row names them: any block columns, matrices a block
// and threads of shared/factor.cuh, tiles and their order of thread/tiled.cuh, orders and columns
// in registers for which the others are not built.
#pragma once

#include "common/launch.hpp"
#include "interleaved/call.cuh"
#include "interleaved/jit/accepts.hpp"

namespace chol::cuda {

template <InterleavedTask kTask>
inline constexpr Routine kRoutineOf = kTask == InterleavedTask::factor  ? Routine::potrf
                                      : kTask == InterleavedTask::solve ? Routine::potrs
                                                                        : Routine::posv;

/// Queues the choice's kernel, compiled if necessary; nothing is queued on failure. @param[out] had
/// whether the kernel is available. The choice is one that can_compile() accepts.
template <InterleavedTask kTask, class T>
Status run_compiled(InterleavedCall<T> call, const Choice& choice, cudaStream_t stream, bool& had);

}  // namespace chol::cuda
