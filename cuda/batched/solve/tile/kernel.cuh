// Solves with the factors of a batch of small matrices: the triangle is read once into shared
// memory for both substitutions; a warp has all rows of its right-hand sides in registers, so that
// no substitution waits at a barrier of the block.
#pragma once

#include <type_traits>

#include "batched/solve/grid.hpp"
#include "batched/solve/tile/interface.hpp"
#include "batched/solve/tile/rhs_fma.cuh"
#include "batched/solve/tile/rhs_mma.cuh"
#include "batched/solve/tile/shapes.hpp"

namespace chol::cuda {

/// @tparam kOne there is one right-hand side.
template <class T, bool kSwapped, int kSets, bool kOne>
using SolveColumns = std::conditional_t<sizeof(Real<T>) == 8, TensorColumns<T, kSwapped, kSets>,
                                        PlainColumns<T, kSwapped, kSets, kOne>>;

template <class T, class Shape, bool kSwapped, bool kOne>
struct SolveSweeps {
  using Columns = SolveColumns<T, kSwapped, Shape::kSets, kOne>;
  using Value = typename Columns::Value;
  using Operand = typename Columns::Operand;
  using Fragment = typename Columns::Fragment;
  using Tiles = TileTriangle<T, kSwapped>;
  static constexpr int kTiles = Shape::kTiles, kAhead = Columns::kAhead;
  static constexpr int kThreads = 32 * Shape::kWarps;

  Tiles L;
  Columns columns;
  int thread;

  __device__ static __forceinline__ void wait_for_others() {
    if constexpr (Shape::kWarps == 1)
      __syncwarp();
    else
      __syncthreads();
  }
  __device__ __forceinline__ void start_copies(const LowerView<T>& A) const {
    L.template start_copies<kThreads>(A, thread);
  }
  /// Waits for the copies and inverts the diagonal tiles. All threads take part.
  __device__ __forceinline__ void take_triangle() const {
    wait_for_copy_groups<0>();
    wait_for_others();
    L.template invert_diagonal<kThreads>(thread);
    wait_for_others();
  }

  /// X := L^-1 X, or L^-H X, right-looking. The tile to be solved is always the first of v, or the
  /// last: the others are shifted as they are updated, and solved ones enter at the other end. This
  /// avoids indexed registers without unrolling the loop. T of kTiles tiles are at the front before
  /// the forward sweep, at the back between the sweeps and at the front afterwards.
  template <bool kForward>
  __device__ __forceinline__ void sweep(Value (&v)[kTiles]) const {
    constexpr int kPivot = kForward ? 0 : kTiles - 1;
    Fragment diagonal = fragment_of<kForward>(0, 0);
    for (int step = 0; step < L.tiles; ++step) {
      const int left = L.tiles - 1 - step;
      Fragment ahead[kAhead + 1];
#pragma unroll
      for (int d = 1; d <= kAhead; ++d) ahead[d % (kAhead + 1)] = fragment_of<kForward>(step, d);
      const Value x = columns.template product<kForward>(
          diagonal, columns.template operand<kForward, 0>(v[kPivot]));
      diagonal = fragment_of<kForward>(step + 1, 0);
      const Operand minus = columns.template operand<kForward, 1>(columns.negated(x));
#pragma unroll
      for (int d = 1; d < kTiles; ++d) {
        const Value& from = v[kForward ? d : kTiles - 1 - d];
        Value& to = v[kForward ? d - 1 : kTiles - d];
        if (d <= left) {
          if (d + kAhead < kTiles)
            ahead[(d + kAhead) % (kAhead + 1)] = fragment_of<kForward>(step, d + kAhead);
          to = columns.template add_product<kForward>(from, ahead[d % (kAhead + 1)], minus);
        } else {
          to = from;
        }
      }
      v[kTiles - 1 - kPivot] = x;
    }
  }

  /// The operand by which the tile of that step updates the one d further on, or of any other tile
  /// if there is none.
  template <bool kForward>
  __device__ __forceinline__ Fragment fragment_of(int step, int d) const {
    const int last = L.tiles - 1, pivot = min(step, last), other = min(step + d, last);
    return columns.template fragment<kForward>(kForward ? L.tile(other, pivot)
                                                        : L.tile(last - pivot, last - other));
  }

