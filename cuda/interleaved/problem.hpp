// An interleaved problem for the kernels of interleaved batches, which need no workspace.
#pragma once

#include <algorithm>

#include "call_workspace.hpp"
#include "interleaved/driver.hpp"
#include "interleaved/kernels.hpp"
#include "interleaved/via_column_major.hpp"

namespace chol::cuda {

template <class T>
PackCall<Device<T>> pack_call(const backend::Problem<T>& problem, bool unpacks) {
  const MatrixBatch<T>& packed = unpacks ? problem.A : problem.B;
  PackCall<Device<T>> call;
  call.matrices = device_view(unpacks ? problem.B : problem.A);
  call.packed.A = reinterpret_cast<Device<T>*>(packed.first);
  call.packed.lda = packed.ld;
  call.packed.chunk = packed.chunk;
  call.packed.chunk_bits = chunk_bits(packed.chunk, problem.sizes.count);
  call.packed.batch = problem.sizes.count;
  call.rows = static_cast<unsigned>(problem.sizes.n);
  call.columns = static_cast<unsigned>(problem.whole ? problem.sizes.nrhs : problem.sizes.n);
  call.part = problem.whole                ? PackedPart::whole
              : problem.uplo == CHOL_UPPER ? PackedPart::upper
                                           : PackedPart::lower;
  return call;
}

template <class T>
InterleavedCall<Device<T>> interleaved_call(const backend::Problem<T>& problem) {
  using D = Device<T>;
  const BatchSizes& sizes = problem.sizes;
  InterleavedCall<D> call;
  call.A = reinterpret_cast<D*>(problem.A.first);
  call.lda = problem.A.ld;
  call.B = reinterpret_cast<D*>(problem.B.first);
  call.ldb = problem.B.ld;
  call.chunk = problem.A.chunk;
  call.chunk_bits = chunk_bits(call.chunk, sizes.count);
  call.batch = sizes.count;
  call.n = static_cast<int>(sizes.n);
  call.nrhs = sizes.nrhs;
  call.info = problem.info;
  call.swapped = problem.uplo == CHOL_UPPER;
  return call;
}

/// @param[in,out] choice as run_interleaved() has it.
template <class T>
Status run_in_place(const backend::Problem<T>& problem, Choice& choice, cudaStream_t stream) {
  if (problem.routine == Routine::logdet)
    return run_log_determinant(interleaved_call(problem), problem.result, stream);
  return run_interleaved(problem.routine, interleaved_call(problem), choice, stream);
}

/// pack and unpack.
template <class T>
Status copy_interleaved(const backend::Problem<T>& problem, cudaStream_t stream) {
  const BatchSizes& sizes = problem.sizes;
  const bool unpacks = problem.routine == Routine::unpack;
  if (!is_counted_by_pack(sizes))
    return Status::error(Status::kNotSupported,
                         "%lld elements in a matrix, must be below 2^31 on a CUDA device",
                         static_cast<long long>(sizes.n * std::max(sizes.n, sizes.nrhs)));
  return run_pack(pack_call(problem, unpacks), unpacks, stream);
}

}  // namespace chol::cuda
