// A copy between interleaved and column-major matrices.
#pragma once

#include "common/batch_view.cuh"
#include "common/launch.hpp"
#include "interleaved/call.cuh"

namespace chol::cuda {

/// Which elements of a matrix are copied.
enum class PackedPart { lower, upper, whole };

template <class T>
struct PackCall {
  BatchView<T> matrices;
  InterleavedCall<T> packed;       ///< A, lda, chunk, chunk_bits, batch
  unsigned rows = 0, columns = 0;  ///< their product below 2^31, for 32-bit divisions
  PackedPart part = PackedPart::whole;

  __device__ __forceinline__ bool has(unsigned i, unsigned j) const {
    if (i >= rows || j >= columns) return false;
    return part == PackedPart::whole || (part == PackedPart::lower ? i >= j : i <= j);
  }
};

template <class T>
Status run_pack(const PackCall<T>& call, bool unpacks, cudaStream_t stream);

}  // namespace chol::cuda
