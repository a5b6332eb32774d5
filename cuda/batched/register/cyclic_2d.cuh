// Two-dimensional cyclic layout of a small lower triangle over a p x q grid of lanes, as in
// ScaLAPACK with blocks of one element: lane (p, q) holds the elements whose row is p modulo the
// rows of the grid and whose column is q modulo its columns. A step of the elimination reads few
// elements of a column, and both triangles in memory are accessed alike.
#pragma once

#include <utility>

#include "batched/register/fused_rhs.cuh"
#include "batched/register/masked_update.cuh"
#include "common/batch_view.cuh"
#include "common/pivot.cuh"
#include "common/scalar.cuh"
#include "common/vector_access.cuh"

namespace chol::cuda {

/// @tparam N largest order, a multiple of P and Q, of which one divides the other.
/// @tparam Solve the right-hand side that is eliminated together with the matrix.
template <class T, int N, int P, int Q, bool kSwapped, class Solve = NoGridSolve>
struct RegisterGrid : Solve {
  static constexpr int kGroups = 32 / (P * Q);  ///< matrices of a warp
  static constexpr int kWide = 16 / sizeof(T);  ///< elements of one shared-memory access
  static constexpr int kRowTiles = N / P, kColumnTiles = N / Q;
  static_assert(N % P == 0 && N % Q == 0);

  /// A column in shared memory: lists of every kLists-th row, at a distance of an odd number of
  /// accesses. If the grid is longer in one direction, its lanes read every kStep-th element of a
  /// list.
  static constexpr int kLists = P < Q ? P : Q;
  static constexpr int kRowStep = P / kLists, kColumnStep = Q / kLists;
  static constexpr int kPitch = ((N / kLists + kWide - 1) / kWide | 1) * kWide;
  static constexpr int kColumn = kLists * kPitch;
  /// After two columns: the reciprocal roots of all pivots, and the updated right-hand side.
  static constexpr int kInverses = 2 * kColumn;
  static constexpr int kLeft = kInverses + (N * int(sizeof(Real<T>)) + 15) / 16 * kWide;
  static constexpr int kUsed = kLeft / kWide + (Solve::kSolves ? (N + kWide - 1) / kWide : 0);
  /// Groups are half of the banks apart.
  static constexpr int kGroupShared = (kUsed + (12 - kUsed % 8) % 8) * kWide;
  static constexpr int kShared = kGroupShared * kGroups;  ///< elements a warp

  /// Whether a lane keeps the reciprocal roots of its columns' pivots in registers: where the
  /// diagonal crosses so many tiles that shared memory would be slower.
  static constexpr bool kKeepsRoots = !Solve::kSolves && sizeof(Real<T>) == 4 && kLists == 2;

  int p, q;  ///< of the lane
  T a[kRowTiles][kColumnTiles];
  Real<T> kept_roots[kKeepsRoots ? kColumnTiles : 1];

  /// Loads and factors. Columns are scaled after the elimination, each lane its own.
  /// @param bound largest n of the warp.
  /// @return 0, or the order of the first leading minor that is not positive definite.
  __device__ __forceinline__ int factor(const LowerView<T>& A, T* shared, int n, int bound, int r) {
    take_place(r);
    const int info = factor_masked_if_needed<T>(
        [&](auto care) { return load_and_eliminate<care.value>(A, shared, n, bound); });
    over_tiles([&](int it, int jt) {
      if (!is_diagonal(it, jt)) return;
      const Real<T> pivot = real(a[it][jt]);
      const Real<T> inverse_root = kKeepsRoots ? kept_root(jt) : reciprocal_sqrt(pivot);
      if constexpr (!kKeepsRoots) inverses_in(shared)[it * P + p] = inverse_root;
      a[it][jt] = from_real<T>(sqrt_from(pivot, inverse_root));
    });
    if constexpr (!kKeepsRoots) __syncwarp();
    over_tiles([&](int it, int jt) {
      const Real<T> inverse_root = kKeepsRoots ? kept_root(jt) : inverses_in(shared)[jt * Q + q];
      const T scaled = scale(a[it][jt], inverse_root);
      a[it][jt] = is_diagonal(it, jt) ? a[it][jt] : scaled;
    });
    return info;
  }

  __device__ __forceinline__ void store(const LowerView<T>& A, int n, int) { move<true>(A, n); }

