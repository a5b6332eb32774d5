// A block's tile of a product with wide right-hand sides, on double precision tensor cores.
// Operands are copied to shared memory several steps ahead. Single precision is converted to double
// when loaded from there, since double precision tensor cores are as fast as single precision
// multiply-add units.
#pragma once

#include "common/cp_async.cuh"
#include "common/mma_f64.cuh"
#include "common/scalar.cuh"

namespace chol::cuda::tlr {

/// @tparam kSplit groups of warps, each of which processes a part of every step
template <class T_, int kWarpsDown_, int kWarpsAcross_, int kSplit_, int kDown_, int kAcross_,
          int kInner_, int kStages_>
struct WideShape {
  using T = T_;
  static constexpr int kWarpsDown = kWarpsDown_, kWarpsAcross = kWarpsAcross_, kSplit = kSplit_;
  static constexpr int kDown = kDown_, kAcross = kAcross_, kInner = kInner_, kStages = kStages_;
  static constexpr int kThreads = 32 * kWarpsDown * kWarpsAcross * kSplit;
  static constexpr int kRows = 16 * kDown * kWarpsDown, kColumns = 8 * kAcross * kWarpsAcross;
  /// Elements per copy of 16 bytes.
  static constexpr int kPiece = 16 / static_cast<int>(sizeof(T));
  /// Avoids bank conflicts of 32, 16 or 8 lanes that read four rows.
  static constexpr int kPad = sizeof(T) == 4 ? 8 : sizeof(T) == 8 ? 4 : 2;
  static constexpr int kPitch = kRows + kPad, kInnerPitch = kInner + 4;
  static constexpr int kRightPitch = kColumns + kPad;
  static constexpr int kLeftElements = larger(kInner * kPitch, kRows* kInnerPitch);
  static constexpr int kStageElements = kLeftElements + kInner * kRightPitch;
  static constexpr int kSharedBytes = kStages * kStageElements * static_cast<int>(sizeof(T));
};

template <class Shape>
struct WideAcross {
  static constexpr int kRow = 1, kInner = Shape::kPitch;
  static constexpr bool is_adjoint = false;
};
/// The summation index is contiguous; the left factor is conjugated.
template <class Shape>
struct WideAlong {
  static constexpr int kRow = Shape::kInnerPitch, kInner = 1;
  static constexpr bool is_adjoint = true;
};

template <class Shape>
class WideTile {
  using T = typename Shape::T;
  static constexpr int kParts = Traits<T>::is_complex ? 2 : 1;
  static constexpr int kDown = Shape::kDown, kAcross = Shape::kAcross;

 public:
  __device__ WideTile() {
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
    const int warp = thread / 32 % (Shape::kWarpsDown * Shape::kWarpsAcross);
    share_ = thread / (32 * Shape::kWarpsDown * Shape::kWarpsAcross);
    row_ = warp % Shape::kWarpsDown * 16 * kDown;
    column_ = warp / Shape::kWarpsDown * 8 * kAcross;
    g_ = lane / 4;
    t_ = lane % 4;
    each_part([](int, double& c) { c = 0; });
  }
  /// Adds the product A B of one step. @param rows valid rows
  template <class Layout>
  __device__ void add(const T* A, const T* B, int rows) {
    if (row_ >= rows) return;
    constexpr int kOfShare = Shape::kInner / Shape::kSplit;
#pragma unroll
    for (int step = 0; step < kOfShare; step += 4) {
      const int k = share_ * kOfShare + step + t_;
      const T* const a = A + k * Layout::kInner + (row_ + g_) * Layout::kRow;
      const T* const b = B + k * Shape::kRightPitch + column_ + g_;
      double left[kDown][3][2];  // real parts, imaginary parts, and those with opposite sign
#pragma unroll
      for (int i = 0; i < kDown; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const T x = conj_if(Layout::is_adjoint, a[(16 * i + 8 * half) * Layout::kRow]);
          left[i][0][half] = real(x);
          left[i][1][half] = imaginary(x);
          left[i][2][half] = -left[i][1][half];
        }
#pragma unroll
      for (int j = 0; j < kAcross; ++j) {
        const T y = b[8 * j];
#pragma unroll
        for (int i = 0; i < kDown; ++i) {
          tensor_multiply(c_[0][i][j], left[i][0], double(real(y)));
          if constexpr (Traits<T>::is_complex) {
            tensor_multiply(c_[0][i][j], left[i][2], double(y.im));
            tensor_multiply(c_[1][i][j], left[i][0], double(y.im));
            tensor_multiply(c_[1][i][j], left[i][1], double(y.re));
          }
        }
      }
    }
  }
  /// Adds the partial sums of the groups of warps, in order, in the first group.
  /// @param memory shared memory that is not accessed by other threads any more
  __device__ void add_shares(double* memory) {
    if constexpr (Shape::kSplit > 1) {
      static_assert(Shape::kSplit == 2);
      constexpr int kThreads = Shape::kThreads / 2;
      double* const own = memory + threadIdx.x % kThreads;
      constexpr int kValues = 4 * kParts * kDown * kAcross;
      static_assert(sizeof(double) * kValues * kThreads <= Shape::kSharedBytes);
      if (share_ > 0) each_part([&](int index, double& c) { own[index * kThreads] = c; });
      __syncthreads();
      if (share_ == 0) each_part([&](int index, double& c) { c += own[index * kThreads]; });
      __syncthreads();
    }
  }
  /// Calls body(row, column, value) for the elements of this thread.
  template <class Body>
  __device__ void each(const Body& body) const {
    if (share_ > 0) return;
#pragma unroll
    for (int i = 0; i < kDown; ++i)
#pragma unroll
      for (int j = 0; j < kAcross; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          T value;
          if constexpr (Traits<T>::is_complex)
            value = {Real<T>(c_[0][i][j][e / 2][e % 2]),
                     Real<T>(c_[kParts - 1][i][j][e / 2][e % 2])};
          else
            value = T(c_[0][i][j][e / 2][e % 2]);
          body(row_ + 16 * i + g_ + 8 * (e / 2), column_ + 8 * j + 2 * t_ + e % 2, value);
        }
  }

