// Products of low rank tiles with one or a few right-hand sides, for the stages of a solve (see
// wide_ops.cuh). Each element of a factor is read once, with many loads in flight. Every sum has a
// fixed order.
#pragma once

#include "tlr/load_once.cuh"
#include "tlr/wide.hpp"

namespace chol::cuda::tlr {

/// The part of one block. X, Y, W and the partial sums are row-major with kColumns columns.
template <class T, int kColumns>
class ThinProducts {
 public:
  static constexpr int kThreads = 256, kWarps = kThreads / 32;
  /// Elements of a factor that a thread has in flight.
  static constexpr int kAhead = sizeof(T) == 16 ? 8 : 16;
  /// Columns of a list that fit in shared memory.
  static constexpr int kChunk = 1024 / kColumns;
  /// Rows of a stage's solution per block.
  static constexpr int kSolveRows = kWarps;
  static constexpr int kPartialBytes = static_cast<int>(sizeof(T)) * kColumns * kThreads;
  static constexpr int kLeftBytes =
      kChunk * static_cast<int>(sizeof(T*) + kColumns * sizeof(T)) + kPartialBytes;
  static constexpr int right_bytes(int order) {
    return order * kColumns * static_cast<int>(sizeof(T));
  }

  __device__ ThinProducts(const WideCall& call, void* memory)
      : call_(call),
        memory_(static_cast<T*>(memory)),
        thread_(static_cast<int>(threadIdx.x)),
        warp_(thread_ / 32),
        lane_(thread_ % 32) {}

  /// W := the adjoint of columns of right factors times x. A warp computes every eighth of at most
  /// 256 columns. The next elements are loaded during the reduction over lanes.
  __device__ void multiply_right(const RightTask& task) const {
    const int order = call_.starts[task.source + 1] - call_.starts[task.source];
    const int columns = (task.count - warp_ + kWarps - 1) / kWarps;
    RightColumn own{};
    if (lane_ < columns) own = call_.right[task.first + warp_ + kWarps * lane_];
    const auto elements = [&](int c) {
      return reinterpret_cast<const T*>(
          __shfl_sync(kFullWarp, reinterpret_cast<unsigned long long>(own.elements), c));
    };
    const T* const x =
        static_cast<const T*>(call_.X) + int64_t{call_.starts[task.source]} * kColumns;
    T v[kAhead];
    const T* column = elements(0);
    if (columns > 0) load(column, 0, order, v);
    for (int e = thread_; e < order * kColumns; e += kThreads)
      memory_[e % kColumns * order + e / kColumns] = x[e];
    __syncthreads();
    for (int c = 0; c < columns; ++c) {
      T sum[kColumns] = {};
      for (int first = 0; first < order; first += 32 * kAhead) {
        const bool ends = first + 32 * kAhead >= order;
        multiply(v, first, order, sum);
        if (ends && c + 1 < columns) column = elements(c + 1);
        if (!ends || c + 1 < columns) load(column, ends ? 0 : first + 32 * kAhead, order, v);
      }
      const int64_t row = __shfl_sync(kFullWarp, own.row, c);
#pragma unroll
      for (int r = 0; r < kColumns; ++r) {
        sum[r] = sum_lanes<32>(sum[r]);
        if (lane_ == 0) static_cast<T*>(call_.W)[row * kColumns + r] = sum[r];
      }
    }
  }
  /// Computes the sums of a part.
  template <int kRows>
  __device__ void set_part(const PartTask& task) const {
    T* const to = static_cast<T*>(call_.parts) + (int64_t{task.to} - task.left.row) * kColumns;
    multiply_left<kRows>(
        task.left, [](int, int, T(&)[kColumns]) {},
        [&](int i, int r, T sum) { to[int64_t{i} * kColumns + r] = sum; });
  }
  /// Y -= the sum of a task and of all parts.
  template <int kRows>
  __device__ void subtract_all(const PartTask& task) const {
    const T* const parts =
        static_cast<const T*>(call_.parts) + (int64_t{task.to} - task.left.row) * kColumns;
    T* const Y = static_cast<T*>(call_.Y) + int64_t{call_.starts[task.left.target]} * kColumns;
    const int64_t step = int64_t{call_.part_rows} * kColumns;
    multiply_left<kRows>(
        task.left,
        [&](int group, int i, T(&sum)[kColumns]) {
          for (int part = group; part < call_.part_count; part += kThreads / kRows)
#pragma unroll
            for (int r = 0; r < kColumns; ++r)
              sum[r] = add(sum[r], parts[part * step + int64_t{i} * kColumns + r]);
        },
        [&](int i, int r, T sum) {
          T& y = Y[int64_t{i} * kColumns + r];
          y = subtract(y, sum);
        });
  }
  /// Computes rows [row, row + kSolveRows) of a stage of the solution, which begins at row `start`
  /// of X and Y.
  __device__ void solve(const T* inverse, int start, int order, int row) const {
    const T* const y = static_cast<const T*>(call_.Y) + int64_t{start} * kColumns;
    T* const x = static_cast<T*>(call_.X) + int64_t{start} * kColumns;
    const int beside = call_.has_pairs ? 1 : 0;
    T sum[kColumns] = {};
    if (call_.adjoint) {
      const int i = row + warp_;
      if (i >= order) return;
      const T* const column = inverse + int64_t{i} * order;
      add_elements<32, true>(
          larger(i - beside, 0) + lane_, order, [&](int k) { return column + k; }, y, sum);
#pragma unroll
      for (int r = 0; r < kColumns; ++r) {
        sum[r] = sum_lanes<32>(sum[r]);
        if (lane_ == 0) x[int64_t{i} * kColumns + r] = sum[r];
      }
      return;
    }
    constexpr int kGroups = kThreads / kSolveRows;
    const int i = row + thread_ % kSolveRows;
    const int end = i < order ? smaller(row + kSolveRows + beside, order) : 0;
    add_elements<kGroups, false>(
        thread_ / kSolveRows, end, [&](int k) { return inverse + int64_t{k} * order + i; }, y, sum);
    add_groups<kSolveRows>(memory_, sum, [&](int m, int r, T value) {
      if (row + m < order) x[int64_t{row + m} * kColumns + r] = value;
    });
  }

