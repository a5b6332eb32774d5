// Copies between interleaved and column-major matrices, transposed tile by tile in shared memory.
#pragma once

#include "interleaved/pack_call.hpp"

namespace chol::cuda {

inline constexpr int kPackTile = 32, kPackRows = 8;

/// A block transposes kPackTile matrices by kPackTile elements, numbered along the columns, so that
/// contiguous small matrices are read in full lines.
template <class T, bool kUnpacks>
__global__ void __launch_bounds__(kPackTile* kPackRows) pack_kernel(PackCall<T> call) {
  __shared__ T tile[kPackTile][kPackTile + 1];
  const int64_t first_b = int64_t(blockIdx.x) * kPackTile;
  const int x = threadIdx.x, y = threadIdx.y;
  const InterleavedCall<T>& packed = call.packed;
  for (unsigned first = blockIdx.y * kPackTile; first < call.rows * call.columns;
       first += gridDim.y * kPackTile) {
    // Elements vary along x on the column-major side, matrices along x on the other.
    const auto columns_side = [&](auto&& move) {
      const unsigned e = first + x, j = e / call.rows, i = e - j * call.rows;
#pragma unroll
      for (int r = 0; r < kPackTile / kPackRows; ++r) {
        const int m = y + r * kPackRows;
        const int64_t b = first_b + m;
        if (b < packed.batch && call.has(i, j))
          move(call.matrices.matrix(b)[j * call.matrices.leading_dimension(b) + i], tile[m][x]);
      }
    };
    const auto packed_side = [&](auto&& move) {
      const int64_t b = first_b + x;
      if (b >= packed.batch) return;
      T* const base = packed.A + packed.start(b, packed.lda, call.columns);
#pragma unroll
      for (int r = 0; r < kPackTile / kPackRows; ++r) {
        const int k = y + r * kPackRows;
        const unsigned e = first + k, j = e / call.rows, i = e - j * call.rows;
        if (call.has(i, j)) move(base[(j * packed.lda + i) * packed.chunk], tile[x][k]);
      }
    };
    const auto take = [](T& from, T& to) { to = from; };
    const auto put = [](T& to, T& from) { to = from; };
    if constexpr (kUnpacks) {
      packed_side(take);
      __syncthreads();
      columns_side(put);
    } else {
      columns_side(take);
      __syncthreads();
      packed_side(put);
    }
    __syncthreads();
  }
}

template <class T>
Status run_pack(const PackCall<T>& call, bool unpacks, cudaStream_t stream) {
  const int64_t tiles = (int64_t(call.rows) * call.columns + kPackTile - 1) / kPackTile;
  const dim3 grid(static_cast<unsigned>((call.packed.batch + kPackTile - 1) / kPackTile),
                  static_cast<unsigned>(tiles < 65535 ? tiles : 65535));
  const dim3 block(kPackTile, kPackRows);
  if (unpacks)
    pack_kernel<T, true><<<grid, block, 0, stream>>>(call);
  else
    pack_kernel<T, false><<<grid, block, 0, stream>>>(call);
  return launched(unpacks ? "unpack" : "pack");
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_INTERLEAVED_PACK(T) \
  template chol::Status chol::cuda::run_pack<T>(const PackCall<T>&, bool, cudaStream_t);