  __device__ __forceinline__ void load(Value (&v)[kTiles], const RightHandSides<T>& rhs,
                                       int64_t column) const {
#pragma unroll
    for (int i = 0; i < kTiles; ++i) v[i] = columns.load(rhs, Tiles::kOrder * i, column);
  }
  __device__ __forceinline__ void conjugate_if(bool yes, Value (&v)[kTiles]) const {
#pragma unroll
    for (int i = 0; i < kTiles; ++i) columns.conjugate_if(yes, v[i]);
  }
  __device__ __forceinline__ void store(const Value (&v)[kTiles], const RightHandSides<T>& rhs,
                                        int64_t column) const {
#pragma unroll
    for (int i = 0; i < kTiles; ++i) columns.store(v[i], rhs, Tiles::kOrder * i, column);
  }
};

template <class T, class Shape, bool kOne>
constexpr int kSolveScratch = Shape::kWarps* SolveColumns<T, false, Shape::kSets, kOne>::kScratch;

/// A block has either one matrix or one warp a matrix.
template <class T, class Shape, bool kSwapped, bool kOne>
__global__ void __launch_bounds__(32 * Shape::kWarps * Shape::kMatrices, Shape::kBlocks)
    solve_kernel(BatchProblem<T> problem, int64_t columns_of_block, int shared_of_matrix) {
  using Sweeps = SolveSweeps<T, Shape, kSwapped, kOne>;
  using Columns = typename Sweeps::Columns;
  constexpr int kThreads = 32 * Shape::kWarps;
  static_assert(Shape::kWarps == 1 || Shape::kMatrices == 1);

  const int64_t b = int64_t(blockIdx.x) * Shape::kMatrices + threadIdx.x / kThreads;
  const int64_t begin = blockIdx.y * columns_of_block;
  if (b >= problem.count || !problem.solves(b) || begin >= problem.rhs_count(b)) return;
  const int n = static_cast<int>(problem.order(b)), thread = threadIdx.x % kThreads;
  const RightHandSides<T> rhs{problem.B.matrix(b), problem.B.leading_dimension(b),
                              min(problem.rhs_count(b), begin + columns_of_block), n,
                              problem.swapped};

  extern __shared__ __align__(128) unsigned char shared_bytes[];
  T* const triangle = reinterpret_cast<T*>(held_in_register(shared_bytes) +
                                           threadIdx.x / kThreads * shared_of_matrix);
  T* const scratch = triangle + shared_of_matrix / int(sizeof(T)) - kSolveScratch<T, Shape, kOne> +
                     thread / 32 * Columns::kScratch;
  const Sweeps sweeps{{triangle, (n + 7) / 8, n}, {scratch, thread % 32}, thread};

  // Right-hand sides are requested first; v is not used until the copies of the triangle have been
  // started.
  typename Sweeps::Value v[Shape::kTiles];
  int64_t column = begin + thread / 32 * Columns::kWidth;
  sweeps.load(v, rhs, column);
  sweeps.start_copies(lower_view(problem, b));
  sweeps.take_triangle();
  while (column < rhs.columns) {
    sweeps.conjugate_if(rhs.conjugated, v);
    sweeps.template sweep<true>(v);
    sweeps.template sweep<false>(v);
    sweeps.conjugate_if(rhs.conjugated, v);
    sweeps.store(v, rhs, column);
    column += Shape::kWarps * Columns::kWidth;
    sweeps.load(v, rhs, column);
  }
}

template <class T, class Shape, bool kOne>
size_t solve_shared_bytes(int n) {
  constexpr size_t kLine = 128;
  using Tiles = TileTriangle<T, false>;
  const size_t elements =
      Tiles::kElements * Tiles::count((n + 7) / 8) + kSolveScratch<T, Shape, kOne>;
  return (elements * sizeof(T) + kLine - 1) / kLine * kLine;
}

template <class T, class Shape, bool kSwapped, bool kOne>
Status launch_solve(const BatchProblem<T>& problem, cudaStream_t stream) {
  const size_t bytes = solve_shared_bytes<T, Shape, kOne>(static_cast<int>(problem.n));
  const SolveGrid grid((problem.count + Shape::kMatrices - 1) / Shape::kMatrices, problem.nrhs);
  return launch("solve", solve_kernel<T, Shape, kSwapped, kOne>, grid.blocks,
                32 * Shape::kWarps * Shape::kMatrices, bytes * Shape::kMatrices, stream, problem,
                grid.columns_of_block, static_cast<int>(bytes));
}

/// Calls body(shape) with the first shape for that order, if there is one.
template <class T, bool kOne, class Body>
bool for_solve_shape(int64_t n, Body&& body) {
  return [&]<class... S>(ShapeList<S...>) {
    return ((n <= TileTriangle<T, false>::kOrder * S::kTiles && (body(S{}), true)) || ...);
  }(TileSolveList<T, kOne>{});
}

template <class T, bool kSwapped>
Status run_solve_stored(const BatchProblem<T>& problem, cudaStream_t stream) {
  Status status = Status::error(Status::kNotSupported, "solve: no kernel for order %d",
                                static_cast<int>(problem.n));
  const auto launch = [&]<bool kOne>(std::bool_constant<kOne>) {
    for_solve_shape<T, kOne>(problem.n, [&]<class S>(S) {
      status = launch_solve<T, S, kSwapped, kOne>(problem, stream);
    });
  };
  if (problem.nrhs == 1)
    launch(std::true_type{});
  else
    launch(std::false_type{});
  return status;
}

template <class T, bool kSwapped>
int solve_limit_stored(const DeviceLimits& device) {
  int n = 256;
  const auto fits = [&]<bool kOne>(std::bool_constant<kOne>) {
    bool found = false;
    for_solve_shape<T, kOne>(n, [&]<class S>(S) {
      found = S::kMatrices * solve_shared_bytes<T, S, kOne>(n) <= size_t(device.block_bytes);
    });
    return found;
  };
  while (n > 0 && !(fits(std::true_type{}) && fits(std::false_type{}))) n -= 8;
  return n;
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_SOLVE(kSwapped, T)                                               \
  template chol::Status chol::cuda::run_solve_stored<T, kSwapped>(const BatchProblem<T>&, \
                                                                  cudaStream_t);          \
  template int chol::cuda::solve_limit_stored<T, kSwapped>(const chol::cuda::DeviceLimits&);
