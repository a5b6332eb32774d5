// Products of few long vectors, with asynchronous copies of operands to shared memory several steps
// ahead.
#pragma once

#include "common/cp_async.cuh"
#include "tlr/products.cuh"

namespace chol::cuda::tlr {

inline constexpr int kStages = 3;

/// Copies up to 16 bytes: `count` elements are valid, the others are set to zero.
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

template <class T>
__device__ __forceinline__ bool is_chunk_aligned(const T* p) {
  return reinterpret_cast<uintptr_t>(p) % 16 == 0;
}
/// Number of valid elements of a chunk, if `left` elements remain.
template <class T>
__device__ __forceinline__ int elements_of_chunk(int left) {
  constexpr int kElements = Chunk<T>::kElements;
  return left < 0 ? 0 : left > kElements ? kElements : left;
}

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

/// Shared memory of a product that sums along the vectors (inner products).
template <class T, int kColumns, int kRows = ProductShape<T>::kRows>
struct TallTiles {
  T A[kStages][kRows * ProductShape<T>::kInnerPitch];
  T B[kStages][kColumns * ProductShape<T>::kInnerPitch];
};

/// A tile of C = A^H B, by 2 kRows threads. Its columns are [n0, n_end).
template <class T, int kColumns, int kRows>
__device__ void compute_tall_tile(TallTiles<T, kColumns, kRows>& tiles, const TallItem& item,
                                  int m0, int n0, int n_end) {
  constexpr int kThreads = 2 * kRows;
  constexpr int kInner = ProductShape<T>::kInner, kPitch = ProductShape<T>::kInnerPitch;
  constexpr int kElements = Chunk<T>::kElements, kChunks = kInner / kElements;
  constexpr int kLeft = kRows * kChunks / kThreads;
  constexpr int kRight = kColumns * kChunks / kThreads;
  static_assert(kThreads % kChunks == 0 && kColumns * kChunks % kThreads == 0);
  const int thread = static_cast<int>(threadIdx.x), along = thread % kChunks * kElements;
  const T* const valid = static_cast<const T*>(item.B);
  const T *left[kLeft], *right[kRight];
  bool is_aligned = is_chunk_aligned(valid);
#pragma unroll
  for (int u = 0; u < kLeft; ++u) {
    const int m = m0 + (thread + kThreads * u) / kChunks;
    left[u] = nullptr;
    if (m >= item.m) continue;
    left[u] =
        along + (item.list ? static_cast<const T*>(item.list[m])
                           : static_cast<const T*>(item.A) + static_cast<size_t>(m) * item.lda);
    is_aligned = is_aligned && is_chunk_aligned(left[u]);
  }
#pragma unroll
  for (int u = 0; u < kRight; ++u) {
    const int n = n0 + (thread + kThreads * u) / kChunks;
    right[u] = n < n_end ? valid + static_cast<size_t>(n) * item.ldb + along : nullptr;
    is_aligned = is_aligned && is_chunk_aligned(right[u]);
  }
  const int steps = (item.k + kInner - 1) / kInner;
  const int place = thread / kChunks * kPitch + along;
  const auto load = [&](int step) {
    T *const A = tiles.A[step % kStages] + place, *const B = tiles.B[step % kStages] + place;
    const int k = step * kInner, count = elements_of_chunk<T>(item.k - k - along);
    const auto copy = [&](T* to, const T* from) {
      if (is_aligned)
        copy_async<16>(to, from && count > 0 ? from + k : valid,
                       from ? count * static_cast<int>(sizeof(T)) : 0);
      else
        Chunk<T>::copy(to, from ? from + k : valid, from ? count : 0, valid);
    };
#pragma unroll
    for (int u = 0; u < kLeft; ++u) copy(A + kThreads / kChunks * kPitch * u, left[u]);
#pragma unroll
    for (int u = 0; u < kRight; ++u) copy(B + kThreads / kChunks * kPitch * u, right[u]);
  };
  Accumulators<T, kColumns, kRows> result(thread);
  run_stages(steps, load, [&](int stage) {
    result.template add<Along<T>>(tiles.A[stage], tiles.B[stage], item.m - m0, n_end - n0);
  });
  T* const C = static_cast<T*>(item.C);
  result.each([&](int i, int j, T value) {
    i += m0;
    j += n0;
    if (i < item.m && j < n_end)
      C[static_cast<size_t>(i) * item.step_row + static_cast<size_t>(j) * item.step_column] = value;
  });
}

/// Shared memory of a product that sums over the vectors (linear combinations).
template <class T, int kColumns, int kRows = ProductShape<T>::kRows>
struct WideTiles {
  T A[kStages][ProductShape<T>::kInner * (kRows + 4)];
  T B[kStages][ProductShape<T>::kInner * (kColumns + 4)];
};

/// C (m by n, column-major, contiguous or listed) := A B or C + A B. The columns of A are listed
/// except the last ones, and B is row-major.
struct WideItem {
  const void* const* list;
  const void *last, *B;
  void* C;
  void* const* columns;  ///< of C, or nullptr
  int m, n, listed, all, ldb;
  bool adds;
};

/// Executed by 2 kRows threads.
template <class T, int kColumns, int kRows>
__device__ void compute_wide_tile(WideTiles<T, kColumns, kRows>& tiles, const WideItem& item,
                                  int m0, int n0, int n_end) {
  constexpr int kThreads = 2 * kRows, kInner = ProductShape<T>::kInner;
  constexpr int kElements = Chunk<T>::kElements;
  constexpr int kDown = kRows / kElements, kAcross = kColumns / kElements;
  constexpr int kLeft = kInner * kDown / kThreads;
  constexpr int kRight = kInner * kAcross / kThreads;
  constexpr int kPitchA = kRows + 4, kPitchB = kColumns + 4;
  const T* const last = static_cast<const T*>(item.last);
  static_assert(kThreads % kDown == 0 && kThreads % kAcross == 0);
  static_assert(kInner * kAcross % kThreads == 0);
  constexpr int kRowsOfLeft = kThreads / kDown, kRowsOfRight = kThreads / kAcross;
  const int thread = static_cast<int>(threadIdx.x);
  const T* const valid = static_cast<const T*>(item.B);
  const int m = m0 + thread % kDown * kElements, n = n0 + thread % kAcross * kElements;
  const int count_m = elements_of_chunk<T>(item.m - m), count_n = elements_of_chunk<T>(n_end - n);
  const bool is_aligned = item.m % kElements == 0 && item.ldb % kElements == 0 &&
                          n0 % kElements == 0 && is_chunk_aligned(valid) &&
                          (item.all == item.listed || is_chunk_aligned(last)) &&
                          (item.listed == 0 || is_chunk_aligned(item.list[0]));
  // The columns of a step are read from the list one step before their copies begin.
  const T* columns[kLeft];
  const auto look_up = [&](int step) {
#pragma unroll
    for (int u = 0; u < kLeft; ++u) {
      const int k = step * kInner + thread / kDown + kRowsOfLeft * u;
      columns[u] = k < item.listed ? static_cast<const T*>(item.list[k])
                   : k < item.all  ? last + static_cast<size_t>(k - item.listed) * item.m
                                   : nullptr;
    }
  };
  const T* right = valid + static_cast<size_t>(thread / kAcross) * item.ldb + n;
  const int place_a = thread / kDown * kPitchA + thread % kDown * kElements;
  const int place_b = thread / kAcross * kPitchB + thread % kAcross * kElements;
  const auto load = [&](int step) {
    T *const A = tiles.A[step % kStages] + place_a, *const B = tiles.B[step % kStages] + place_b;
    const auto copy = [&](T* to, const T* from, int count) {
      if (is_aligned)
        copy_async<16>(to, count > 0 ? from : valid, count * static_cast<int>(sizeof(T)));
      else
        Chunk<T>::copy(to, from, count, valid);
    };
#pragma unroll
    for (int u = 0; u < kLeft; ++u)
      copy(A + kRowsOfLeft * kPitchA * u, columns[u] ? columns[u] + m : valid,
           columns[u] ? count_m : 0);
    look_up(step + 1);
    const int left_of_k = item.all - step * kInner - thread / kAcross;
#pragma unroll
    for (int u = 0; u < kRight; ++u)
      copy(B + kRowsOfRight * kPitchB * u, right + static_cast<size_t>(kRowsOfRight * u) * item.ldb,
           kRowsOfRight * u < left_of_k ? count_n : 0);
    right += static_cast<size_t>(kInner) * item.ldb;
  };
  Accumulators<T, kColumns, kRows> result(thread);
  const int steps = (item.all + kInner - 1) / kInner;
  look_up(0);
  run_stages(steps, load, [&](int stage) {
    result.add(tiles.A[stage], tiles.B[stage], item.m - m0, n_end - n0);
  });
  result.each([&](int i, int j, T value) {
    i += m0;
    j += n0;
    if (i >= item.m || j >= n_end) return;
    T* const C = item.columns ? static_cast<T*>(item.columns[j])
                              : static_cast<T*>(item.C) + static_cast<size_t>(j) * item.m;
    C[i] = item.adds ? add(C[i], value) : value;
  });
}

/// C (m by n, column-major) := -A B, or -A times the conjugate of B, with vectors of length m in A.
template <class T>
struct MiddleItem {
  const T *A, *B;
  T* C;
  int m, n, k, lda, ldb, ldc;
};
/// The columns of B are along the summation index (kAlong), or its rows, conjugated, are across it.
template <class T, int kColumns, bool kAlong>
struct MiddleLayout {
  static constexpr int kLeft = 1, kLeftInner = ProductShape<T>::kPitch;
  static constexpr int kRight = kAlong ? ProductShape<T>::kInnerPitch : 1;
  static constexpr int kRightInner = kAlong ? 1 : kColumns + 4;
  static constexpr bool is_adjoint = false, conjugates_right = !kAlong;
};
/// Number of products that a block computes as one sequence of steps.
inline constexpr int kMiddleItems = 8;
template <class T, int kColumns>
struct MiddleTiles {
  static constexpr int kInner = ProductShape<T>::kInner;
  static constexpr int kAlong = kColumns * ProductShape<T>::kInnerPitch;
  static constexpr int kAcross = kInner * (kColumns + 4);
  T A[kStages][kInner * ProductShape<T>::kPitch];
  T B[kStages][kAlong > kAcross ? kAlong : kAcross];
  MiddleItem<T> items[kMiddleItems];
};

/// A step of a tile of one of the products. A block has every parts-th tile.
template <class T, int kColumns>
struct MiddleStep {
  const MiddleItem<T>* at;
  const MiddleItem<T>* end;
  int parts, tile, m0 = 0, n0 = 0, k0 = 0;