 private:
  /// Loads this lane's elements of a column from row `first` on.
  __device__ void load(const T* column, int first, int order, T (&v)[kAhead]) const {
#pragma unroll
    for (int m = 0; m < kAhead; ++m) {
      const int row = first + 32 * m + lane_;
      v[m] = row < order ? load_once(column + row) : from_real<T>(0);
    }
  }
  __device__ void multiply(const T (&v)[kAhead], int first, int order, T (&sum)[kColumns]) const {
#pragma unroll
    for (int m = 0; m < kAhead; ++m) {
      const int row = first + 32 * m + lane_;
      if (row >= order) break;
#pragma unroll
      for (int r = 0; r < kColumns; ++r)
        sum[r] = add_product_conj(sum[r], memory_[r * order + row], v[m]);
    }
  }
  /// Adds the products of elements k, k + kStep, ... of a row of a factor, or of their conjugates,
  /// and rows of `right`.
  template <int kStep, bool kConjugates, class Place>
  __device__ static void add_elements(int k, int end, const Place& place, const T* right,
                                      T (&sum)[kColumns]) {
    const auto add_all = [&](const auto& is_there) {
      T a[kAhead];
#pragma unroll
      for (int m = 0; m < kAhead; ++m)
        if (is_there(m)) a[m] = load_once(place(k + m * kStep));
#pragma unroll
      for (int m = 0; m < kAhead; ++m) {
        if (!is_there(m)) break;
        const T* const row = right + (k + m * kStep) * kColumns;
#pragma unroll
        for (int r = 0; r < kColumns; ++r)
          sum[r] = add_product_conj(sum[r], row[r], conj_if(!kConjugates, a[m]));
      }
    };
    for (; k + (kAhead - 1) * kStep < end; k += kStep * kAhead) add_all([](int) { return true; });
    if (k < end) add_all([&](int m) { return k + m * kStep < end; });
  }
  /// Adds the sums of threads with the same row, in order, and calls body(row, column, sum).
  template <int kRows, class Body>
  __device__ void add_groups(T* partial, T (&sum)[kColumns], const Body& body) const {
    constexpr int kPartials = kRows < 32 ? kWarps : kThreads / kRows;
    const int row = thread_ % kRows, group = kRows < 32 ? warp_ : thread_ / kRows;
#pragma unroll
    for (int r = 0; r < kColumns; ++r) {
      if constexpr (kRows < 32) sum[r] = sum_lanes<32, kRows>(sum[r]);
      if (kRows >= 32 || lane_ < kRows) partial[(group * kRows + row) * kColumns + r] = sum[r];
    }
    __syncthreads();
    for (int e = thread_; e < kRows * kColumns; e += kThreads) {
      T value = partial[e];
#pragma unroll
      for (int g = 1; g < kPartials; ++g) value = add(value, partial[g * kRows * kColumns + e]);
      body(e / kColumns, e % kColumns, value);
    }
  }
  /// Calls body(row, column, sum) for kRows rows of a target. Threads with the same row belong to
  /// different groups, and each group processes every kGroups-th column.
  /// @param before (group, row, sum): adds further terms
  template <int kRows, class Before, class Body>
  __device__ void multiply_left(const LeftTask& task, const Before& before,
                                const Body& body) const {
    constexpr int kGroups = kThreads / kRows;
    const int order = call_.starts[task.target + 1] - call_.starts[task.target];
    const int i = task.row + thread_ % kRows, group = thread_ / kRows;
    const T** const columns = reinterpret_cast<const T**>(memory_ + kThreads * kColumns);
    T* const multiplied = reinterpret_cast<T*>(columns + kChunk);
    T sum[kColumns] = {};
    for (int first = task.first; first < task.end; first += kChunk) {
      const int count = smaller(kChunk, task.end - first);
      if (first > task.first) __syncthreads();
      for (int c = thread_; c < count; c += kThreads) {
        const LeftColumn column = call_.left[first + c];
        const T* const row = static_cast<const T*>(column.row >= 0 ? call_.W : call_.X) +
                             (column.row >= 0 ? column.row : ~column.row) * kColumns;
        columns[c] = static_cast<const T*>(column.elements);
#pragma unroll
        for (int r = 0; r < kColumns; ++r) multiplied[c * kColumns + r] = row[r];
      }
      __syncthreads();
      add_elements<kGroups, false>(
          group, i < order ? count : 0, [&](int c) { return columns[c] + i; }, multiplied, sum);
    }
    if (i < order) {
      for (int d = task.first_identity + group; d < task.end_identity; d += kGroups)
#pragma unroll
        for (int r = 0; r < kColumns; ++r)
          sum[r] = add(sum[r], static_cast<const T*>(
                                   call_.W)[(int64_t{call_.identities[d]} + i) * kColumns + r]);
      before(group, i, sum);
    }
    add_groups<kRows>(memory_, sum, [&](int m, int r, T value) {
      if (task.row + m < order) body(task.row + m, r, value);
    });
  }

  const WideCall& call_;
  T* memory_;
  int thread_, warp_, lane_;
};

}  // namespace chol::cuda::tlr