  __device__ __forceinline__ void load(const LowerView<T>& A, int n, int r) {
    take_place(r);
    move<false>(A, n);
  }
  /// Order of the loaded matrix.
  __device__ __forceinline__ void solve(T* shared, int n, int bound) {
    Solve::load(n, p);
    over_tiles([&](int it, int jt) {
      if (is_diagonal(it, jt)) inverses_in(shared)[it * P + p] = Real<T>(1) / real(a[it][jt]);
    });
    __syncwarp();
    this->solve_both(a, inverses_in(shared), bound, p, q);
    Solve::store(n, p, q);
  }
  /// Backward substitution: the right-hand side that factor() has updated becomes the solution.
  __device__ __forceinline__ void solve_factored(const T* shared, int n, int bound) {
    this->solve_backward(a, shared + kLeft, inverses_in(shared), bound, p, q);
    Solve::store(n, p, q);
  }

 private:
  __device__ __forceinline__ void take_place(int r) {
    p = kSwapped ? r / Q : r % P;
    q = kSwapped ? r % Q : r / P;
  }
  /// Whether the lane's element of a tile is on the diagonal.
  __device__ __forceinline__ bool is_diagonal(int it, int jt) const {
    const bool may_be = it * P < (jt + 1) * Q && jt * Q < (it + 1) * P;
    return may_be && it * P + p == jt * Q + q;
  }
  __device__ __forceinline__ Real<T>& kept_root(int jt) { return kept_roots[kKeepsRoots ? jt : 0]; }
  template <class E>
  __device__ static __forceinline__ auto inverses_in(E* shared) {
    using R = std::conditional_t<std::is_const_v<E>, const Real<T>, Real<T>>;
    return reinterpret_cast<R*>(shared + kInverses);
  }
  /// Whether a tile has elements on or below the diagonal.
  __host__ __device__ static constexpr bool is_inside(int it, int jt) {
    return (it + 1) * P > jt * Q;
  }
  /// Position of row k of a column.
  __device__ static __forceinline__ int index(int k) { return k % kLists * kPitch + k / kLists; }

  /// body(it, jt) for every tile, along the lines of memory: contiguous accesses are fastest.
  template <class Body>
  __device__ static __forceinline__ void over_tiles(Body&& body) {
#pragma unroll
    for (int u = 0; u < (kSwapped ? kRowTiles : kColumnTiles); ++u)
#pragma unroll
      for (int v = 0; v < (kSwapped ? kColumnTiles : kRowTiles); ++v) {
        const int it = kSwapped ? u : v, jt = kSwapped ? v : u;
        if (is_inside(it, jt)) body(it, jt);
      }
  }

  template <bool kStore>
  __device__ __forceinline__ void move(LowerView<T> A, int n) {
    int row = p, column = q;
    // Hides from the compiler that loads and stores have the same addresses and conditions: kept in
    // between, these would take as many registers as the matrix.
    asm volatile("" : "+l"(A.a), "+l"(A.ld), "+r"(n), "+r"(row), "+r"(column));
    T* const first = kSwapped ? A.a + row * A.ld + column : A.a + column * A.ld + row;
    __builtin_assume(__isGlobal(first));
    over_tiles([&](int it, int jt) {
      T* const at = kSwapped ? first + it * P * A.ld + jt * Q : first + jt * Q * A.ld + it * P;
      const int i = it * P + row, j = jt * Q + column;
      const bool inside = i < n && j <= i;
      if constexpr (kStore) {
        if (inside) *at = a[it][jt];
      } else {
        // Beyond n the identity, which does not affect the result.
        T x = from_real<T>(i == j ? 1 : 0);
        if (inside) x = *at;
        a[it][jt] = x;
      }
    });
  }

  template <bool kMasked>
  __device__ __forceinline__ int load_and_eliminate(const LowerView<T>& A, T* shared, int n,
                                                    int bound) {
    move<false>(A, n);
    for (Real<T>& root : kept_roots) root = 1;
    if constexpr (Solve::kSolves) Solve::load(n, p);
    __syncwarp();
    publish<0>(shared);
    eliminate<kMasked>(shared, bound, std::make_integer_sequence<int, N>{});
    return first_bad_pivot(n);
  }
  /// The order of the first bad minor, or 0. Pivots stay in place, unscaled.
  __device__ __forceinline__ int first_bad_pivot(int n) const {
    constexpr int kNone = N;
    int bad = kNone;
    over_tiles([&](int it, int jt) {
      const int row = it * P + p;
      if (is_diagonal(it, jt) && row < n && !is_pivot(real(a[it][jt]))) bad = min(bad, row);
    });
#pragma unroll
    for (int distance = P * Q / 2; distance > 0; distance /= 2)
      bad = min(bad, __shfl_xor_sync(kFullWarp, bad, distance));
    return bad == kNone ? 0 : bad + 1;
  }
  // A fold expression, since the compiler does not unroll loops of so many statements.
  template <bool kMasked, int... j>
  __device__ __forceinline__ void eliminate(T* shared, int bound,
                                            std::integer_sequence<int, j...>) {
    (eliminate_column<j, kMasked>(shared, bound), ...);
  }

