// Triangular solves with a factor in tiles of low rank, and products with it, by one kernel over
// all multiprocessors that reads U and V once.
//
// Blocks of threads are of two kinds. A group of worker blocks has some block rows i and computes
// the sums of L_ij x_j in the order of j; each block of the group takes a share of the columns of U
// and V of every tile, and has the sum of its share alone. Chain blocks have some rows of the
// inverses of the diagonal tiles: x_i = inverse(L_ii) (b_i - the sum of the shares). What a block
// needs from memory, the next columns of U and V or the inverse, is on its way to registers while
// it waits for x_j or for sums. These are handed over as in cuda/native/solve: the memory is filled
// with a NaN that no result is, so that one access brings value and news. All blocks have to run at
// the same time. Every sum has one order.
#pragma once

#include <type_traits>

#include "common/scalar.cuh"
#include "tlr/published.cuh"
#include "tlr/sweep.hpp"

namespace chol::cuda::tlr {

/// An element that is read once: what is read often stays in the cache.
template <class T>
__device__ __forceinline__ T load_once(const T* p) {
  if constexpr (Traits<T>::is_complex) {
    using Parts = std::conditional_t<sizeof(T) == 16, double2, float2>;
    const Parts parts = __ldcs(reinterpret_cast<const Parts*>(p));
    return {parts.x, parts.y};
  } else {
    return __ldcs(p);
  }
}

/// @tparam kDown rows of a tile that a thread has
template <class T, int kWarps, int kDown, int kColumns>
struct SweepShape {
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kOrder = kThreads * kDown;  ///< the largest order of a tile
  /// Elements of U, and of V, that a thread has at a time.
  static constexpr int kElements = sizeof(T) == 16 ? kWarps / 2 : kWarps;
  /// Columns of U and V that a block has at a time.
  static constexpr int kVectors = kElements / kDown;
  static constexpr int kRowsOfWarp = 32 * kElements;
  static constexpr int kWarpsOfVector = kOrder / kRowsOfWarp;
  static_assert(kWarpsOfVector * kVectors == kWarps);
  /// Steps of 32 columns of an inverse that a thread has at a time, an element each.
  static constexpr int kSteps = sizeof(T) == 16 ? kWarps + 2 : kWarps * kDown + 2;

