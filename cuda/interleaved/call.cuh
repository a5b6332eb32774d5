// One interleaved call as passed to kernels.
#pragma once

#include <cstdint>

#include "interleaved/task.hpp"
#include "interleaved/thread/scalar_lane.cuh"

namespace chol::cuda {

/// The upper triangle is the lower one on swapped strides, which holds conj(A), whose factor
/// conj(L) is U where U belongs. Right-hand sides are conjugated when they are loaded and stored,
/// since conj(A) conj(x) = conj(b).
template <class T>
struct InterleavedCall {
  T* A = nullptr;
  int64_t lda = 1;
  T* B = nullptr;
  int64_t ldb = 1;
  int64_t chunk = 1;
  int chunk_bits = -1;  ///< log2(chunk) or, with one chunk in all, a shift that gives 0; -1: divide
  int64_t batch = 0;
  int n = 0;
  int64_t nrhs = 0;
  int* info = nullptr;  ///< a solve skips matrices whose info, if given, is not 0
  bool swapped = false;
  /// Whether the matrices of a block are contiguous in one chunk of A, in multiples of 16 bytes.
  /// Elements of the last chunk beyond the batch may then be read.
  bool aligned = false;
  int solvers = 1;  ///< right-hand sides of a matrix that a block solves at a time

  /// Offset of element (0, 0) of matrix b in an array of that leading dimension and width.
  __device__ __forceinline__ int64_t start(int64_t b, int64_t ld, int64_t columns) const {
    const int64_t whole = chunk_bits >= 0 ? b >> chunk_bits : b / chunk;
    return (whole * columns * ld - whole) * chunk + b;
  }
  __device__ __forceinline__ bool failed(int64_t b) const { return info && info[b] != 0; }
  /// The lower triangle of matrix b.
  __device__ __forceinline__ LaneMatrix<Lane<T>> triangle(int64_t b) const {
    auto* first = reinterpret_cast<Lane<T>*>(A) + start(b, lda, n);
    const int64_t down = chunk, right = lda * chunk;
    return {first, swapped ? right : down, swapped ? down : right};
  }
  __device__ __forceinline__ LaneMatrix<Lane<T>> right_hand_sides(int64_t b) const {
    return {reinterpret_cast<Lane<T>*>(B) + start(b, ldb, nrhs), chunk, ldb * chunk};
  }
};

/// conj(x) where `yes`.
template <class R>
__device__ __forceinline__ gpu_lane::Vec<R> conj_if(bool, gpu_lane::Vec<R> x) {
  return x;
}
template <class R>
__device__ __forceinline__ gpu_lane::ComplexLane<gpu_lane::Vec<R>> conj_if(
    bool yes, gpu_lane::ComplexLane<gpu_lane::Vec<R>> x) {
  x.im.v = yes ? -x.im.v : x.im.v;
  return x;
}

template <class R>
__device__ __forceinline__ gpu_lane::Vec<R> choose(bool first, gpu_lane::Vec<R> x,
                                                   gpu_lane::Vec<R> y) {
  return {first ? x.v : y.v};
}
template <class V>
__device__ __forceinline__ gpu_lane::ComplexLane<V> choose(bool first, gpu_lane::ComplexLane<V> x,
                                                           gpu_lane::ComplexLane<V> y) {
  return {choose(first, x.re, y.re), choose(first, x.im, y.im)};
}

}  // namespace chol::cuda
