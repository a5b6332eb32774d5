// Solves with the factors of a batch, the triangle in shared memory, read once for both
// substitutions. A warp has all rows of its right-hand sides in registers; no synchronization
// between warps, each having its own right-hand sides. Many matrices a multiprocessor hide the
// dependency chain of the unknowns.
#pragma once

#include <type_traits>
#include <utility>

#include "batched/solve/warp/bordering.cuh"
#include "batched/solve/warp/packed_triangle.cuh"
#include "batched/solve/warp/unit_lower_block.cuh"
#include "common/batch_view.cuh"

namespace chol::cuda {

/// Lane r has kGroup rows from kGroup r on, which it solves for together by its own block of the
/// diagonal and broadcasts to all others.
///
/// Finished lanes, and lanes past the last row, compute values that are discarded: a test would
/// cost more. Unknowns are therefore stored separately.
/// @tparam kColumns right-hand sides at a time.
template <class T, bool kSwapped, int kGroup, int kColumns>
struct WarpSolve {
  using Triangle = PackedTriangle<T, kSwapped, kGroup>;
  static constexpr int kWide = Triangle::kWide, kBlock = Triangle::kBlock;
  /// Shared memory for the exchange of unknowns between lanes, double-buffered, so that one barrier
  /// a group is sufficient.
  static constexpr int kExchange = kGroup * kColumns;
  static constexpr int kScratch = kColumns == 1 ? 0 : 2 * kExchange;
  using Rows = T[kGroup][kColumns];
  /// The elements of a lane's rows in the columns of kBlock unknowns.
  using Elements = T[kBlock][kGroup];

  Triangle L;
  T* scratch;
  int lane;
  UnitBlock<T, kGroup> block;
  const T* runs[kGroup];          ///< of the lane's own rows, or columns
  int places[Triangle::kChunks];  ///< of its chunks in the runs of the unknowns

  __device__ __forceinline__ WarpSolve(const Triangle& triangle, T* exchange, int lane_)
      : L(triangle), scratch(exchange), lane(lane_) {
    // Lanes past the last row read valid memory and discard it.
#pragma unroll
    for (int b = 0; b < kGroup; ++b) runs[b] = L.run(min(kGroup * lane + b, L.n - 1));
    const int row = min(kGroup * lane, (L.n - 1) / kGroup * kGroup);
#pragma unroll
    for (int c = 0; c < Triangle::kChunks; ++c) places[c] = L.place(row + kWide * c);
  }

  /// The lane's block of the diagonal, once its part of the triangle has arrived.
  __device__ __forceinline__ void load_block() {
    block.load(L.n - kGroup * lane, [&](int a, int b) {
      const int run = kSwapped ? a : b, position = kSwapped ? b : a;
      return runs[run][places[position / kWide] + position % kWide];
    });
  }

  /// Solves for `columns` right-hand sides with strides `down` of rows and `right` of columns.
  /// @param arrive(piece) is called before the piece's columns are first read. @param turn(v) is
  /// called with the lane's rows between the sweeps.
  template <class Arrive, class Turn>
  __device__ __forceinline__ void solve(T* B, int64_t down, int64_t right, int64_t columns,
                                        bool conjugated, Arrive&& arrive, Turn&& turn) const {
    Rows v, found;
    const auto for_each = [&](auto&& body) {
#pragma unroll
      for (int b = 0; b < kGroup; ++b)
#pragma unroll
        for (int q = 0; q < kColumns; ++q)
          body(b, q, B + q * right + (kGroup * lane + b) * down, kGroup * lane + b < L.n);
    };
    for_each([&](int b, int q, const T* x, bool there) {
      v[b][q] = there && q < columns ? conj_if(conjugated, *x) : from_real<T>(0);
    });
    const int blocks = L.blocks(L.n);
    constexpr int kOfPiece = Triangle::kPieceColumns / kBlock;
#pragma unroll 1
    for (int h = 0; h < blocks; ++h) {
      if (h % kOfPiece == 0) arrive(h / kOfPiece);
      take<true>(v, found, h);
    }
    for_each([&](int b, int q, const T*, bool there) {
      v[b][q] = select(there, found[b][q], from_real<T>(0));
    });
    turn(v);
#pragma unroll 1
    for (int h = blocks - 1; h >= 0; --h) take<false>(v, found, h);
    for_each([&](int b, int q, T* x, bool there) {
      if (there && q < columns) *x = conj_if(conjugated, found[b][q]);
    });
  }