  __device__ MiddleStep(const MiddleItem<T>* items, int count, int part, int parts_)
      : at(items), end(items + count), parts(parts_), tile(part) {
    find_tile();
  }
  __device__ bool is_there() const { return at != end; }
  __device__ bool is_last_of_tile() const { return k0 + ProductShape<T>::kInner >= at->k; }
  __device__ void advance() {
    k0 += ProductShape<T>::kInner;
    if (k0 < at->k) return;
    k0 = 0;
    tile += parts;
    find_tile();
  }

 private:
  /// Finds the next tile, beginning with the current product of `at`.
  __device__ void find_tile() {
    constexpr int kRows = ProductShape<T>::kRows;
    for (; at != end; ++at) {
      const int down = (at->m + kRows - 1) / kRows;
      const int count = down * ((at->n + kColumns - 1) / kColumns);
      if (tile < count) {
        m0 = tile % down * kRows;
        n0 = tile / down * kColumns;
        return;
      }
      tile -= count;
    }
  }
};

/// Queues the copies of a step.
template <class T, int kColumns, bool kAlong>
__device__ __forceinline__ void load_middle(const MiddleStep<T, kColumns>& step, T* to_A, T* to_B) {
  using Layout = MiddleLayout<T, kColumns, kAlong>;
  constexpr int kRows = ProductShape<T>::kRows, kInner = ProductShape<T>::kInner;
  constexpr int kElements = Chunk<T>::kElements;
  constexpr int kDown = kRows / kElements, kAcross = (kAlong ? kInner : kColumns) / kElements;
  constexpr int kLeft = kInner * kDown / kProductThreads;
  constexpr int kRight = kColumns * kInner / kElements / kProductThreads;
  static_assert(kProductThreads % kDown == 0 && kProductThreads % kAcross == 0);
  const int thread = static_cast<int>(threadIdx.x);
  const MiddleItem<T>& item = *step.at;
  const T* const valid = item.A;
  {
    const int m = step.m0 + thread % kDown * kElements;
    const T* from = item.A + m;
#pragma unroll
    for (int u = 0; u < kLeft; ++u) {
      const int row = thread / kDown + kProductThreads / kDown * u, k = step.k0 + row;
      const bool is_there = k < item.k && m < item.m;
      Chunk<T>::copy(to_A + row * Layout::kLeftInner + thread % kDown * kElements,
                     is_there ? from + static_cast<size_t>(k) * item.lda : valid,
                     is_there ? item.m - m : 0, valid);
    }
  }
  const int across = thread % kAcross * kElements;
#pragma unroll
  for (int u = 0; u < kRight; ++u) {
    const int row = thread / kAcross + kProductThreads / kAcross * u;
    const int n = step.n0 + (kAlong ? row : across), k = step.k0 + (kAlong ? across : row);
    const bool is_there = k < item.k && n < item.n;
    const size_t place =
        kAlong ? static_cast<size_t>(n) * item.ldb + k : static_cast<size_t>(k) * item.ldb + n;
    Chunk<T>::copy(to_B + row * (kAlong ? Layout::kRight : Layout::kRightInner) + across,
                   is_there ? item.B + place : valid,
                   is_there ? (kAlong ? item.k - k : item.n - n) : 0, valid);
  }
}

/// One part of the first `count` products in tiles.items, which all threads can read.
template <class T, int kColumns, bool kAlong>
__device__ void compute_middle_items(MiddleTiles<T, kColumns>& tiles, int count, int part,
                                     int parts) {
  using Layout = MiddleLayout<T, kColumns, kAlong>;
  MiddleStep<T, kColumns> loaded(tiles.items, count, part, parts), added = loaded;
  const auto load = [&](int stage) {
    if (loaded.is_there()) {
      load_middle<T, kColumns, kAlong>(loaded, tiles.A[stage], tiles.B[stage]);
      loaded.advance();
    }
    close_copy_group();
  };
  for (int stage = 0; stage < kStages - 1; ++stage) load(stage);
  const int thread = static_cast<int>(threadIdx.x);
  Accumulators<T, kColumns> result(thread);
  for (int stage = 0; added.is_there(); stage = stage + 1 < kStages ? stage + 1 : 0) {
    wait_for_copy_groups<kStages - 2>();
    __syncthreads();
    load(stage > 0 ? stage - 1 : kStages - 1);
    const MiddleItem<T>& item = *added.at;
    const int m0 = added.m0, n0 = added.n0;
    result.template add<Layout>(tiles.A[stage], tiles.B[stage], item.m - m0, item.n - n0);
    if (added.is_last_of_tile()) {
      result.each([&](int i, int j, T value) {
        i += m0;
        j += n0;
        if (i < item.m && j < item.n)
          item.C[i + static_cast<size_t>(j) * item.ldc] = negative(value);
      });
      result = Accumulators<T, kColumns>(thread);
    }
    added.advance();
  }
}

}  // namespace chol::cuda::tlr
