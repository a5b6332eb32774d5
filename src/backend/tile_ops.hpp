// Operations of tile low rank algorithms that a backend implements. They process lists of small
// operations: a device executes a list by a few kernels, the host by a loop over threads.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "backend/covariance.hpp"
#include "backend/sweep_plan.hpp"
#include "base/buffer.hpp"
#include "base/scalar.hpp"
#include "base/status.hpp"

namespace chol::backend {

/// C := op(A) op(B), C + op(A) op(B) or C - op(A) op(B); op is the identity or the conjugate
/// transpose.
template <class T>
struct Product {
  bool adjoint_a, adjoint_b;
  int sign;  ///< 0: C := op(A) op(B); 1, -1: added to, subtracted from C
  int64_t m, n, k;
  const T* A;
  int64_t lda;
  const T* B;
  int64_t ldb;
  T* C;
  int64_t ldc;
};

/// Groups of products. Products of a group have the same C and are added in order, which fixes the
/// result; the first may overwrite C. Groups write different memory and may run concurrently.
template <class T>
class ProductGroups {
 public:
  void begin_group() { ends_.push_back(static_cast<int64_t>(products_.size())); }
  /// Adds a product to the last group.
  void add(const Product<T>& product) {
    products_.push_back(product);
    ends_.back() = static_cast<int64_t>(products_.size());
  }
  int64_t groups() const { return static_cast<int64_t>(ends_.size()); }
  int64_t begin(int64_t group) const { return group > 0 ? ends_[group - 1] : 0; }
  int64_t end(int64_t group) const { return ends_[group]; }
  const Product<T>& product(int64_t i) const { return products_[i]; }
  double flops() const {
    double sum = 0;
    for (const Product<T>& p : products_) sum += 2. * double(p.m) * double(p.n) * double(p.k);
    return sum * flop_factor<T>;
  }

 private:
  std::vector<Product<T>> products_;
  std::vector<int64_t> ends_;
};

/// Lists of products, each of which may read the results of the previous lists.
template <class T>
class ProductSteps {
 public:
  static constexpr int kSteps = 3;
  ProductGroups<T>& operator[](int step) { return steps_[static_cast<size_t>(step)]; }
  const ProductGroups<T>& operator[](int step) const { return steps_[static_cast<size_t>(step)]; }
  /// Adds a group of one product.
  void add(int step, const Product<T>& product) {
    (*this)[step].begin_group();
    (*this)[step].add(product);
  }
  double flops() const {
    double sum = 0;
    for (const ProductGroups<T>& groups : steps_) sum += groups.flops();
    return sum;
  }

 private:
  std::array<ProductGroups<T>, kSteps> steps_;
};

/// to := from or its conjugate transpose; rows and columns are those of `from`.
template <class T>
struct Copy {
  bool adjoint;
  int64_t rows, columns;
  const T* from;
  int64_t ld_from;
  T* to;
  int64_t ld_to;
};

/// Orthonormalizes columns [first, columns) of Y against all previous columns and each other;
/// linearly dependent columns become zero. With keeps_samples(), Y is not changed, and a basis of
/// all its columns is written to Q.
template <class T>
struct Orthonormalization {
  T* Y;  ///< rows by columns, contiguous
  int64_t rows, first, columns;
  /// The last columns are test vectors: `residual` is the root mean square of their norms after
  /// projection against the columns before them.
  int64_t tests;
  RealOf<T> residual;
  T* Q = nullptr;  ///< rows by columns, of which the first `rank` are written
  int64_t rank = 0;
  RealOf<T> enough = 0;  ///< residual at which no more columns are added to Q
};

/// Truncates Q B^H to U V^H of about the smallest rank r with an error of at most `tolerance` in
/// the Frobenius norm; U or V is orthonormal if Q is.
template <class T>
struct Truncation {
  const T* Q;  ///< q_rows by columns, contiguous
  int64_t q_rows;
  T* B;  ///< b_rows by columns, contiguous; overwritten
  int64_t b_rows, columns;
  RealOf<T> tolerance;
  T* U;        ///< output, up to q_rows by columns
  T* V;        ///< output, up to b_rows by columns
  T* scratch;  ///< scratch_elements(columns)
  int64_t rank;
  RealOf<T> dropped;  ///< Frobenius norm of the truncated part
  RealOf<T> largest;  ///< estimate of the largest singular value of the truncated part

