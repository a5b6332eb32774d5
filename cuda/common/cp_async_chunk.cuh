// The piece that triangles are copied to shared memory by.
#pragma once

#include <type_traits>

#include "common/batch_view.cuh"
#include "common/cp_async.cuh"

namespace chol::cuda {

/// Starts the copy of kElements elements, 16 bytes or one element, of which the first `inside` are
/// there; the others become zero. Both places are aligned to all of it.
template <int kElements, class T>
__device__ __forceinline__ void copy_chunk(unsigned to, const T* from, int inside) {
  constexpr int kBytes = kElements * int(sizeof(T));
  if constexpr (kBytes == 16)
    copy_async_once(to, from, inside * int(sizeof(T)));
  else
    copy_async<kBytes>(to, from, inside * int(sizeof(T)));
}

/// Calls body(elements) with those of a chunk: 16 bytes of lines that begin at multiples of them,
/// of others one, so that neighbouring lanes have neighbouring elements: parts of 16 bytes a lane
/// meet in few banks, and each of them asks for the same sectors again.
template <class T, class Body>
__device__ __forceinline__ void for_chunk_size(const LowerView<T>& A, Body&& body) {
  if ((reinterpret_cast<uintptr_t>(A.a) | A.ld * sizeof(T)) % 16 == 0)
    body(std::integral_constant<int, 16 / int(sizeof(T))>{});
  else
    body(std::integral_constant<int, 1>{});
}

}  // namespace chol::cuda
