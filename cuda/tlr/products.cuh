// Sums of products, one launch per list: a block computes a tile of one sum, with all terms in
// order.
#pragma once

#include "common/mma_f64.cuh"
#include "common/scalar.cuh"
#include "tlr/descriptors.hpp"

namespace chol::cuda::tlr {

template <class T>
struct ProductShape {
  static constexpr bool is_tensor = sizeof(Real<T>) == 8;
  static constexpr int kRows = 64;
  static constexpr int kInner = sizeof(T) == 16 ? 8 : 16;
  static constexpr int kPitch = kRows + 4;
  static constexpr int kInnerPitch = kInner + 4;
};

/// Positions of element (i, k) of the left factor and (k, j) of the right factor in shared memory:
/// rows and columns are contiguous.
template <class T, int kColumns, int kRows = ProductShape<T>::kRows>
struct Across {
  static constexpr int kLeft = 1, kLeftInner = kRows + 4;
  static constexpr int kRight = 1, kRightInner = kColumns + 4;
  static constexpr bool is_adjoint = false, conjugates_right = false;
};
/// The summation index is contiguous; the left factor is not yet conjugated.
template <class T>
struct Along {
  static constexpr int kLeft = ProductShape<T>::kInnerPitch, kLeftInner = 1;
  static constexpr int kRight = ProductShape<T>::kInnerPitch, kRightInner = 1;
  static constexpr bool is_adjoint = true, conjugates_right = false;
};

/// The accumulators of a block for a tile of kRows by kColumns, with 2 kRows threads.
template <class T, int kColumns, int kRows = ProductShape<T>::kRows,
          bool is_tensor = ProductShape<T>::is_tensor>
struct Accumulators;

template <class T, int kColumns, int kRows>
struct Accumulators<T, kColumns, kRows, true> {
  static constexpr int kWarps = kRows / 16, kDown = kColumns >= 64 ? 2 : 1;
  static constexpr int kWarpsDown = kWarps / kDown, kWarpsAcross = kDown;
  static constexpr int kAcross = kColumns / (8 * kWarpsAcross);
  /// Distance of a warp's groups of eight columns: if few columns are valid, all warps have some.
  static constexpr int kStep = 8 * kWarpsAcross;
  static constexpr int kParts = Traits<T>::is_complex ? 2 : 1;
  double c[kParts][kDown][kAcross][2][2];
  int row, column, g, t;

  __device__ explicit Accumulators(int thread) {
    const int warp = thread / 32, lane = thread % 32;
    row = warp % kWarpsDown * 16 * kDown;
    column = warp / kWarpsDown * 8;
    g = lane / 4;
    t = lane % 4;
#pragma unroll
    for (int p = 0; p < kParts; ++p)
#pragma unroll
      for (int i = 0; i < kDown; ++i)
#pragma unroll
        for (int j = 0; j < kAcross; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e) c[p][i][j][e / 2][e % 2] = 0;
  }
  /// @param m, n valid rows and columns
  template <class Layout = Across<T, kColumns, kRows>>
  __device__ void add(const T* A, const T* B, int m, int n) {
    if (row >= m) return;
#pragma unroll
    for (int k = 0; k < ProductShape<T>::kInner; k += 4) {
      const T* const a = A + (k + t) * Layout::kLeftInner + (row + g) * Layout::kLeft;
      const T* const b = B + (k + t) * Layout::kRightInner + (column + g) * Layout::kRight;
      T left[kDown][2];
#pragma unroll
      for (int i = 0; i < kDown; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half)
          left[i][half] = conj_if(Layout::is_adjoint, a[(16 * i + 8 * half) * Layout::kLeft]);
#pragma unroll
      for (int j = 0; j < kAcross; ++j) {
        if (column + kStep * j >= n) continue;
        const T right = conj_if(Layout::conjugates_right, b[kStep * j * Layout::kRight]);
#pragma unroll
        for (int i = 0; i < kDown; ++i) {
          if constexpr (Traits<T>::is_complex) {
            const double re[2] = {left[i][0].re, left[i][1].re};
            const double im[2] = {left[i][0].im, left[i][1].im};
            const double minus_im[2] = {-im[0], -im[1]};
            tensor_multiply(c[0][i][j], re, right.re);
            tensor_multiply(c[0][i][j], minus_im, right.im);
            tensor_multiply(c[1][i][j], re, right.im);
            tensor_multiply(c[1][i][j], im, right.re);
          } else {
            tensor_multiply(c[0][i][j], left[i], right);
          }
        }
      }
    }
  }
  template <class Write>
  __device__ void each(const Write& write) const {
#pragma unroll
    for (int i = 0; i < kDown; ++i)
#pragma unroll
      for (int j = 0; j < kAcross; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          T value;
          if constexpr (Traits<T>::is_complex)
            value = {c[0][i][j][e / 2][e % 2], c[kParts - 1][i][j][e / 2][e % 2]};
          else
            value = c[0][i][j][e / 2][e % 2];
          write(row + 16 * i + g + 8 * (e / 2), column + kStep * j + 2 * t + e % 2, value);
        }
  }
};

template <class T, int kColumns, int kRows>
struct Accumulators<T, kColumns, kRows, false> {
  static constexpr int kDown = 4, kStepDown = kRows / kDown, kAcross = kColumns / 8;
  T c[kDown][kAcross];
  int row, column;

