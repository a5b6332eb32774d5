// Products of the low rank tiles below the diagonal of a matrix, or of their adjoints, with few
// columns. One kernel on all multiprocessors reads U and V once.
//
// A group of blocks owns some block rows i and computes the sums of L_ij x_j in the order of j.
// Each block of the group processes a share of the columns of U and V of every tile, and
// accumulates the sum of its share only. The next columns of U and V are loaded to registers while
// the current ones are multiplied. Every sum has a fixed order.
#pragma once

#include "common/scalar.cuh"
#include "tlr/load_once.cuh"
#include "tlr/sweep.hpp"

namespace chol::cuda::tlr {

/// @tparam kDown rows of a tile per thread
template <class T, int kWarps, int kDown, int kColumns>
struct SweepShape {
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kOrder = kThreads * kDown;  ///< the largest order of a tile
  /// Elements of U, and of V, that a thread has in registers.
  static constexpr int kElements = sizeof(T) == 16 ? kWarps / 2 : kWarps;
  /// Columns of U and V that a block processes at a time.
  static constexpr int kVectors = kElements / kDown;
  static constexpr int kRowsOfWarp = 32 * kElements;
  static constexpr int kWarpsOfVector = kOrder / kRowsOfWarp;
  static_assert(kWarpsOfVector * kVectors == kWarps);

  static constexpr int kVectorElements = 2 * kColumns * kOrder;
  static constexpr int kSumElements = 2 * kWarps * kColumns;
  static constexpr int kWorkBytes = 512;
  static constexpr int kSharedBytes = sizeof(T) * (kVectorElements + kSumElements) + kWorkBytes;
};

/// The part of one thread.
template <class T, int kWarps, int kDown, int kColumns>
class Sweep {
  using S = SweepShape<T, kWarps, kDown, kColumns>;
  static constexpr int kThreads = S::kThreads, kOrder = S::kOrder, kVectors = S::kVectors;
  static constexpr int kElements = S::kElements, kWarpsOfVector = S::kWarpsOfVector;
  static constexpr int kVectorSize = kColumns * kOrder;
  using Rows = T[kDown][kColumns];

 public:
  __device__ Sweep(const SweepCall& call, void* memory)
      : call_(call),
        vectors_(static_cast<T*>(memory)),
        sums_(vectors_ + S::kVectorElements),
        thread_(static_cast<int>(threadIdx.x)),
        warp_(thread_ / 32),
        lane_(thread_ % 32) {}

  __device__ void run(int block) {
    const int group = block / call_.shares, share = block % call_.shares;
    static_assert(sizeof(Work) <= S::kWorkBytes);
    Work& work = *reinterpret_cast<Work*>(sums_ + S::kSumElements);
    SweepTile tile{};
    if (thread_ == 0) {
      work.cursor = {};
      work.current = {};
      work.cursor.rows = call_.rows + call_.group_starts[group];
      work.cursor.count = call_.group_starts[group + 1] - call_.group_starts[group];
      work.cursor.skip_diagonals();
      fetch_tile(work.cursor, tile);
      for (int k = 0; k < 3; ++k) take(work, share, tile, work.units[k]);
    }
    __syncthreads();
    if (!work.units[0].exists) return;
    T v[kElements], u[kElements];
    Rows x, sum{};
    load_right(work.units[0], v);
    load_left(work.units[0], u);
    ask(work.units[0].column, x);
    int received = -1, turn = 0, buffer = 0;
    for (int k = 0;; ++k) {
      const Unit &now = work.units[k % 4], &next = work.units[(k + 1) % 4];
      if (now.column != received) {
        received = now.column;
        buffer ^= 1;
        receive(received, x, vectors_ + buffer * kVectorSize);
        __syncthreads();
      }
      if (next.exists && next.column != received) ask(next.column, x);
      const T* const vector = vectors_ + buffer * kVectorSize;
      T* const products = sums_ + turn * kWarps * kColumns;
      if (now.right) multiply_right(v, vector, products);
      if (next.exists) load_right(next, v);
      __syncthreads();
      // The previous unit is no longer in use by any thread.
      if (thread_ == 0) take(work, share, tile, work.units[(k + 3) % 4]);
      multiply_left(now, u, vector, products, sum);
      if (next.exists) load_left(next, u);
      if (now.ends) store(now, share, sum);
      if (!next.exists) return;
      if (next.begins) continue_sum(next, share, sum);
      turn ^= 1;
    }
  }

 private:
  __device__ int start_of(int position) const { return call_.starts[call_.index(position)]; }
  __device__ int rows_of(int position) const {
    const int i = call_.index(position);
    return call_.starts[i + 1] - call_.starts[i];
  }