 private:
  /// Solves for the unknowns of block h and subtracts them from the others.
  template <bool kForward>
  __device__ __forceinline__ void take(Rows& v, Rows& found, int h) const {
    Elements e;
    read<kForward>(e, h);
#pragma unroll
    for (int s = 0; s < kBlock; s += kGroup) {
      const int first = kForward ? s : kBlock - kGroup - s, owner = (kBlock * h + first) / kGroup;
      Rows x;
      for_rows([&](int b, int q) { x[b][q] = v[b][q]; });
      block.template solve<kForward>(x);
      for_rows([&](int b, int q) { found[b][q] = select(lane == owner, x[b][q], found[b][q]); });
      hand_on<kForward>(x, owner);
#pragma unroll
      for (int k = 0; k < kGroup; ++k) {
        const int a = kForward ? k : kGroup - 1 - k;  // the last unknowns come last
        for_rows(
            [&](int b, int q) { v[b][q] = subtract_product(v[b][q], e[first + a][b], x[a][q]); });
      }
    }
  }

  /// The lane's elements of block h, conjugated in the backward sweep.
  template <bool kForward>
  __device__ __forceinline__ void read(Elements& e, int h) const {
    if constexpr (kForward != kSwapped) {
      constexpr int kOfChunk = kGroup < kWide ? kGroup : kWide;
      const T* run = L.run(kBlock * h);
      const int pitch = L.pitch(L.n, h);
#pragma unroll
      for (int a = 0; a < kBlock; ++a, run += pitch)
#pragma unroll
        for (int c = 0; c < Triangle::kChunks; ++c)
          copy_wide<kOfChunk>(e[a] + kWide * c, run + places[c]);
    } else {
#pragma unroll
      for (int c = 0; c < kBlock; c += kWide) {
        // A block's chunks have the layout of the first kChunks.
        constexpr int kCycle = Triangle::kChunks * kWide;
        const int place = L.place_of_chunk((kBlock * h + c % kCycle) / kWide) + c / kCycle * kCycle;
#pragma unroll
        for (int b = 0; b < kGroup; ++b) {
          T chunk[kWide];
          copy_wide<kWide>(chunk, runs[b] + place);
#pragma unroll
          for (int a = 0; a < kWide; ++a) e[c + a][b] = chunk[a];
        }
      }
    }
    if constexpr (!kForward) {
#pragma unroll
      for (int a = 0; a < kBlock; ++a)
#pragma unroll
        for (int b = 0; b < kGroup; ++b) e[a][b] = conj(e[a][b]);
    }
  }