  __device__ explicit Accumulators(int thread)
      : row(thread % kStepDown), column(thread / kStepDown) {
#pragma unroll
    for (int i = 0; i < kDown; ++i)
#pragma unroll
      for (int j = 0; j < kAcross; ++j) c[i][j] = from_real<T>(0);
  }
  template <class Layout = Across<T, kColumns, kRows>>
  __device__ void add(const T* A, const T* B, int, int) {
#pragma unroll
    for (int k = 0; k < ProductShape<T>::kInner; ++k) {
      T left[kDown];
#pragma unroll
      for (int i = 0; i < kDown; ++i)
        left[i] = conj_if(!Layout::is_adjoint,
                          A[k * Layout::kLeftInner + (row + kStepDown * i) * Layout::kLeft]);
#pragma unroll
      for (int j = 0; j < kAcross; ++j) {
        const T right = conj_if(Layout::conjugates_right,
                                B[k * Layout::kRightInner + (column + 8 * j) * Layout::kRight]);
#pragma unroll
        for (int i = 0; i < kDown; ++i) c[i][j] = add_product_conj(c[i][j], right, left[i]);
      }
    }
  }
  template <class Write>
  __device__ void each(const Write& write) const {
#pragma unroll
    for (int i = 0; i < kDown; ++i)
#pragma unroll
      for (int j = 0; j < kAcross; ++j) write(row + kStepDown * i, column + 8 * j, c[i][j]);
  }
};

/// Registers for the operands of one step of a product before they are stored to shared memory.
template <class T, int kColumns>
struct Operands {
  static constexpr int kInner = ProductShape<T>::kInner, kRows = ProductShape<T>::kRows;
  static constexpr int kLeft = kRows * kInner / kProductThreads;
  static constexpr int kRight = kColumns * kInner / kProductThreads;
  T left[kLeft], right[kRight];