  /// The columns of U and V of a tile in the block's share.
  struct Unit {
    int column, row;        ///< positions of the tile
    const T *right, *left;  ///< left (right^H x); nullptr: the identity, from column `first` on
    int first, vectors, right_rows, left_rows;
    bool begins, ends;  ///< whether it is the first or last unit of the current sum
    bool exists;
  };
  /// The next tile, whose descriptor is being loaded.
  struct Cursor {
    const int* rows;
    int count;          ///< number of rows of the group
    int column, place;  ///< of the tile: its column, the index of its row in `rows`
    int begun;          ///< number of rows whose diagonal precedes the column

    __device__ bool is_at_end() const { return begun == count; }
    __device__ void skip_diagonals() {
      while (begun < count && rows[begun] <= column) ++begun;
      place = begun;
    }
  };

  __device__ void fetch_tile(const Cursor& cursor, SweepTile& tile) const {
    if (cursor.is_at_end()) return;
    const int a = call_.index(cursor.column), b = call_.index(cursor.rows[cursor.place]);
    const int64_t row = larger(a, b), column = smaller(a, b);
    tile = call_.tiles[row * (row - 1) / 2 + column];
  }
  __device__ void go_on(Cursor& cursor, SweepTile& tile) const {
    if (++cursor.place == cursor.count) {
      ++cursor.column;
      cursor.skip_diagonals();
    }
    fetch_tile(cursor, tile);
  }

  /// The tile from which units are taken.
  struct Current {
    SweepTile tile;
    int column = 0, row = 0, begin = 0, end = 0, next = 0;
  };

  /// State of one thread in shared memory, and the units that it prepares for the block.
  struct Work {
    Cursor cursor;
    Current current;
    Unit units[4];
  };

  /// Takes the next unit, if one exists.
  /// @param tile the tile of the cursor, which is being loaded
  __device__ void take(Work& work, int share, SweepTile& tile, Unit& unit) const {
    Cursor& cursor = work.cursor;
    Current& current = work.current;
    for (;;) {
      if (current.next < current.end) {
        fill(current, unit);
        current.next += unit.vectors;
        unit.ends = current.next == current.end;
        return;
      }
      unit.exists = !cursor.is_at_end();
      if (!unit.exists) return;
      current.tile = tile;
      current.column = cursor.column;
      current.row = cursor.rows[cursor.place];
      go_on(cursor, tile);
      const int64_t width = current.tile.rank < 0
                                ? rows_of(call_.adjoint ? current.row : current.column)
                                : current.tile.rank;
      // Shares are ranges of whole units, since registers hold one unit. They rotate by tile.
      const int units = static_cast<int>((width + kVectors - 1) / kVectors);
      const int turn = (share + current.row + current.column) % call_.shares;
      const auto end = [&](int index) {
        return smaller(units * index / call_.shares * kVectors, static_cast<int>(width));
      };
      current.begin = current.next = end(turn);
      current.end = end(turn + 1);
    }
  }
  __device__ void fill(const Current& current, Unit& unit) const {
    const bool dense = current.tile.rank < 0;
    unit.column = current.column;
    unit.row = current.row;
    unit.right_rows = rows_of(current.column);
    unit.left_rows = rows_of(current.row);
    const T* const U = static_cast<const T*>(current.tile.U);
    const T* const V = static_cast<const T*>(current.tile.V);
    const T* const right = call_.adjoint ? U : dense ? nullptr : V;
    const T* const left = !call_.adjoint ? U : dense ? nullptr : V;
    unit.right = right ? right + int64_t{current.next} * unit.right_rows : nullptr;
    unit.left = left ? left + int64_t{current.next} * unit.left_rows : nullptr;
    unit.first = current.next;
    unit.vectors = smaller(kVectors, current.end - current.next);
    unit.begins = current.next == current.begin;
    unit.exists = true;
  }

  __device__ void load_right(const Unit& unit, T (&v)[kElements]) const {
    const int rows = unit.right_rows, vectors = unit.right ? unit.vectors : 0;
    const int j = warp_ / kWarpsOfVector, left = j < vectors ? rows - first_row() : 0;
    const T* const from = unit.right + int64_t{j} * rows + first_row();
#pragma unroll
    for (int m = 0; m < kElements; ++m)
      v[m] = 32 * m < left ? load_once(from + 32 * m) : from_real<T>(0);
  }
  __device__ void load_left(const Unit& unit, T (&u)[kElements]) const {
    const int rows = unit.left_rows, vectors = unit.left ? unit.vectors : 0;
    const int left = rows - thread_;
    const T* const from = unit.left + thread_;
#pragma unroll
    for (int j = 0; j < kVectors; ++j)
#pragma unroll
      for (int q = 0; q < kDown; ++q)
        u[q * kVectors + j] = j < vectors && kThreads * q < left
                                  ? load_once(from + int64_t{j} * rows + kThreads * q)
                                  : from_real<T>(0);
  }
  /// The first row of a vector for this lane.
  __device__ int first_row() const { return warp_ % kWarpsOfVector * S::kRowsOfWarp + lane_; }