  template <class Body>
  __device__ static __forceinline__ void for_rows(Body&& body) {
#pragma unroll
    for (int b = 0; b < kGroup; ++b)
#pragma unroll
      for (int q = 0; q < kColumns; ++q) body(b, q);
  }
  /// Broadcasts the owner's x to all lanes.
  template <bool kForward>
  __device__ __forceinline__ void hand_on(Rows& x, int owner) const {
    if constexpr (kColumns == 1) {
#pragma unroll
      for (int b = 0; b < kGroup; ++b) x[b][0] = from_lane(x[b][0], owner);
    } else {
      // The last owner of a sweep is the first of the next.
      T* const exchange = scratch + (owner + int(kForward)) % 2 * kExchange;
      if (lane == owner)
#pragma unroll
        for (int b = 0; b < kGroup; ++b) copy_wide<kColumns>(exchange + b * kColumns, x[b]);
      __syncwarp();
#pragma unroll
      for (int b = 0; b < kGroup; ++b) copy_wide<kColumns>(x[b], exchange + b * kColumns);
    }
  }
};

inline constexpr int kMostWarpGroup = 4;
/// Right-hand sides at a time, where there are several: as many as registers hold.
template <class T, int kGroup>
inline constexpr int kWarpSolveColumns = kGroup == kMostWarpGroup  ? 1
                                         : kGroup * sizeof(T) > 16 ? 2
                                                                   : 4;
/// Large triangles are copied by several warps even if one solves.
template <int kGroup>
inline constexpr int kSolveWarps = kGroup == kMostWarpGroup ? 4 : 1;

template <class T, bool kSwapped, int kGroup, int kColumns, int kWarps>
struct WarpSolveShape {
  using Solve = WarpSolve<T, kSwapped, kGroup, kColumns>;
  /// Offset of the exchange buffer after the triangle.
  __host__ __device__ static constexpr size_t triangle_bytes(int n) {
    return sizeof(T) * Solve::Triangle::elements(n);
  }
  static constexpr size_t bytes(int n) {
    return triangle_bytes(n) + sizeof(T) * kWarps * Solve::kScratch;
  }
  /// Orders with so many rows beyond those of the lanes.
  template <int kRows>
  static constexpr size_t bordered_bytes() {
    return bytes(32 * kGroup) +
           sizeof(T) * WarpBorder<T, kSwapped, kGroup, kColumns, kRows>::kElements;
  }
  /// Blocks that fit a multiprocessor, or that have enough warps.
  static constexpr int kBlocks =
      larger(1, smaller(int(size_t(224 * 1024) / bytes(32 * kGroup)), 16 / kWarps));
};

/// @tparam kBorder most rows of a border (solve/warp/bordering.cuh), the rows of the common order n
/// beyond those of 32 lanes, or 0.
template <class T, bool kSwapped, int kGroup, int kColumns, int kWarps, int kBorder>
__global__ void __launch_bounds__(32 * kWarps,
                                  WarpSolveShape<T, kSwapped, kGroup, kColumns, kWarps>::kBlocks)
    warp_solve_kernel(BatchProblem<T> problem) {
  using Shape = WarpSolveShape<T, kSwapped, kGroup, kColumns, kWarps>;
  using Solve = typename Shape::Solve;
  using Border = WarpBorder<T, kSwapped, kGroup, kColumns, kBorder>;
  const int64_t b = blockIdx.x;
  if (!problem.solves(b)) return;
  extern __shared__ __align__(16) unsigned char shared[];
  const int order = static_cast<int>(problem.order(b)), lane = threadIdx.x % 32;
  const int n = kBorder > 0 ? Border::kInner : order;
  const int warp = kWarps == 1 ? 0 : __shfl_sync(kFullWarp, int(threadIdx.x) / 32, 0);
  unsigned char* const bytes = held_in_register(shared);
  const typename Solve::Triangle triangle{reinterpret_cast<T*>(bytes), n};
  T* const exchange = reinterpret_cast<T*>(bytes + Shape::triangle_bytes(n));
  [[maybe_unused]] Border border;
  border.data = exchange + kWarps * Solve::kScratch;
  border.rows = order - n;
  border.lane = lane;
  const LowerView<T> A = lower_view(problem, b);
  if constexpr (kBorder > 0) border.template start<true>(A);
  triangle.template start_copies<kWarps>(A, warp, lane);
  if constexpr (kBorder > 0) border.template start<false>(A);
  const int64_t ldb = problem.B.leading_dimension(b), columns = problem.rhs_count(b);
  if (warp * kColumns >= columns) {
    for (int piece = 0; Solve::Triangle::kPieceColumns * piece < n; ++piece)
      if (triangle.waits_for(piece)) triangle.template wait_for_piece<kWarps>(piece);
    return;
  }
  Solve solve(triangle, exchange + warp * Solve::kScratch, lane);
  T* const B = problem.B.matrix(b);
  bool arrives = true;
  for (int64_t first = warp * kColumns; first < columns; first += kWarps * kColumns) {
    T* const its = B + first * ldb;
    const auto arrive = [&](int piece) {
      if (!arrives || !triangle.waits_for(piece)) return;
      triangle.template wait_for_piece<kWarps>(piece);
      if (triangle.comes_with(piece, kGroup * lane)) solve.load_block();
    };
    // With several right-hand sides they would occupy registers during the sweep.
    constexpr bool kLoadsEarly = kBorder > 0 && kColumns == 1;
    if constexpr (kLoadsEarly) border.load(its + n, ldb, columns - first, kSwapped);
    solve.solve(its, 1, ldb, columns - first, kSwapped, arrive, [&](auto& rows) {
      if constexpr (kBorder > 0) {
        if (!kLoadsEarly) border.load(its + n, ldb, columns - first, kSwapped);
        border.pass(rows, its + n, ldb, columns - first, kSwapped);
      }
    });
    arrives = false;
  }
}

}  // namespace chol::cuda
