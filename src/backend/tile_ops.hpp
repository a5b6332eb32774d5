// What tile low rank algorithms ask of a backend: lists of small operations, so that a device can
// run each list as a few kernels and the cores as a loop over threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/scalar.hpp"
#include "base/status.hpp"

namespace chol::backend {

/// C := op(A) op(B), or C plus or minus that; op is nothing or the conjugate transpose.
template <class T>
struct Product {
  bool adjoint_a, adjoint_b;
  int sign;  ///< 0: C := op(A) op(B); 1, -1: added to C, subtracted from it
  int64_t m, n, k;
  const T* A;
  int64_t lda;
  const T* B;
  int64_t ldb;
  T* C;
  int64_t ldc;
};

/// Products in groups. Those of a group follow each other in order, which fixes every sum; groups
/// write different memory and may run side by side.
template <class T>
class ProductGroups {
 public:
  void begin_group() { ends_.push_back(static_cast<int64_t>(products_.size())); }
  /// To the group that was begun last.
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

/// Columns [first, columns) of Y are made orthonormal against all columns before and among
/// themselves; what depends on columns before it becomes zero.
template <class T>
struct Orthonormalization {
  T* Y;  ///< rows by columns, contiguous
  int64_t rows, first, columns;
  /// The last columns are tests: `residual` is the root of the mean of their squared norms after
  /// the projection against the columns before them.
  int64_t tests;
  RealOf<T> residual;
};

/// Q B^H becomes U V^H of the least rank r that differs by at most `tolerance` in the Frobenius
/// norm; U is orthonormal if Q is.
template <class T>
struct Truncation {
  const T* Q;  ///< q_rows by columns, contiguous
  int64_t q_rows;
  T* B;  ///< b_rows by columns, contiguous; overwritten
  int64_t b_rows, columns;
  RealOf<T> tolerance;
  T* U;        ///< room for q_rows by columns
  T* V;        ///< room for b_rows by columns
  T* scratch;  ///< scratch_elements(columns)
  int64_t rank;
  RealOf<T> dropped;  ///< Frobenius norm of what was truncated
  RealOf<T> largest;  ///< about the largest singular value of it

  static int64_t scratch_elements(int64_t columns) { return 6 * columns * columns + columns; }
};

/// V := inverse(L) V, or inverse(L^H) V.
template <class T>
struct TriangularSolve {
  const T* L;         ///< n by n, contiguous, as potrf() and ldl() make it
  const T* inverses;  ///< its inverted diagonal blocks, by invert_blocks()
  int64_t n;
  bool adjoint;
  T* V;
  int64_t columns, ldv;
};

/// Element (i, j) of `to` := that of op(from) in row row_order[i] and column column_order[j], times
/// row_signs[i] and column_signs[j]. Without orders and adjoint, `from` may be `to`.
template <class T>
struct Rearrangement {
  const T* from;
  int64_t ld_from;
  T* to;
  int64_t ld_to;
  int64_t rows, columns;                  ///< of `to`
  bool adjoint = false;                   ///< op is the conjugate transpose
  const int64_t* row_order = nullptr;     ///< or nullptr, as the following: on the host
  const int64_t* column_order = nullptr;  ///< or nullptr
  const RealOf<T>* row_signs = nullptr;   ///< 1 or -1
  const RealOf<T>* column_signs = nullptr;
};

/// The Euclidean norm of `count` elements.
template <class T>
struct Norm {
  const T* x;
  int64_t count;
  double norm;
};

template <class T>
class TileOps {
 public:
  virtual ~TileOps() = default;
  virtual int threads() const = 0;
  virtual void multiply(const ProductGroups<T>& groups) = 0;
  virtual void orthonormalize(std::vector<Orthonormalization<T>>& list) = 0;
  virtual void truncate(std::vector<Truncation<T>>& list) = 0;
  /// Cholesky factor of a tile (n by n, contiguous) in its lower triangle, zeros above it. Returns
  /// info of potrf.
  virtual int potrf(T* A, int64_t n) = 0;
  /// L D L^H of an indefinite tile (n by n, contiguous, of which the lower triangle is read), with
  /// its rows and columns in the order that is chosen (`order`, on the host) and D = diag(signs),
  /// on the host. L overwrites the tile: lower triangular but for pivots of order 2 on its
  /// diagonal, zeros elsewhere. *info: 0, or i where pivot i is zero or not finite.
  virtual Status ldl(T* A, int64_t n, int64_t* order, RealOf<T>* signs, int* info) = 0;
  virtual Status rearrange(const std::vector<Rearrangement<T>>& list) = 0;
  virtual Status norms(std::vector<Norm<T>>& list) = 0;
  /// A tile (n by n, contiguous, of which the lower triangle is read) becomes a positive definite
  /// one nearby, whose smallest eigenvalue is about `least`, by a modified Cholesky algorithm.
  virtual void make_definite(T* A, int64_t n, RealOf<T> least) = 0;
  /// Elements of the inverted diagonal blocks of a factor of order n.
  virtual int64_t inverse_elements(int64_t n) const = 0;
  virtual void invert_blocks(const T* L, int64_t n, T* inverses) = 0;
  virtual void solve(const std::vector<TriangularSolve<T>>& list) = 0;
  /// Independent standard normal numbers, of complex type with E |x|^2 = 1: each of them by its
  /// place and the seed alone.
  virtual void random(T* block, int64_t count, uint64_t seed) = 0;
  /// body(i) for each i in [0, count), side by side.
  virtual void for_each(int64_t count, const std::function<void(int64_t)>& body) = 0;
  /// What the distances' kernel functions need: see host/products.hpp.
  virtual void decay(double* x, int64_t n, double scale) = 0;
  virtual void scaled_root(double* x, int64_t n, double factor) = 0;
  virtual void add_squared_distance(double* r2, const double* x, double y, int64_t n) = 0;
};

}  // namespace chol::backend
