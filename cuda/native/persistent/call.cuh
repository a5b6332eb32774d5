// Functions of a call that all parts of the kernel use.
#pragma once

#include "native/persistent/block.cuh"
#include "native/persistent/call.hpp"
#include "native/persistent/flags.cuh"
#include "native/persistent/synchronize.cuh"

namespace chol::cuda::persistent {

/// Tiles in the workspace, four a tile column, by which groups and the chain exchange double
/// precision data: for step c of the chain its two tiles before the last products, the tile to the
/// left of the first, and the finished diagonal tile with inverted diagonal blocks.
enum class Scratch : int { below, square, left, diagonal };

template <class T>
__device__ __forceinline__ Flags flags_of(const Call<T>& call) {
  const Schedule tiles = call.schedule();
  return {call.flags, tiles.rows, tiles.columns};
}
template <class T>
__device__ __forceinline__ Doubled<T>* scratch_tile(const Call<T>& call, Scratch which, int step) {
  return call.scratch + (4 * int64_t(step) + int(which)) * Config<T>::kScratchTile;
}

/// Stores the rows below n of a block of the matrix at (row, column).
/// @tparam kLower whether only its lower triangle.
/// @param call this one's or that of the trailing update.
template <bool swapped, bool aligned, bool kLower = false, template <class> class Call, class T,
          int kParts>
__device__ __forceinline__ void store_factor(const Call<T>& call, int row, int column,
                                             const Block<kParts>& block, Lane lane) {
  struct alignas(sizeof(T) == 16 ? 16 : 2 * sizeof(T)) Pair {
    T first, second;
  };
  T* const corner = call.template at<swapped>(row, column);
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int i = lane.row(r);
    if (row + i >= call.n) continue;
    if constexpr (swapped && aligned && !kLower) {
#pragma unroll
      for (int h = 0; h < 2; ++h)
        *reinterpret_cast<Pair*>(corner + i * call.ld + 2 * lane.t + 8 * h) = {
            block.template get<T>(2 * h, r), block.template get<T>(2 * h + 1, r)};
    } else {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int j = lane.column(k);
        if (kLower && j > i) continue;
        corner[swapped ? i * call.ld + j : j * call.ld + i] = block.template get<T>(k, r);
      }
    }
  }
}

}  // namespace chol::cuda::persistent
