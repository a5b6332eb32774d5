// Interleaved batches: runs the kernels of a choice.
#pragma once

#include "common/launch.hpp"
#include "interleaved/call.cuh"
#include "interleaved/pack_call.hpp"
#include "tune/interleaved_methods.hpp"
#include "tune/row.hpp"

namespace chol::cuda {

/// Whether kernels of precision T, built or compiled, can run a row.
template <class T>
bool accepts_interleaved(const Row& row);

/// log2 of the chunk, or a shift that gives 0 when one chunk holds the batch, or -1.
int chunk_bits(int64_t chunk, int64_t batch);

/// potrf, potrs, posv that does not run in two steps, and potri.
/// @param[in,out] choice becomes the one that ran: another kernel on a device with less shared
/// memory, or without a compiler for kernels that are not built.
template <class T>
Status run_interleaved(Routine routine, const InterleavedCall<T>& call, Choice& choice,
                       cudaStream_t stream);

}  // namespace chol::cuda
