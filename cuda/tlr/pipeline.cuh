// Products of vectors that are long against their number, with operands on their way to shared
// memory several steps ahead.
#pragma once

#include "common/cp_async.cuh"
#include "tlr/products.cuh"

namespace chol::cuda::tlr {

inline constexpr int kStages = 3;

/// Up to 16 bytes of elements, of which `count` are there; the others become zero.
template <class T>
struct Chunk {
  static constexpr int kElements = 16 / static_cast<int>(sizeof(T));
  __device__ static void copy(T* to, const T* from, int count, const T* valid) {
    count = count < 0 ? 0 : count > kElements ? kElements : count;
    if (count == 0) from = valid;
    if (reinterpret_cast<uintptr_t>(from) % 16 == 0) {
      copy_async<16>(to, from, count * static_cast<int>(sizeof(T)));
      return;
    }
#pragma unroll
    for (int e = 0; e < kElements; ++e)
      copy_async<sizeof(T)>(to + e, e < count ? from + e : valid,
                            e < count ? static_cast<int>(sizeof(T)) : 0);
  }
};

/// load(step) queues the copies of a step into stage step % kStages, kStages - 1 steps before
/// add(stage) uses them.
template <class Load, class Add>
__device__ __forceinline__ void run_stages(int steps, const Load& load, const Add& add) {
#pragma unroll
  for (int step = 0; step < kStages - 1; ++step) {
    if (step < steps) load(step);
    close_copy_group();
  }
  for (int step = 0; step < steps; ++step) {
    wait_for_copy_groups<kStages - 2>();
    __syncthreads();
    if (step + kStages - 1 < steps) load(step + kStages - 1);
    close_copy_group();
    add(step % kStages);
  }
}

/// Shared memory of a product of vectors along which is summed.
template <class T, int kColumns>
struct TallTiles {
  T A[kStages][ProductShape<T>::kRows * ProductShape<T>::kInnerPitch];
  T B[kStages][kColumns * ProductShape<T>::kInnerPitch];
};

/// A tile of C = A^H B.
template <class T, int kColumns>
__device__ void compute_tall_tile(TallTiles<T, kColumns>& tiles, const TallItem& item, int m0,
                                  int n0) {
  constexpr int kRows = ProductShape<T>::kRows;
  constexpr int kInner = ProductShape<T>::kInner, kPitch = ProductShape<T>::kInnerPitch;
  constexpr int kElements = Chunk<T>::kElements, kChunks = kInner / kElements;
  constexpr int kLeft = kRows * kChunks / kProductThreads;
  constexpr int kRight = (kColumns * kChunks + kProductThreads - 1) / kProductThreads;
  const int thread = static_cast<int>(threadIdx.x);
  const T* const valid = static_cast<const T*>(item.B);
  const T *left[kLeft], *right[kRight];
#pragma unroll
  for (int u = 0; u < kLeft; ++u) {
    const int m = m0 + (thread + kProductThreads * u) / kChunks;
    left[u] = nullptr;
    if (m < item.m)
      left[u] = item.list ? static_cast<const T*>(item.list[m])
                          : static_cast<const T*>(item.A) + static_cast<size_t>(m) * item.lda;
  }
#pragma unroll
  for (int u = 0; u < kRight; ++u) {
    const int n = n0 + (thread + kProductThreads * u) / kChunks;
    right[u] = n < item.n ? valid + static_cast<size_t>(n) * item.ldb : nullptr;
  }
  const int steps = (item.k + kInner - 1) / kInner;
  const auto load = [&](int step) {
    T *const A = tiles.A[step % kStages], *const B = tiles.B[step % kStages];
#pragma unroll
    for (int u = 0; u < kLeft; ++u) {
      const int e = thread + kProductThreads * u, k = step * kInner + e % kChunks * kElements;
      Chunk<T>::copy(A + e / kChunks * kPitch + e % kChunks * kElements,
                     left[u] ? left[u] + k : valid, left[u] ? item.k - k : 0, valid);
    }
#pragma unroll
    for (int u = 0; u < kRight; ++u) {
      const int e = thread + kProductThreads * u, k = step * kInner + e % kChunks * kElements;
      if (e < kColumns * kChunks)
        Chunk<T>::copy(B + e / kChunks * kPitch + e % kChunks * kElements,
                       right[u] ? right[u] + k : valid, right[u] ? item.k - k : 0, valid);
    }
  };
  Accumulators<T, kColumns> result(thread);
  run_stages(steps, load, [&](int stage) {
    result.template add<Along<T>>(tiles.A[stage], tiles.B[stage], item.m - m0, item.n - n0);
  });
  T* const C = static_cast<T*>(item.C);
  result.each([&](int i, int j, T value) {
    i += m0;
    j += n0;
    if (i < item.m && j < item.n)
      C[static_cast<size_t>(i) * item.step_row + static_cast<size_t>(j) * item.step_column] = value;
  });
}

/// Shared memory of a sum over vectors.
template <class T, int kColumns>
struct WideTiles {
  T A[kStages][ProductShape<T>::kInner * ProductShape<T>::kPitch];
  T B[kStages][ProductShape<T>::kInner * (kColumns + 4)];
};

/// C (m by n, by columns, contiguous) := A B or C + A B, where A's columns are listed but for the
/// last ones, and B is row-major.
struct WideItem {
  const void* const* list;
  const void *last, *B;
  void* C;
  int m, n, listed, all, ldb;
  bool adds;
};

template <class T, int kColumns>
__device__ void compute_wide_tile(WideTiles<T, kColumns>& tiles, const WideItem& item, int m0,
                                  int n0) {
  constexpr int kRows = ProductShape<T>::kRows, kInner = ProductShape<T>::kInner;
  constexpr int kElements = Chunk<T>::kElements;
  constexpr int kDown = kRows / kElements, kAcross = kColumns / kElements;
  constexpr int kLeft = kInner * kDown / kProductThreads;
  constexpr int kRight = kInner * kAcross / kProductThreads;
  const int thread = static_cast<int>(threadIdx.x);
  const T* const valid = static_cast<const T*>(item.B);
  // The columns of a step are looked up a step before their copies begin.
  const T* columns[kLeft];
  const auto look_up = [&](int step) {
#pragma unroll
    for (int u = 0; u < kLeft; ++u) {
      const int k = step * kInner + (thread + kProductThreads * u) / kDown;
      columns[u] = k < item.listed ? static_cast<const T*>(item.list[k])
                   : k < item.all  ? static_cast<const T*>(item.last) +
                                        static_cast<size_t>(k - item.listed) * item.m
                                  : nullptr;
    }
  };
  const auto load = [&](int step) {
    T *const A = tiles.A[step % kStages], *const B = tiles.B[step % kStages];
#pragma unroll
    for (int u = 0; u < kLeft; ++u) {
      const int e = thread + kProductThreads * u, m = m0 + e % kDown * kElements;
      Chunk<T>::copy(A + e / kDown * ProductShape<T>::kPitch + e % kDown * kElements,
                     columns[u] ? columns[u] + m : valid, columns[u] ? item.m - m : 0, valid);
    }
    look_up(step + 1);
#pragma unroll
    for (int u = 0; u < kRight; ++u) {
      const int e = thread + kProductThreads * u, n = n0 + e % kAcross * kElements;
      const int k = step * kInner + e / kAcross;
      Chunk<T>::copy(B + e / kAcross * (kColumns + 4) + e % kAcross * kElements,
                     k < item.all ? valid + static_cast<size_t>(k) * item.ldb + n : valid,
                     k < item.all ? item.n - n : 0, valid);
    }
  };
  Accumulators<T, kColumns> result(thread);
  const int steps = (item.all + kInner - 1) / kInner;
  look_up(0);
  run_stages(steps, load, [&](int stage) {
    result.add(tiles.A[stage], tiles.B[stage], item.m - m0, item.n - n0);
  });
  T* const C = static_cast<T*>(item.C);
  result.each([&](int i, int j, T value) {
    i += m0;
    j += n0;
    if (i >= item.m || j >= item.n) return;
    T& to = C[i + static_cast<size_t>(j) * item.m];
    to = item.adds ? add(to, value) : value;
  });
}

/// C (m by n, by columns) := -A B, or -A times the conjugates of B, with vectors of length m in A.
template <class T>
struct MiddleItem {
  const T *A, *B;
  T* C;
  int m, n, k, lda, ldb, ldc;
};
/// With B's columns along what is summed over, or its rows, conjugated, across it.
template <class T, int kColumns, bool kAlong>
struct MiddleLayout {
  static constexpr int kLeft = 1, kLeftInner = ProductShape<T>::kPitch;
  static constexpr int kRight = kAlong ? ProductShape<T>::kInnerPitch : 1;
  static constexpr int kRightInner = kAlong ? 1 : kColumns + 4;
  static constexpr bool is_adjoint = false, conjugates_right = !kAlong;
};
template <class T, int kColumns>
struct MiddleTiles {
  static constexpr int kInner = ProductShape<T>::kInner;
  static constexpr int kAlong = kColumns * ProductShape<T>::kInnerPitch;
  static constexpr int kAcross = kInner * (kColumns + 4);
  T A[kStages][kInner * ProductShape<T>::kPitch];
  T B[kStages][kAlong > kAcross ? kAlong : kAcross];
};

template <class T, int kColumns, bool kAlong>
__device__ void compute_middle_tile(MiddleTiles<T, kColumns>& tiles, const MiddleItem<T>& item,
                                    int m0, int n0) {
  using Layout = MiddleLayout<T, kColumns, kAlong>;
  constexpr int kRows = ProductShape<T>::kRows, kInner = ProductShape<T>::kInner;
  constexpr int kElements = Chunk<T>::kElements;
  constexpr int kDown = kRows / kElements, kAcross = (kAlong ? kInner : kColumns) / kElements;
  constexpr int kLeft = kInner * kDown / kProductThreads;
  constexpr int kRight = kColumns * kInner / kElements / kProductThreads;
  const int thread = static_cast<int>(threadIdx.x);
  const auto load = [&](int step) {
    T *const A = tiles.A[step % kStages], *const B = tiles.B[step % kStages];
#pragma unroll
    for (int u = 0; u < kLeft; ++u) {
      const int e = thread + kProductThreads * u, m = m0 + e % kDown * kElements;
      const int k = step * kInner + e / kDown;
      const bool is_there = k < item.k && m < item.m;
      Chunk<T>::copy(A + e / kDown * Layout::kLeftInner + e % kDown * kElements,
                     is_there ? item.A + static_cast<size_t>(k) * item.lda + m : item.A,
                     is_there ? item.m - m : 0, item.A);
    }
#pragma unroll
    for (int u = 0; u < kRight; ++u) {
      const int e = thread + kProductThreads * u, across = e % kAcross * kElements;
      const int n = n0 + (kAlong ? e / kAcross : across);
      const int k = step * kInner + (kAlong ? across : e / kAcross);
      const bool is_there = k < item.k && n < item.n;
      const size_t place =
          kAlong ? static_cast<size_t>(n) * item.ldb + k : static_cast<size_t>(k) * item.ldb + n;
      Chunk<T>::copy(B + e / kAcross * (kAlong ? Layout::kRight : Layout::kRightInner) + across,
                     is_there ? item.B + place : item.A,
                     is_there ? (kAlong ? item.k - k : item.n - n) : 0, item.A);
    }
  };
  Accumulators<T, kColumns> result(thread);
  run_stages((item.k + kInner - 1) / kInner, load, [&](int stage) {
    result.template add<Layout>(tiles.A[stage], tiles.B[stage], item.m - m0, item.n - n0);
  });
  result.each([&](int i, int j, T value) {
    i += m0;
    j += n0;
    if (i < item.m && j < item.n) item.C[i + static_cast<size_t>(j) * item.ldc] = negative(value);
  });
}

}  // namespace chol::cuda::tlr