  static int64_t scratch_elements(int64_t columns) { return 6 * columns * columns + columns; }
};

/// The core S = Psi^H M Omega of a tile M that is known by its samples (generalized Nystrom:
/// Nakatsukasa 2020). With S P = Q R of the numerical rank r, M is approximately (M Omega T) (M^H
/// Psi Q)^H, T = P inverse(R).
template <class T>
struct CoreFactor {
  const T* S;  ///< rows by columns, contiguous
  int64_t rows, columns;
  T* scratch;  ///< scratch_elements(rows, columns)
  T* T_;       ///< columns by columns, of which r columns are written
  T* Q;        ///< rows by columns, of which r columns are written
  int64_t rank;
  bool is_sufficient;  ///< the last columns indicate a remainder below the tolerance
  /// Estimates, if requested: the Frobenius norm of the remainder, and its largest singular value
  /// divided by that norm.
  double error, spike;

  static int64_t scratch_elements(int64_t rows, int64_t columns) {
    return columns * (rows + 2 * columns);
  }
};

/// U V^H; or U, if the rank is -1.
template <class T>
struct LowRank {
  const T *U, *V;
  int64_t rank;
};

/// Samples of the tiles M_i = A_ik - sum over j < k of L_ij L_kj^H of a block column k: Y_i := M_i
/// Omega, X_i := M_i^H Psi with the leading columns of Omega and Psi. The terms of the finished
/// columns j of [from, to) are added to Y and X; if from is 0 the sums begin with A_ik.
template <class T>
struct ColumnSamples {
  struct Row {
    int64_t index;
    LowRank<T> own;  ///< A_ik, if of low rank
    int64_t order, samples, left_samples;
    T *Y, *X;
  };
  int64_t k, from, to;
  int64_t tile, order;  ///< of the tiles of columns before k; of tile k
  std::vector<Row> rows;
  std::vector<LowRank<T>> right;  ///< L_kj of these columns; V is the identity for dense tiles
  const T *omega, *psi;
  int64_t ld;
};

/// The tiles below the diagonal of block column k of a factor, whose addresses do not change.
template <class T>
struct FinishedColumn {
  struct Row {
    int64_t index, order;
    LowRank<T> tile;
  };
  int64_t k, tiles, order;
  std::vector<Row> rows;  ///< all of them
  const T* psi;           ///< left samples, with leading dimension ld
  int64_t psi_columns, ld;
};

/// V := inverse(L) V, or inverse(L^H) V.
template <class T>
struct TriangularSolve {
  const T* L;         ///< n by n, contiguous, as returned by potrf() and ldl()
  const T* inverses;  ///< its inverted diagonal blocks, as returned by invert_blocks()
  int64_t n;
  bool adjoint;
  T* V;
  int64_t columns, ldv;
  bool has_pairs = false;  ///< L may have pivots of order 2 on its diagonal
};

/// The tiles below the diagonal of a matrix in row-major order, and the data for solves with
/// diagonal tiles.
template <class T>
struct LowerTiles {
  int64_t tile;                 ///< the largest order
  std::vector<int64_t> starts;  ///< of the block rows, and the order of the matrix
  std::vector<LowRank<T>> tiles;
  std::vector<const T*> inverses;  ///< of a factor: as returned by invert_blocks()
  bool has_pairs;                  ///< see TriangularSolve
  SweepPlans* plans = nullptr;     ///< valid as long as the tiles do not change
  /// For solves: number of block rows of a stage, and the inverses of the diagonal blocks of the
  /// stages.
  int64_t stage = 1;
  std::vector<const T*> stage_inverses{};
};

/// Element (i, j) of `to` := the element of op(from) in row row_order[i] and column
/// column_order[j], times row_signs[i] and column_signs[j]. Without orders and adjoint, `from` may
/// be `to`.
template <class T>
struct Rearrangement {
  const T* from;
  int64_t ld_from;
  T* to;
  int64_t ld_to;
  int64_t rows, columns;                  ///< of `to`
  bool adjoint = false;                   ///< op is the conjugate transpose
  const int64_t* row_order = nullptr;     ///< or nullptr; this and the following are on the host
  const int64_t* column_order = nullptr;  ///< or nullptr
  const RealOf<T>* row_signs = nullptr;   ///< 1 or -1
  const RealOf<T>* column_signs = nullptr;
};

/// Result of begin_diagonal().
struct DiagonalFactor {
  int info;
  double norm_of_inverse;  ///< valid if info is 0
};

/// The Euclidean norm of `count` elements.
template <class T>
struct Norm {
  const T* x;
  int64_t count;
  double norm;
};

/// Arrays are in the memory of the operations unless stated otherwise.
template <class T>
class TileOps {
 public:
  virtual ~TileOps() = default;
  virtual int threads() const = 0;