  /// Calls body(q, r, row) for the elements of a block row owned by this thread.
  template <class Body>
  __device__ __forceinline__ void for_rows(int rows, Body&& body) const {
#pragma unroll
    for (int q = 0; q < kDown; ++q)
#pragma unroll
      for (int r = 0; r < kColumns; ++r) {
        const int row = thread_ + kThreads * q;
        if (row < rows) body(q, r, row);
      }
  }
  __device__ T* of_share(int share, int r, int i) const {
    return static_cast<T*>(call_.sums) + (int64_t{share} * kColumns + r) * call_.n + i;
  }
  __device__ const T* of_x(int r, int i) const {
    return static_cast<const T*>(call_.X) + r * call_.ldx + i;
  }

  /// Loads x of a block column to registers.
  __device__ void ask(int column, Rows& x) const {
    const int start = start_of(column);
    for_rows(rows_of(column), [&](int q, int r, int row) {
      x[q][r] = r < call_.columns ? *of_x(r, start + row) : from_real<T>(0);
    });
  }
  /// Stores it in shared memory, padded by zeros.
  __device__ void receive(int column, const Rows& x, T* to) const {
    const int rows = rows_of(column);
#pragma unroll
    for (int q = 0; q < kDown; ++q)
#pragma unroll
      for (int r = 0; r < kColumns; ++r) {
        const int row = thread_ + kThreads * q;
        to[r * kOrder + row] = row < rows ? x[q][r] : from_real<T>(0);
      }
  }

  /// products[warp] := this warp's partial sums of v^H x.
  __device__ void multiply_right(const T (&v)[kElements], const T* x, T* products) const {
    T sum[kColumns];
#pragma unroll
    for (int r = 0; r < kColumns; ++r) {
      sum[r] = from_real<T>(0);
#pragma unroll
      for (int m = 0; m < kElements; ++m)
        sum[r] = add_product_conj(sum[r], x[r * kOrder + first_row() + 32 * m], v[m]);
      sum[r] = sum_lanes<32>(sum[r]);
      if (lane_ == 0) products[warp_ * kColumns + r] = sum[r];
    }
  }
  __device__ __forceinline__ static T product(const T* products, int j, int r) {
    T z = products[j * kWarpsOfVector * kColumns + r];
#pragma unroll
    for (int w = 1; w < kWarpsOfVector; ++w)
      z = add(z, products[(j * kWarpsOfVector + w) * kColumns + r]);
    return z;
  }
  __device__ void multiply_left(const Unit& unit, const T (&u)[kElements], const T* x,
                                const T* products, Rows& sum) const {
    if (!unit.left) {
      for_rows(unit.first + unit.vectors, [&](int q, int r, int row) {
        if (row >= unit.first) sum[q][r] = add(sum[q][r], product(products, row - unit.first, r));
      });
      return;
    }
#pragma unroll
    for (int j = 0; j < kVectors; ++j) {
      if (j >= unit.vectors) break;
#pragma unroll
      for (int r = 0; r < kColumns; ++r) {
        const T z = conj(unit.right ? product(products, j, r) : x[r * kOrder + unit.first + j]);
#pragma unroll
        for (int q = 0; q < kDown; ++q)
          sum[q][r] = add_product_conj(sum[q][r], u[q * kVectors + j], z);
      }
    }
  }
  __device__ void store(const Unit& unit, int share, const Rows& sum) const {
    const int start = start_of(unit.row);
    for_rows(unit.left_rows,
             [&](int q, int r, int row) { *of_share(share, r, start + row) = sum[q][r]; });
  }
  __device__ void continue_sum(const Unit& unit, int share, Rows& sum) const {
    const int start = start_of(unit.row);
    for_rows(unit.left_rows,
             [&](int q, int r, int row) { sum[q][r] = *of_share(share, r, start + row); });
  }

  const SweepCall& call_;
  T *vectors_, *sums_;
  int thread_, warp_, lane_;
};

}  // namespace chol::cuda::tlr
