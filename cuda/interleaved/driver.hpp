// Interleaved batches: from a choice to the kernels that carry it out.
#pragma once

#include "common/launch.hpp"
#include "interleaved/call.cuh"
#include "interleaved/pack_call.hpp"
#include "tune/interleaved_methods.hpp"
#include "tune/row.hpp"

namespace chol::cuda {

/// Whether the kernels of precision T can run what a row says, built or compiled.
template <class T>
bool accepts_interleaved(const Row& row);

/// log2 of the chunk, or a shift that gives 0 when one chunk holds the batch, or -1.
int chunk_bits(int64_t chunk, int64_t batch);

/// potrf, potrs, posv that does not run in two steps, and potri.
/// @param[in,out] choice becomes what ran: another kernel on a device that has less shared memory,
/// or no compiler for what is not built.
template <class T>
Status run_interleaved(Routine routine, const InterleavedCall<T>& call, Choice& choice,
                       cudaStream_t stream);

}  // namespace chol::cuda
