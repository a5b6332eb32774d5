// Chunks in which triangles are copied to shared memory.
#pragma once

#include <type_traits>

#include "common/batch_view.cuh"
#include "common/cp_async.cuh"

namespace chol::cuda {

/// Starts the copy of kElements elements, 16 bytes or one element, of which the first `inside` are
/// valid; the others become zero. Both addresses are aligned to the chunk.
template <int kElements, class T>
__device__ __forceinline__ void copy_chunk(unsigned to, const T* from, int inside) {
  constexpr int kBytes = kElements * int(sizeof(T));
  if constexpr (kBytes == 16)
    copy_async_once(to, from, inside * int(sizeof(T)));
  else
    copy_async<kBytes>(to, from, inside * int(sizeof(T)));
}

/// Calls body(elements) with the elements of a chunk: 16 bytes for aligned lines; one element
/// otherwise, so that adjacent lanes have adjacent elements: element-wise copies of 16 bytes a lane
/// would have bank conflicts and request sectors repeatedly.
template <class T, class Body>
__device__ __forceinline__ void for_chunk_size(const LowerView<T>& A, Body&& body) {
  if ((reinterpret_cast<uintptr_t>(A.a) | A.ld * sizeof(T)) % 16 == 0)
    body(std::integral_constant<int, 16 / int(sizeof(T))>{});
  else
    body(std::integral_constant<int, 1>{});
}

}  // namespace chol::cuda
