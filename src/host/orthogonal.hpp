// Orthonormal bases and low rank truncation of one tile on one thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "backend/tile_ops.hpp"
#include "host/products.hpp"

namespace chol::host {

/// Products of one thread.
template <class T>
class ThreadProducts {
 public:
  ThreadProducts(const Products& table, void* buffer) : table_(table), buffer_(buffer) {}
  void operator()(const backend::Product<T>& p) const {
    table_.multiply(
        {p.adjoint_a, p.adjoint_b, p.sign, p.m, p.n, p.k, p.A, p.lda, p.B, p.ldb, p.C, p.ldc},
        buffer_);
  }
  void find_basis(PivotedBasis& basis) const { table_.find_basis(basis); }

 private:
  const Products& table_;
  void* buffer_;
};

template <class T>
RealOf<T> squared(const T& a) {
  if constexpr (is_complex<T>)
    return a.real() * a.real() + a.imag() * a.imag();
  else
    return a * a;
}

template <class T>
RealOf<T> squared_norm(const T* x, int64_t n) {
  // Four sums, to hide the latency of the additions.
  RealOf<T> sum[4] = {0, 0, 0, 0};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int u = 0; u < 4; ++u) sum[u] += squared(x[i + u]);
  for (; i < n; ++i) sum[0] += squared(x[i]);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

template <class T>
void scale(T* x, int64_t n, RealOf<T> factor) {
  for (int64_t i = 0; i < n; ++i) x[i] *= factor;
}

/// Block classical Gram-Schmidt, every block at least twice ("twice is enough": Giraud, Langou,
/// Rozloznik, van den Eshof 2005) and until nothing is lost.
template <class T>
class Orthonormalizer {
  using R = RealOf<T>;

 public:
  static constexpr int64_t kPanel = 16;
  /// Coefficients of a panel against `columns` columns.
  static int64_t scratch_elements(int64_t columns) { return columns * kPanel; }

  Orthonormalizer(const ThreadProducts<T>& multiply, T* scratch)
      : multiply_(multiply), scratch_(scratch) {}

  void run(backend::Orthonormalization<T>& item) const {
    const int64_t tests_from = item.columns - item.tests;
    item.residual = 0;
    for (int64_t c = item.first; c < item.columns;) {
      const bool is_test = c >= tests_from && item.tests > 0;
      const int64_t end = is_test ? item.columns : tests_from;
      const int64_t width = std::min(kPanel, end - c);
      R sum = 0;
      orthonormalize_panel(item.Y, item.rows, c, width, is_test ? &sum : nullptr);
      if (is_test) item.residual += sum;
      c += width;
    }
    if (item.tests > 0) item.residual = std::sqrt(item.residual / R(item.tests));
  }

 private:
  /// @param sum where the squared norms after the projection are added up, or nullptr
  void orthonormalize_panel(T* Y, int64_t rows, int64_t first, int64_t width, R* sum) const {
    T* const panel = Y + first * rows;
    R least[kPanel];
    for (int64_t c = 0; c < width; ++c)
      least[c] =
          std::sqrt(squared_norm(panel + c * rows, rows)) * std::numeric_limits<R>::epsilon();
    // Columns that consist mostly of rounding errors lose most of their length in the second pass
    // too, and with it their orthogonality.
    bool is_done = false;
    for (int pass = 0; !is_done; ++pass) {
      project(Y, first, panel, width, rows);
      if (sum && pass == 0)
        for (int64_t c = 0; c < width; ++c) *sum += squared_norm(panel + c * rows, rows);
      is_done = pass > 0;
      for (int64_t c = 0; c < width; ++c) {
        T* const y = panel + c * rows;
        project(panel, c, y, 1, rows);
        const bool is_last = pass == kMostPasses - 1;
        const R left = normalize(y, rows, pass == 0 ? least[c] : is_last ? kKept : R(0));
        is_done = is_done && (is_last || left == 0 || left > kKept);
      }
    }
  }
  void project(const T* Q, int64_t columns, T* y, int64_t width, int64_t rows) const {
    if (columns == 0) return;
    multiply_({true, false, 0, columns, width, rows, Q, rows, y, rows, scratch_, columns});
    multiply_({false, false, -1, rows, width, columns, Q, rows, scratch_, columns, y, rows});
  }
  /// A column not longer than `least` is rejected. Returns its original length.
  static R normalize(T* y, int64_t rows, R least) {
    const R norm = std::sqrt(squared_norm(y, rows));
    if (norm > least && norm <= std::numeric_limits<R>::max()) {
      scale(y, rows, 1 / norm);
      return norm;
    }
    std::fill(y, y + rows, T(0));
    return 0;
  }

  /// Least length that a pass must leave of a unit vector.
  static constexpr R kKept = R(0.5);
  static constexpr int kMostPasses = 5;

  const ThreadProducts<T>& multiply_;
  T* scratch_;
};

/// The pivoted QLP decomposition (Stewart 1999) of B: two pivoted factorizations, whose diagonal
/// follows the singular values closely.
template <class T>
class Truncator {
  using R = RealOf<T>;

 public:
  Truncator(const ThreadProducts<T>& multiply, T* scratch)
      : multiply_(multiply), scratch_(scratch) {}

  void run(backend::Truncation<T>& item) const {
    const int64_t q = item.columns, rows = item.b_rows;
    T* const triangle = item.scratch;
    T *const W = triangle + q * q, *const S = W + q * q, *const adjoint = S + q * q;
    T *const W2 = adjoint + q * q, *const S2 = W2 + q * q;
    std::copy_n(item.B, rows * q, item.V);
    backend::Orthonormalization<T> basis{item.B, rows, 0, q, 0, 0};
    Orthonormalizer<T>(multiply_, scratch_).run(basis);
    multiply_({true, false, 0, q, q, rows, item.B, rows, item.V, rows, triangle, q});
    // A tenth of the tolerance for the first factorization: the squares are added.
    PivotedBasis first{triangle, q, q, double(item.tolerance) / 10, W, S, q, S2 + q * q};
    multiply_.find_basis(first);
    const int64_t r = first.rank;
    for (int64_t c = 0; c < q; ++c)
      for (int64_t i = 0; i < r; ++i) {
        if constexpr (is_complex<T>)
          adjoint[c + i * q] = std::conj(S[i + c * q]);
        else
          adjoint[c + i * q] = S[i + c * q];
      }
    const double rest = std::sqrt(
        std::max(0.0, double(item.tolerance) * double(item.tolerance) - first.left * first.left));
    PivotedBasis second{adjoint, q, r, rest, W2, S2, q, S2 + q * q};
    multiply_.find_basis(second);
    item.rank = second.rank;
    item.dropped = static_cast<R>(std::hypot(first.left, second.left));
    item.largest = static_cast<R>(second.longest);
    // B is about QB W S2^H W2^H, so that U = Q W2 and V = QB (W S2^H).
    multiply_({false, false, 0, item.q_rows, item.rank, q, item.Q, item.q_rows, W2, q, item.U,
               item.q_rows});
    multiply_({false, true, 0, q, item.rank, r, W, q, S2, q, triangle, q});
    multiply_({false, false, 0, rows, item.rank, q, item.B, rows, triangle, q, item.V, rows});
  }

 private:
  const ThreadProducts<T>& multiply_;
  T* scratch_;
};

}  // namespace chol::host