  /// Column j, unscaled, by the lanes that hold it, from the tile of its diagonal on. Rows of that
  /// tile above the diagonal are zero, so that products with them have no effect. Copied as a run
  /// of one: the conditional assignment of a complex element was compiled to a branch. Longer runs
  /// make s a tenth slower.
  template <int j>
  __device__ __forceinline__ void publish(T* shared) const {
    if constexpr (Solve::kSolves) Solve::template publish<j>(shared + kLeft, p, q);
    T* const column = shared + j % 2 * kColumn;
    T* const own = column + index(p);
#pragma unroll
    for (int it = j / P; it < kRowTiles; ++it) {
      T x[1] = {a[it][j / Q]};
      if (it == j / P) x[0] = select(p < j % P, from_real<T>(0), x[0]);
      if (q == j % Q) copy_wide<1>(own + it * kRowStep, x);
    }
  }
  /// Tiles from `first` on of a lane's part of a column.
  template <int first, int kStep, int kTiles>
  __device__ static __forceinline__ void read(const T* part, T (&x)[kTiles]) {
    constexpr int kRun = kStep == 1 ? kWide : 1;
#pragma unroll
    for (int t = first / kRun * kRun; t < kTiles; t += kRun) {
      T run[kRun];
      copy_wide<kRun>(run, part + t * kStep);
#pragma unroll
      for (int k = 0; k < kRun && t + k < kTiles; ++k) x[t + k] = run[k];
    }
  }

  template <int first, int kTiles, class Operation>
  __device__ static __forceinline__ void over(T (&x)[kTiles], Operation&& operation) {
#pragma unroll
    for (int t = first; t < kTiles; ++t) operation(x[t]);
  }

  /// Right-looking elimination; a column is broadcast through shared memory unscaled, and its
  /// successor is published before the rest of the update, which hides that latency. @tparam
  /// kMasked see factor_masked_if_needed.
  template <int j, bool kMasked>
  __device__ __forceinline__ void eliminate_column(T* shared, int bound) {
    if (j >= bound) return;
    __syncwarp();
    const T* const column = shared + j % 2 * kColumn;
    const Real<T> pivot = real(column[index(j)]);
    if constexpr (kKeepsRoots)
      kept_root(j / Q) = select(q == j % Q, reciprocal_sqrt(pivot), kept_root(j / Q));
    if constexpr (j + 1 < N) {
      constexpr int kNext = j + 1, kRow = kNext / P, kFirst = kNext / Q;
      T rows[kRowTiles], columns[kColumnTiles];
      read<kRow, kRowStep>(column + index(p), rows);
      read<kFirst, kColumnStep>(column + index(q), columns);
      constexpr bool kDividesRows = kRowTiles < kColumnTiles;
      T unknown{};
      if constexpr (Solve::kSolves) unknown = shared[kLeft + j];
      divide_each_by_pivot<T>(pivot, [&](auto&& operation) {
        if constexpr (kDividesRows) {
          over<kRow>(rows, operation);
        } else {
          over<kFirst>(columns, operation);
          if constexpr (Solve::kSolves) operation(unknown);
        }
      });
      if constexpr (Solve::kSolves) this->template subtract_column<kRow>(rows, unknown);
      const bool is_ahead = kNext % Q == 0 || q > j % Q;
      columns[kFirst] = select(is_ahead, columns[kFirst], from_real<T>(0));
#pragma unroll
      for (int it = kRow; it < kRowTiles; ++it) {
        const T updated = subtract_product_conj(a[it][kFirst], rows[it], columns[kFirst]);
        a[it][kFirst] = kMasked ? select(is_ahead, updated, a[it][kFirst]) : updated;
      }
      publish<kNext>(shared);
#pragma unroll
      for (int jt = kFirst + 1; jt < kColumnTiles; ++jt)
#pragma unroll
        for (int it = kRow; it < kRowTiles; ++it)
          if (is_inside(it, jt))
            a[it][jt] = subtract_product_conj(a[it][jt], rows[it], columns[jt]);
    }
  }
};

}  // namespace chol::cuda