 private:
  __device__ static double imaginary(T x) {
    if constexpr (Traits<T>::is_complex)
      return x.im;
    else
      return 0;
  }
  template <class Body>
  __device__ void each_part(const Body& body) {
    int index = 0;
#pragma unroll
    for (int p = 0; p < kParts; ++p)
#pragma unroll
      for (int i = 0; i < kDown; ++i)
#pragma unroll
        for (int j = 0; j < kAcross; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e) body(index++, c_[p][i][j][e / 2][e % 2]);
  }

  double c_[kParts][kDown][kAcross][2][2];
  int row_, column_, g_, t_, share_;
};

/// Copies of a block's threads to the shared memory of one step. Elements behind the end of a sum
/// are set to zero.
template <class Shape>
struct WideCopies {
  using T = typename Shape::T;
  static constexpr int kPiece = Shape::kPiece;
  /// Pieces per thread: of the left factor, across or along, and of the right one.
  static constexpr int kAcross = Shape::kInner * Shape::kRows / kPiece / Shape::kThreads;
  static constexpr int kAlong = kAcross;
  static constexpr int kPieces = Shape::kInner * Shape::kColumns / kPiece;
  static constexpr int kRight = (kPieces + Shape::kThreads - 1) / Shape::kThreads;
  static_assert(kAcross * kPiece * Shape::kThreads == Shape::kInner * Shape::kRows);

  /// Copies a piece with that many valid elements.
  /// @param is_aligned whether all are aligned to 16 bytes
  __device__ __forceinline__ static void copy(T* to, const T* from, int there, bool is_aligned) {
    if (is_aligned) {
      const int bytes = larger(0, smaller(there, kPiece)) * static_cast<int>(sizeof(T));
      copy_async_once(shared_address(to), from, bytes);
      return;
    }
#pragma unroll
    for (int e = 0; e < kPiece; ++e)
      copy_async<sizeof(T)>(to + e, e < there ? from + e : from,
                            e < there ? static_cast<int>(sizeof(T)) : 0);
  }
  /// Position of piece q of this thread in a left factor across: row, and summation index.
  __device__ static int row_across(int q) { return index(q) * kPiece % Shape::kRows; }
  __device__ static int inner_across(int q) { return index(q) * kPiece / Shape::kRows; }
  __device__ static int row_along(int q) { return index(q) * kPiece / Shape::kInner; }
  __device__ static int inner_along(int q) { return index(q) * kPiece % Shape::kInner; }
  __device__ static int column_of_right(int q) { return index(q) * kPiece % Shape::kColumns; }
  __device__ static int inner_of_right(int q) { return index(q) * kPiece / Shape::kColumns; }
  __device__ static bool has_right(int q) {
    return kPieces % Shape::kThreads == 0 || index(q) < kPieces;
  }

 private:
  __device__ static int index(int q) { return static_cast<int>(threadIdx.x) + q * Shape::kThreads; }
};

/// Adds the given number of steps to a tile.
/// @param issue (step, left, right): starts the copies of a step
template <class Layout, class Shape, class Issue>
__device__ void add_steps(WideTile<Shape>& tile, int steps, int rows, typename Shape::T* memory,
                          Issue&& issue) {
  constexpr int kAhead = Shape::kStages - 1;
  const auto left = [&](int step) {
    return memory + step % Shape::kStages * Shape::kStageElements;
  };
  const auto begin = [&](int step) {
    if (step < steps) issue(step, left(step), left(step) + Shape::kLeftElements);
    close_copy_group();
  };
  for (int step = 0; step < kAhead; ++step) begin(step);
  for (int step = 0; step < steps; ++step) {
    wait_for_copy_groups<kAhead - 1>();
    __syncthreads();
    begin(step + kAhead);
    tile.template add<Layout>(left(step), left(step) + Shape::kLeftElements, rows);
  }
  __syncthreads();
}

}  // namespace chol::cuda::tlr