  /// Memory on which the operations work; nullptr: host memory.
  virtual Memory* memory() const { return nullptr; }
  Buffer<T> buffer(int64_t count) const { return Buffer<T>(count, memory()); }
  /// Whether the operations can access this array of the caller.
  virtual bool reaches(const void*) const { return true; }
  /// Default limit in bytes of the workspace of a computation.
  virtual double default_workspace() const { return 512e6; }
  /// Copies between any memories; synchronous with respect to the host.
  virtual void transfer(int64_t rows, int64_t columns, const T* from, int64_t ld_from, T* to,
                        int64_t ld_to) = 0;
  virtual void copy(const std::vector<Copy<T>>& list) = 0;
  void copy(const T* from, int64_t count, T* to) {
    if (count > 0) copy({{false, count, 1, from, count, to, count}});
  }
  virtual void set_zero(T* x, int64_t count) = 0;

  virtual void multiply(const ProductGroups<T>& groups) = 0;
  void multiply(const ProductSteps<T>& steps) {
    for (int step = 0; step < ProductSteps<T>::kSteps; ++step) multiply(steps[step]);
  }

  /// Whether tiles are compressed from samples of both sides by begin_cores(); bases and
  /// projections, orthonormalize() and truncate(), are then used only for tiles for which this is
  /// insufficient, and otherwise for all tiles.
  virtual bool has_cores() const { return false; }
  /// For backends with cores. Columns are finished in order.
  virtual void sample_column(const ColumnSamples<T>&) {}
  virtual void finish_column(const FinishedColumn<T>&) {}
  /// Starts the factorization of cores; end_cores() waits for the earliest list.
  /// @param tolerance for the error of each tile in the Frobenius norm
  /// @param wants_errors whether `error` and `spike` are requested
  virtual void begin_cores(const std::vector<CoreFactor<T>>&, double, bool) {}
  virtual void end_cores(std::vector<CoreFactor<T>>&) {}
  virtual bool keeps_samples() const { return false; }
  virtual void orthonormalize(std::vector<Orthonormalization<T>>& list) = 0;
  virtual void truncate(std::vector<Truncation<T>>& list) = 0;

  /// For tiles n by n, contiguous, with n in `orders`: sets the upper triangle to the adjoint of
  /// the lower one, and the imaginary part of the diagonal to zero.
  virtual void make_hermitian(const std::vector<T*>& tiles, const std::vector<int64_t>& orders) = 0;
  virtual void add_to_diagonal(T* A, int64_t n, RealOf<T> shift) = 0;
  /// Copies the real parts of the diagonal to the host.
  virtual void read_diagonal(const T* A, int64_t n, RealOf<T>* host) = 0;
  /// Cholesky factor of a tile (n by n, contiguous) in its lower triangle, zeros above it. Returns
  /// info of potrf.
  virtual int potrf(T* A, int64_t n) = 0;
  /// Replaces a tile (n by n, contiguous, of which the lower triangle is read) by a nearby positive
  /// definite one, whose smallest eigenvalue is about `least`, by a modified Cholesky algorithm.
  virtual void make_definite(T* A, int64_t n, RealOf<T> least) = 0;
  /// Number of elements of the inverted diagonal blocks of a factor of order n.
  virtual int64_t inverse_elements(int64_t n) const = 0;
  /// @param has_pairs see TriangularSolve
  virtual void invert_blocks(const T* L, int64_t n, T* inverses, bool has_pairs) = 0;
  virtual void solve(const std::vector<TriangularSolve<T>>& list) = 0;