  static constexpr int kVectorElements = 2 * kColumns * kOrder;
  static constexpr int kSumElements = 2 * kWarps * kWarps * kColumns;
  static constexpr int kWorkBytes = 512;
  static constexpr int kSharedBytes = sizeof(T) * (kVectorElements + kSumElements) + kWorkBytes;
};

/// What one thread does.
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
    if (block < call_.chain_blocks)
      run_chain(block);
    else
      run_worker(block - call_.chain_blocks);
  }

 private:
  __device__ int start_of(int position) const { return call_.starts[call_.index(position)]; }
  __device__ int rows_of(int position) const {
    const int i = call_.index(position);
    return call_.starts[i + 1] - call_.starts[i];
  }

  // ---------------------------------------------------------------- workers

  /// Columns of U and V of a tile in the block's share.
  struct Unit {
    int column, row;        ///< positions of the tile
    const T *right, *left;  ///< left (right^H x); nullptr: the identity, from column `first` on
    int first, vectors, right_rows, left_rows;
    bool begins, ends, publishes;  ///< the sum that is continued, whose last unit it is
    bool exists;
  };
  /// The next tile, whose description is on its way.
  struct Cursor {
    const int* rows;
    int count;          ///< rows of the group
    int column, place;  ///< of the tile: its column, which of the rows
    int begun;          ///< rows whose diagonal is before the column

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

  /// The tile that units are taken from.
  struct Current {
    SweepTile tile;
    int column = 0, row = 0, begin = 0, end = 0, next = 0;
  };

  /// What one thread keeps in shared memory, and the units that it finds ahead of all.
  struct Work {
    Cursor cursor;
    Current current;
    Unit units[4];
  };

  /// The next unit, unless there is none. A share without columns still publishes its sum.
  /// @param tile the cursor's, on its way
  __device__ void take(Work& work, int share, SweepTile& tile, Unit& unit) const {
    Cursor& cursor = work.cursor;
    Current& current = work.current;
    for (;;) {
      if (current.next < current.end) {
        fill(current, unit);
        current.next += unit.vectors;
        unit.ends = current.next == current.end;
        unit.publishes = unit.ends && current.row == current.column + 1;
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
      // Whole units to the shares in turn: what is on its way to registers is as much as they hold.
      const int units = static_cast<int>((width + kVectors - 1) / kVectors);
      const int turn = (share + current.row + current.column) % call_.shares;
      const auto end = [&](int index) {
        return smaller(units * index / call_.shares * kVectors, static_cast<int>(width));
      };
      current.begin = current.next = end(turn);
      current.end = end(turn + 1);
      if (current.begin == current.end && current.row == current.column + 1) {
        fill(current, unit);
        unit.ends = unit.publishes = true;
        return;
      }
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
  /// Of the row of a vector that this lane has first.
  __device__ int first_row() const { return warp_ % kWarpsOfVector * S::kRowsOfWarp + lane_; }

  /// Calls body(q, r, row) for the elements of a block row that this thread has.
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
  __device__ T* of_share(void* sums, int share, int r, int i) const {
    return static_cast<T*>(sums) + (int64_t{share} * kColumns + r) * call_.n + i;
  }
  __device__ const T* of_x(int r, int i) const {
    return call_.solves ? static_cast<const T*>(call_.solution) + int64_t{r} * call_.n + i
                        : static_cast<const T*>(call_.X) + r * call_.ldx + i;
  }

  /// Asks for x of a block column, whether it is there or not.
  __device__ void ask(int column, Rows& x) const {
    const int start = start_of(column);
    for_rows(rows_of(column), [&](int q, int r, int row) {
      if (call_.solves)
        x[q][r] = load_published(of_x(r, start + row));
      else
        x[q][r] = r < call_.columns ? *of_x(r, start + row) : from_real<T>(0);
    });
  }
  /// Waits for what was not there and puts all into shared memory, with zeros behind it.
  __device__ void receive(int column, const Rows& x, T* to) const {
    const int start = start_of(column), rows = rows_of(column);
#pragma unroll
    for (int q = 0; q < kDown; ++q)
#pragma unroll
      for (int r = 0; r < kColumns; ++r) {
        const int row = thread_ + kThreads * q;
        T value = from_real<T>(0);
        if (row < rows)
          value = call_.solves ? await_published(x[q][r], of_x(r, start + row)) : x[q][r];
        to[r * kOrder + row] = value;
      }
  }

  __device__ void run_worker(int worker) {
    const int group = worker / call_.shares, share = worker % call_.shares;
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
      // Nobody uses the unit before this one any more.
      if (thread_ == 0) take(work, share, tile, work.units[(k + 3) % 4]);
      multiply_left(now, u, vector, products, sum);
      if (next.exists) load_left(next, u);
      if (now.ends) store(now, share, sum);
      if (!next.exists) return;
      if (next.begins) continue_sum(next, share, sum);
      turn ^= 1;
    }
  }

  /// products[warp] := the share of this warp in v^H x.
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
    for_rows(unit.left_rows, [&](int q, int r, int row) {
      if (unit.publishes)
        publish(of_share(call_.published, share, r, start + row), sum[q][r]);
      else
        *of_share(call_.running, share, r, start + row) = sum[q][r];
    });
  }
  __device__ void continue_sum(const Unit& unit, int share, Rows& sum) const {
    const int start = start_of(unit.row);
    for_rows(unit.left_rows, [&](int q, int r, int row) {
      sum[q][r] = *of_share(call_.running, share, r, start + row);
    });
  }

  // ---------------------------------------------------------------- chain

  /// kWarps rows of an inverse, or of its adjoint, in steps of 32 columns.
  struct Piece {
    int first, begin, end;  ///< row; steps
  };
  __device__ Piece piece(int index, int order) const {
    const int first = index * kWarps, beside = call_.has_pairs ? 1 : 0;
    if (first >= order) return {first, 0, 0};
    if (call_.adjoint) return {first, larger(first - beside, 0) / 32, (order + 31) / 32};
    return {first, 0, (smaller(first + kWarps + beside, order) + 31) / 32};
  }
  /// Row and column in the product, of which a thread has one element a step.
  __device__ int piece_row() const { return call_.adjoint ? warp_ : lane_ % kWarps; }
  __device__ int piece_column() const {
    return call_.adjoint ? lane_ : warp_ * (32 / kWarps) + lane_ / kWarps;
  }
  __device__ T element_of(const T* inverse, int order, const Piece& piece, int step) const {
    const int row = piece.first + piece_row(), column = 32 * step + piece_column();
    if (row >= order || column >= order) return from_real<T>(0);
    return load_once(
        inverse + (call_.adjoint ? column + int64_t{row} * order : row + int64_t{column} * order));
  }

  /// A block has two pieces of every inverse, of which one is the shorter the longer the other is.
  struct Pieces {
    const T* inverse;
    int order, steps, of_first;
    Piece pieces[2];
  };
  __device__ Pieces pieces_of(int pair, int position) const {
    Pieces p;
    p.order = rows_of(position);
    p.inverse = static_cast<const T*>(call_.inverses[call_.index(position)]);
    const int other = (p.order + kWarps - 1) / kWarps - 1 - pair;
    p.pieces[0] = pair <= other ? piece(pair, p.order) : Piece{p.order, 0, 0};
    p.pieces[1] = pair < other ? piece(other, p.order) : Piece{p.order, 0, 0};
    p.of_first = p.pieces[0].end - p.pieces[0].begin;
    p.steps = p.of_first + p.pieces[1].end - p.pieces[1].begin;
    return p;
  }
  __device__ void load_steps(const Pieces& p, int from, T (&e)[S::kSteps]) const {
#pragma unroll
    for (int s = 0; s < S::kSteps; ++s) {
      e[s] = from_real<T>(0);
      const int step = from + s;
      if (step < p.of_first)
        e[s] = element_of(p.inverse, p.order, p.pieces[0], p.pieces[0].begin + step);
      else if (step < p.steps)
        e[s] = element_of(p.inverse, p.order, p.pieces[1], p.pieces[1].begin + step - p.of_first);
    }
  }

  __device__ void run_chain(int block) {
    int turn = 0;
    for (int position = 0; position < call_.count; ++position) {
      const int pairs = (rows_of(position) + 2 * kWarps - 1) / (2 * kWarps);
      if (block >= pairs) continue;
      Pieces p = pieces_of(block, position);
      T e[S::kSteps];
      load_steps(p, 0, e);
      T* const right = vectors_ + turn * kVectorSize;
      turn ^= 1;
      read_right(position, right);
      __syncthreads();
      for (int pair = block; pair < pairs; pair += call_.chain_blocks) {
        if (pair > block) {
          p = pieces_of(pair, position);
          load_steps(p, 0, e);
          __syncthreads();
        }
        multiply_pieces(p, e, right, start_of(position));
      }
    }
  }
  __device__ void multiply_pieces(const Pieces& p, T (&e)[S::kSteps], const T* right,
                                  int start) const {
    T sum[2][kColumns];
#pragma unroll
    for (int r = 0; r < kColumns; ++r) sum[0][r] = sum[1][r] = from_real<T>(0);
    for (int from = 0; from < p.steps; from += S::kSteps) {
      if (from > 0) load_steps(p, from, e);
      multiply_steps(p, from, e, right, sum);
    }
    if (call_.adjoint)
      publish_sums_of_lanes(p, start, sum);
    else
      publish_sums_of_warps(p, start, sum);
  }
  /// Right-hand sides less the sums of all shares, with zeros behind them.
  __device__ void read_right(int position, T* to) const {
    constexpr int kAsked = smaller(kColumns, 4);  // columns and shares at a time
    const int start = start_of(position), rows = rows_of(position);
#pragma unroll
    for (int q = 0; q < kDown; ++q) {
      const int row = thread_ + kThreads * q;
      for (int first = 0; first < kColumns; first += kAsked) {
        T value[kAsked];
#pragma unroll
        for (int k = 0; k < kAsked; ++k)
          value[k] = row < rows && first + k < call_.columns
                         ? static_cast<const T*>(call_.X)[(first + k) * call_.ldx + start + row]
                         : from_real<T>(0);
        if (position > 0 && row < rows) subtract_shares<kAsked>(start + row, first, value);
#pragma unroll
        for (int k = 0; k < kAsked; ++k) to[(first + k) * kOrder + row] = value[k];
      }
    }
  }
  template <int kAsked>
  __device__ void subtract_shares(int row, int first, T (&value)[kAsked]) const {
    constexpr int kShares = 4;
    for (int share = 0; share < call_.shares; share += kShares) {
      T found[kShares][kAsked];
      const auto place = [&](int s, int k) {
        return of_share(call_.published, share + s, first + k, row);
      };
#pragma unroll
      for (int s = 0; s < kShares; ++s)
#pragma unroll
        for (int k = 0; k < kAsked; ++k)
          if (share + s < call_.shares) found[s][k] = load_published(place(s, k));
#pragma unroll
      for (int s = 0; s < kShares; ++s)
#pragma unroll
        for (int k = 0; k < kAsked; ++k)
          if (share + s < call_.shares)
            value[k] = subtract(value[k], await_published(found[s][k], place(s, k)));
    }
  }
  __device__ void multiply_steps(const Pieces& p, int from, const T (&e)[S::kSteps], const T* right,
                                 T (&sum)[2][kColumns]) const {
#pragma unroll
    for (int s = 0; s < S::kSteps; ++s) {
      const int step = from + s;
      if (step >= p.steps) break;
      const bool is_second = step >= p.of_first;
      const int at = is_second ? p.pieces[1].begin + step - p.of_first : p.pieces[0].begin + step;
      const T* const x = right + 32 * at + piece_column();
#pragma unroll
      for (int r = 0; r < kColumns; ++r) {
        // Both are real numbers' products but for the conjugate of the adjoint.
        const T a = conj_if(!call_.adjoint, e[s]);
        if (is_second)
          sum[1][r] = add_product_conj(sum[1][r], x[r * kOrder], a);
        else
          sum[0][r] = add_product_conj(sum[0][r], x[r * kOrder], a);
      }
    }
  }
  __device__ void publish_row(int start, int order, int row, int r, T x) const {
    if (row < order)
      publish(static_cast<T*>(call_.solution) + int64_t{r} * call_.n + start + row, x);
  }
  __device__ void publish_sums_of_lanes(const Pieces& p, int start,
                                        const T (&sum)[2][kColumns]) const {
#pragma unroll
    for (int which = 0; which < 2; ++which)
#pragma unroll
      for (int r = 0; r < kColumns; ++r) {
        const T x = sum_lanes<32>(sum[which][r]);
        if (lane_ == 0) publish_row(start, p.order, p.pieces[which].first + warp_, r, x);
      }
  }
  __device__ void publish_sums_of_warps(const Pieces& p, int start,
                                        const T (&sum)[2][kColumns]) const {
    const auto place = [&](int which, int warp, int row, int r) {
      return sums_ + ((which * kColumns + r) * kWarps + warp) * kWarps + row;
    };
#pragma unroll
    for (int which = 0; which < 2; ++which)
#pragma unroll
      for (int r = 0; r < kColumns; ++r) {
        const T x = sum_lanes<32, kWarps>(sum[which][r]);
        if (lane_ < kWarps) *place(which, warp_, lane_, r) = x;
      }
    __syncthreads();
    if (thread_ >= 2 * kWarps * kColumns) return;
    const int row = thread_ % kWarps, r = thread_ / kWarps % kColumns;
    const int which = thread_ / (kWarps * kColumns);
    T x = *place(which, 0, row, r);
    for (int warp = 1; warp < kWarps; ++warp) x = add(x, *place(which, warp, row, r));
    publish_row(start, p.order, p.pieces[which].first + row, r, x);
  }

  const SweepCall& call_;
  T *vectors_, *sums_;
  int thread_, warp_, lane_;
};

}  // namespace chol::cuda::tlr
