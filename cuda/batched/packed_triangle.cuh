// A triangle in shared memory as the solves by one warp read it.
#pragma once

#include "common/scalar.cuh"

namespace chol::cuda {

/// A lower triangle in shared memory by block columns of eight, each with an
/// odd pitch so that reads along rows and along columns both spread over the
/// banks.
template <class T>
struct PackedTriangle {
  static constexpr int kWidth = 8;
  T* data;
  int pitch0;  ///< of the first block column; each next one is shorter by kWidth

  __host__ __device__ static int elements(int n) {
    const int last = (n - 1) / kWidth, pitch = n | 1;
    return offset(last, pitch) + kWidth * (pitch - kWidth * last);
  }
  __host__ __device__ static int offset(int h, int pitch0) {
    return kWidth * h * pitch0 - kWidth * kWidth / 2 * h * (h - 1);
  }
  /// Column 8 h + c from its row 8 h on.
  __device__ __forceinline__ T* column(int h, int c) const {
    return data + offset(h, pitch0) + c * (pitch0 - kWidth * h);
  }
  __device__ __forceinline__ int pitch(int h) const { return pitch0 - kWidth * h; }
  __device__ __forceinline__ T* at(int i, int j) const {
    const int h = j / kWidth;
    return column(h, j % kWidth) + i - kWidth * h;
  }
};

}  // namespace chol::cuda