  /// Whether there are sweeps over all tiles at once, which are faster on a device than operations
  /// on one block column at a time.
  enum class Sweep : uint8_t { solve, add };
  virtual bool has_sweeps(Sweep /*kind*/, int64_t /*tile*/, int64_t /*columns*/) const {
    return false;
  }
  /// Number of block rows whose inverses solve_all() uses together.
  virtual int64_t stage(const LowerTiles<T>& /*L*/) const { return 1; }
  /// B := inverse(L) B or inverse(L^H) B.
  virtual void solve_all(const LowerTiles<T>& /*L*/, bool /*adjoint*/, int64_t /*columns*/,
                         T* /*B*/, int64_t /*ldb*/) {}
  /// Y += L X or L^H X without the diagonal tiles. Y and X must not overlap.
  virtual void add_all(const LowerTiles<T>& /*L*/, bool /*adjoint*/, int64_t /*columns*/,
                       const T* /*X*/, int64_t /*ldx*/, T* /*Y*/, int64_t /*ldy*/) {}

  /// Lower estimate of the 2-norm of inverse(L L^H), by steps of the power method that start from
  /// x, which is overwritten.
  virtual double norm_of_inverse(const T* L, const T* inverses, int64_t n, T* x, int steps) {
    double norm = 0;
    for (int step = 0; step < steps; ++step) {
      scale(x, n, static_cast<RealOf<T>>(1 / std::sqrt(inner(x, x, n))));
      for (const bool adjoint : {false, true}) solve({{L, inverses, n, adjoint, x, 1, n}});
      norm = std::sqrt(inner(x, x, n));
      if (!(norm <= 1e300)) break;
    }
    return norm;
  }

  /// Whether potrf, invert_blocks and norm_of_inverse of a tile can run concurrently with other
  /// operations, from begin_diagonal() to end_diagonal().
  virtual bool factors_beside() const { return false; }
  virtual void begin_diagonal(T* /*A*/, int64_t /*n*/, T* /*inverses*/, T* /*x*/, int /*steps*/) {}
  virtual DiagonalFactor end_diagonal() { return {}; }

  /// Whether operations between begin_ahead() and end_ahead() run concurrently with the operations
  /// that follow, until join_ahead(), and with those of the other kind. They are ordered after all
  /// operations before fork_ahead().
  enum class Ahead : uint8_t { samples, tiles };
  virtual bool looks_ahead() const { return false; }
  virtual void fork_ahead() {}
  virtual void begin_ahead(Ahead /*kind*/) {}
  virtual void end_ahead() {}
  virtual void join_ahead() {}

  /// L D L^H of an indefinite tile (n by n, contiguous, of which the lower triangle is read). The
  /// permutation of its rows and columns is returned in `order`, and D = diag(signs), both on the
  /// host. L overwrites the tile: lower triangular except for pivots of order 2 on its diagonal,
  /// zeros elsewhere. Returns 0, or i if pivot i is zero or not finite.
  virtual int ldl(T* /*A*/, int64_t /*n*/, int64_t* /*order*/, RealOf<T>* /*signs*/) { return 0; }
  /// The same followed by invert_blocks(), used instead of ldl() if factors_beside().
  virtual void begin_ldl(T* /*A*/, int64_t /*n*/, T* /*inverses*/) {}
  virtual int end_ldl(int64_t /*n*/, int64_t* /*order*/, RealOf<T>* /*signs*/) { return 0; }
  virtual void rearrange(const std::vector<Rearrangement<T>>& list) = 0;
  virtual void norms(std::vector<Norm<T>>& list) = 0;

  /// Independent standard normal numbers, of complex type with E |x|^2 = 1; each depends only on
  /// its position and the seed.
  virtual void random(T* block, int64_t count, uint64_t seed) = 0;
  virtual void evaluate(const Covariance& covariance, const std::vector<Block<T>>& blocks) = 0;
  /// y := C x with the covariance matrix C.
  virtual void multiply_covariance(const Covariance& covariance, const T* x, T* y) = 0;

  /// The real part of x^H y, accumulated in double precision.
  virtual double inner(const T* x, const T* y, int64_t n) = 0;
  /// x := factor * x.
  virtual void scale(T* x, int64_t n, RealOf<T> factor) = 0;
  /// y := a x + b y.
  virtual void combine(RealOf<T> a, const T* x, RealOf<T> b, T* y, int64_t n) = 0;

  /// Calls body(i) for each i in [0, count), in parallel on host threads.
  virtual void for_each(int64_t count, const std::function<void(int64_t)>& body) = 0;
};

}  // namespace chol::backend