  __device__ static void left_place(bool adjoint, int e, int* m, int* k) {
    *m = adjoint ? e / kInner : e % kRows;
    *k = adjoint ? e % kInner : e / kRows;
  }
  __device__ static void right_place(bool adjoint, int e, int* n, int* k) {
    *n = adjoint ? e % kColumns : e / kInner;
    *k = adjoint ? e / kColumns : e % kInner;
  }
  __device__ void load(const Term& term, int k0, int m0, int m, int n0, int n) {
    const bool adjoint_a = term.flags & kAdjointA, adjoint_b = term.flags & kAdjointB;
    const T* const A = static_cast<const T*>(term.A);
    const T* const B = static_cast<const T*>(term.B);
#pragma unroll
    for (int u = 0; u < kLeft; ++u) {
      int i, k;
      left_place(adjoint_a, threadIdx.x + kProductThreads * u, &i, &k);
      i += m0;
      k += k0;
      const size_t place =
          adjoint_a ? k + static_cast<size_t>(i) * term.lda : i + static_cast<size_t>(k) * term.lda;
      left[u] = i < m && k < term.k ? A[place] : from_real<T>(0);
    }
#pragma unroll
    for (int u = 0; u < kRight; ++u) {
      int j, k;
      right_place(adjoint_b, threadIdx.x + kProductThreads * u, &j, &k);
      j += n0;
      k += k0;
      const size_t place =
          adjoint_b ? j + static_cast<size_t>(k) * term.ldb : k + static_cast<size_t>(j) * term.ldb;
      right[u] = j < n && k < term.k ? B[place] : from_real<T>(0);
    }
  }
  __device__ void store(int flags, T* A, T* B, int pitch_b) const {
#pragma unroll
    for (int u = 0; u < kLeft; ++u) {
      int i, k;
      left_place(flags & kAdjointA, threadIdx.x + kProductThreads * u, &i, &k);
      A[k * ProductShape<T>::kPitch + i] = conj_if(flags & kAdjointA, left[u]);
    }
#pragma unroll
    for (int u = 0; u < kRight; ++u) {
      int j, k;
      right_place(flags & kAdjointB, threadIdx.x + kProductThreads * u, &j, &k);
      const T value = conj_if(flags & kAdjointB, right[u]);
      B[k * pitch_b + j] = flags & kSubtract ? negative(value) : value;
    }
  }
};

template <class T, int kColumns>
struct ProductTiles {
  static constexpr int kPitchB = kColumns + 4;
  T A[2][ProductShape<T>::kInner * ProductShape<T>::kPitch];
  T B[2][ProductShape<T>::kInner * kPitchB];
};

/// The terms of a sum from a list.
struct ListedTerms {
  const Term *at, *end;
  __device__ bool next(Term* term) {
    if (at == end) return false;
    *term = *at++;
    return true;
  }
};

/// Computes the tile of a sum at row m0, column n0, by all threads of a block.
/// @param terms next(&term) returns the terms in order; none is empty
template <class T, int kColumns, class Terms>
__device__ void compute_tile(ProductTiles<T, kColumns>& tiles, const Sum& sum, Terms terms, int m0,
                             int n0) {
  constexpr int kPitchB = ProductTiles<T, kColumns>::kPitchB;
  Accumulators<T, kColumns> result(threadIdx.x);
  Operands<T, kColumns> operands;
  int k = 0, stage = 0;
  Term term{}, next{};
  bool has_term = terms.next(&term), has_next = has_term && terms.next(&next);
  if (has_term) operands.load(term, 0, m0, sum.m, n0, sum.n);
  while (has_term) {
    operands.store(term.flags, tiles.A[stage], tiles.B[stage], kPitchB);
    __syncthreads();
    k += ProductShape<T>::kInner;
    if (k >= term.k) {
      k = 0;
      term = next;
      has_term = has_next;
      has_next = has_term && terms.next(&next);
    }
    if (has_term) operands.load(term, k, m0, sum.m, n0, sum.n);
    result.add(tiles.A[stage], tiles.B[stage], sum.m - m0, sum.n - n0);
    stage ^= 1;
  }
  T* const C = static_cast<T*>(sum.C);
  result.each([&](int i, int j, T value) {
    i += m0;
    j += n0;
    if (i >= sum.m || j >= sum.n) return;
    T* const to = C + i + static_cast<size_t>(j) * sum.ldc;
    *to = sum.overwrite ? value : add(*to, value);
  });
}

/// Resident blocks per multiprocessor.
template <class T>
inline constexpr int kProductBlocks = sizeof(T) == 16 ? 2 : 3;

template <class T, int kColumns>
__global__ void __launch_bounds__(kProductThreads, kProductBlocks<T>)
    products_kernel(const Term* __restrict__ terms, const Sum* __restrict__ sums,
                    const Part* __restrict__ parts) {
  __shared__ ProductTiles<T, kColumns> tiles;
  const Part part = parts[blockIdx.x];
  const Sum sum = sums[part.sum];
  const Term* const first = terms + sum.first;
  compute_tile<T, kColumns>(tiles, sum, ListedTerms{first, first + sum.count},
                            part.row * ProductShape<T>::kRows, part.column * kColumns);
}

/// Sums of at most kMostVectors columns, 32 rows per block. For plain terms a lane has a row and a
/// warp every kVectorWarps-th column; for adjoint terms a warp has a row.
inline constexpr int kMostVectors = 4, kVectorThreads = 512, kVectorWarps = kVectorThreads / 32;
template <class T>
__global__ void __launch_bounds__(kVectorThreads)
    vectors_kernel(const Term* __restrict__ terms, const Sum* __restrict__ sums,
                   const Part* __restrict__ parts) {
  __shared__ T of_warps[kVectorWarps][kMostVectors][33], of_rows[kMostVectors][32];
  const Part part = parts[blockIdx.x];
  const Sum sum = sums[part.sum];
  const int m0 = 32 * part.row, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  T plain[kMostVectors], adjoint[32 / kVectorWarps][kMostVectors];
#pragma unroll
  for (int j = 0; j < kMostVectors; ++j) {
    plain[j] = from_real<T>(0);
#pragma unroll
    for (int r = 0; r < 32 / kVectorWarps; ++r) adjoint[r][j] = from_real<T>(0);
  }
  for (int t = sum.first; t < sum.first + sum.count; ++t) {
    const Term term = terms[t];
    const T* const A = static_cast<const T*>(term.A);
    const T* const B = static_cast<const T*>(term.B);
    const Real<T> sign = term.flags & kSubtract ? Real<T>(-1) : Real<T>(1);
    // For vectors the right factor is not transposed: see CudaTileOps::multiply().
    if (!(term.flags & kAdjointA)) {
      if (m0 + lane >= sum.m) continue;
#pragma unroll 4
      for (int k = warp; k < term.k; k += kVectorWarps) {
        const T a = scale(conj(A[m0 + lane + static_cast<size_t>(k) * term.lda]), sign);
#pragma unroll
        for (int j = 0; j < kMostVectors; ++j)
          if (j < sum.n)
            plain[j] = add_product_conj(plain[j], B[k + static_cast<size_t>(j) * term.ldb], a);
      }
      continue;
    }
#pragma unroll
    for (int r = 0; r < 32 / kVectorWarps; ++r) {
      const int i = m0 + warp * (32 / kVectorWarps) + r;
      if (i >= sum.m) break;
#pragma unroll 4
      for (int k = lane; k < term.k; k += 32) {
        const T a = scale(A[k + static_cast<size_t>(i) * term.lda], sign);
#pragma unroll
        for (int j = 0; j < kMostVectors; ++j)
          if (j < sum.n)
            adjoint[r][j] =
                add_product_conj(adjoint[r][j], B[k + static_cast<size_t>(j) * term.ldb], a);
      }
    }
  }
#pragma unroll
  for (int j = 0; j < kMostVectors; ++j) {
    of_warps[warp][j][lane] = plain[j];
#pragma unroll
    for (int r = 0; r < 32 / kVectorWarps; ++r) {
      const T value = sum_lanes<32>(adjoint[r][j]);
      if (lane == 0) of_rows[j][warp * (32 / kVectorWarps) + r] = value;
    }
  }
  __syncthreads();
  const int j = warp;
  if (j >= sum.n || m0 + lane >= sum.m) return;
  T value = of_rows[j][lane];
  for (int w = 0; w < kVectorWarps; ++w) value = add(value, of_warps[w][j][lane]);
  T* const to = static_cast<T*>(sum.C) + m0 + lane + static_cast<size_t>(j) * sum.ldc;
  *to = sum.overwrite ? value : add(*to, value);
}

}  // namespace chol::cuda::tlr
