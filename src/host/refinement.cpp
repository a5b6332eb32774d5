#include "host/refinement.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "host/conjugate.hpp"

namespace chol::host {
namespace {

using backend::Columns;
using backend::Hermitian;
using backend::LowerPrecision;

template <class T>
double absolute(const T& x) {
  if constexpr (is_complex<T>)
    return std::sqrt(x.real() * x.real() + x.imag() * x.imag());
  else
    return std::abs(x);
}
/// As BLAS's i?amax measures an element.
template <class T>
double sum_of_parts(const T& x) {
  if constexpr (is_complex<T>)
    return std::abs(x.real()) + std::abs(x.imag());
  else
    return std::abs(x);
}
double largest_part(const std::complex<double>& x) {
  return std::max(std::abs(x.real()), std::abs(x.imag()));
}
double largest_part(double x) { return std::abs(x); }
/// The larger of two, or NaN if one is.
double larger(double x, double y) { return x > y || std::isnan(x) ? x : y; }

/// Rows of a block: each product of a Hermitian matrix has one task for each block of rows, so that
/// the bits of a sum do not depend on the number of threads.
constexpr int64_t kRows = 128;

template <class T>
class HostRefinement final : public backend::Refinement<T> {
 public:
  using Low = LowerPrecision<T>;
  HostRefinement(std::unique_ptr<backend::TileOps<T>> operations, int64_t n, Arena& arena)
      : operations_(std::move(operations)),
        diagonal_blocks_(arena.take<T>(static_cast<size_t>(n * std::min(n, kRows)))) {}

  Status round(const Hermitian<const T>& A, const Hermitian<Low>& to, double* norm,
               bool* overflows) override {
    const int64_t groups = groups_of(A.n);
    std::vector<double> sums(static_cast<size_t>(groups * A.n)), most(static_cast<size_t>(groups));
    operations_->for_each(groups, [&](int64_t group) {
      for (int64_t j = group; j < A.n; j += groups)
        most[static_cast<size_t>(group)] =
            larger(round_column(A, j, to, &sums[static_cast<size_t>(group * A.n)]),
                   most[static_cast<size_t>(group)]);
    });
    *norm = 0;
    for (int64_t i = 0; i < A.n; ++i) {
      double sum = 0;
      for (int64_t group = 0; group < groups; ++group)
        sum += sums[static_cast<size_t>(group * A.n + i)];
      *norm = larger(sum, *norm);
    }
    // NaN is detected by the factorization.
    *overflows = std::any_of(most.begin(), most.end(), [](double x) {
      return x > double(std::numeric_limits<float>::max());
    });
    return Status::success();
  }

  Status multiply(const Hermitian<const T>& A, const Columns<const T>& X,
                  const Columns<T>& Y) override {
    constexpr int64_t kFew = 2;
    if (X.count <= kFew) {
      multiply_few(A, X, Y);
      return Status::success();
    }
    const bool lower = A.uplo == CHOL_LOWER;
    backend::ProductGroups<T> products;
    for (int64_t row = 0; row < A.n; row += kRows) {
      const int64_t rows = std::min(kRows, A.n - row), below = row + rows, rest = A.n - below;
      // Blocks before and behind the diagonal one: one of the two strips is stored as it is, of
      // the other one the conjugate transpose.
      const T* const before = lower ? A.A + row : A.A + row * A.ld;
      const T* const behind = lower ? A.A + below + row * A.ld : A.A + row + below * A.ld;
      T* const y = Y.first + row;
      products.begin_group();
      products.add({false, false, 0, rows, X.count, rows, copy_diagonal_block(A, row, rows), rows,
                    X.first + row, X.ld, y, Y.ld});
      if (row > 0)
        products.add({!lower, false, 1, rows, X.count, row, before, A.ld, X.first, X.ld, y, Y.ld});
      if (rest > 0)
        products.add(
            {lower, false, 1, rows, X.count, rest, behind, A.ld, X.first + below, X.ld, y, Y.ld});
    }
    operations_->multiply(products);
    return Status::success();
  }

  Status combine(const double* x, const Columns<const T>& X, const double* y,
                 const Columns<T>& Y) override {
    for_each_column(X, [&](int64_t j) {
      const T* const from = X.first + j * X.ld;
      T* const to = Y.first + j * Y.ld;
      if (y[j] == 0)
        for (int64_t i = 0; i < X.n; ++i) to[i] = x[j] * from[i];
      else
        for (int64_t i = 0; i < X.n; ++i) to[i] = x[j] * from[i] + y[j] * to[i];
    });
    return Status::success();
  }
  Status round(const double* factor, const Columns<const T>& X, const Columns<Low>& low) override {
    for_each_column(X, [&](int64_t j) {
      for (int64_t i = 0; i < X.n; ++i)
        low.first[i + j * low.ld] = static_cast<Low>(factor[j] * X.first[i + j * X.ld]);
    });
    return Status::success();
  }
  Status extend(const double* factor, const Columns<const Low>& low, const Columns<T>& X) override {
    for_each_column(X, [&](int64_t j) {
      for (int64_t i = 0; i < X.n; ++i)
        X.first[i + j * X.ld] = factor[j] * static_cast<T>(low.first[i + j * low.ld]);
    });
    return Status::success();
  }
  Status measure(std::span<const backend::Measure<T>> measures) override {
    for (const backend::Measure<T>& what : measures)
      for_each_column(what.X, [&](int64_t j) {
        const T* const x = what.X.first + j * what.X.ld;
        if (what.is_inner()) {
          what.result[j] = operations_->inner(x, what.Y.first + j * what.Y.ld, what.X.n);
          return;
        }
        double most = 0;
        for (int64_t i = 0; i < what.X.n; ++i) most = larger(sum_of_parts(x[i]), most);
        what.result[j] = most;
      });
    return Status::success();
  }
  Status read(const int* value, int* result) override {
    *result = *value;
    return Status::success();
  }

 private:
  static int64_t blocks(int64_t n) { return (n + kRows - 1) / kRows; }
  /// Groups of columns with separate sums, independent of the number of threads.
  static int64_t groups_of(int64_t n) {
    constexpr int64_t kMostGroups = 16;
    return std::min(kMostGroups, n);
  }
  /// body(j) for the columns of X, in parallel if there is enough work.
  template <class U, class Body>
  void for_each_column(const Columns<U>& X, const Body& body) {
    constexpr int64_t kElements = 65536;
    if (X.n * X.count >= kElements) return operations_->for_each(X.count, body);
    for (int64_t j = 0; j < X.count; ++j) body(j);
  }

  /// Rounds the stored part of column j, adds the absolute values of its elements to the sums of
  /// the rows that they belong to, and returns the largest part of one.
  static double round_column(const Hermitian<const T>& A, int64_t j, const Hermitian<Low>& to,
                             double* sums) {
    const int64_t first = A.uplo == CHOL_LOWER ? j + 1 : 0, last = A.uplo == CHOL_LOWER ? A.n : j;
    const T* const from = A.A + j * A.ld;
    Low* const low = to.A + j * to.ld;
    constexpr int kLanes = 8;
    double in_lanes[kLanes] = {}, most[kLanes] = {};
    const auto take = [&](int64_t i, int lane) {
      const double size = absolute(from[i]), part = largest_part(from[i]);
      sums[i] += size;
      in_lanes[lane] += size;
      most[lane] = most[lane] > part ? most[lane] : part;
      low[i] = static_cast<Low>(from[i]);
    };
    int64_t i = first;
    for (; i + kLanes <= last; i += kLanes)
      for (int lane = 0; lane < kLanes; ++lane) take(i + lane, lane);
    for (; i < last; ++i) take(i, 0);
    low[j] = static_cast<Low>(from[j]);
    double sum = std::abs(std::real(from[j])), largest = sum;
    for (int lane = 0; lane < kLanes; ++lane) {
      sum += in_lanes[lane];
      largest = larger(most[lane], largest);
    }
    sums[j] += sum;
    return largest;
  }

  /// Y := A X for so few columns that memory bandwidth bounds it: a tile of A is used for its rows
  /// and, transposed, for its columns. Each group of block columns has its own sums.
  void multiply_few(const Hermitian<const T>& A, const Columns<const T>& X, const Columns<T>& Y) {
    constexpr int64_t kTileRows = 256;
    const bool lower = A.uplo == CHOL_LOWER;
    const int64_t groups = std::min(groups_of(A.n), blocks(A.n));
    const int64_t size = A.n * X.count;
    Buffer<T> sums(groups * size);
    backend::ProductGroups<T> products;
    for (int64_t group = 0; group < groups; ++group) {
      T* const y = sums.get() + group * size;
      std::fill_n(y, size, T(0));
      products.begin_group();
      for (int64_t block = group; block < blocks(A.n); block += groups) {
        const int64_t column = block * kRows, columns = std::min(kRows, A.n - column);
        const int64_t first = lower ? column + columns : 0, last = lower ? A.n : column;
        products.add({false, false, 1, columns, X.count, columns,
                      copy_diagonal_block(A, column, columns), columns, X.first + column, X.ld,
                      y + column, A.n});
        for (int64_t row = first; row < last; row += kTileRows) {
          const int64_t rows = std::min(kTileRows, last - row);
          const T* const tile = A.A + row + column * A.ld;
          products.add({true, false, 1, columns, X.count, rows, tile, A.ld, X.first + row, X.ld,
                        y + column, A.n});
          products.add({false, false, 1, rows, X.count, columns, tile, A.ld, X.first + column, X.ld,
                        y + row, A.n});
        }
      }
    }
    operations_->multiply(products);
    for (int64_t j = 0; j < X.count; ++j)
      for (int64_t i = 0; i < A.n; ++i) {
        T sum(0);
        for (int64_t group = 0; group < groups; ++group)
          sum += sums.get()[group * size + j * A.n + i];
        Y.first[i + j * Y.ld] = sum;
      }
  }

  /// The full diagonal block, of which one triangle is stored.
  const T* copy_diagonal_block(const Hermitian<const T>& A, int64_t row, int64_t rows) {
    T* const to = diagonal_blocks_ + row * kRows;
    const T* const from = A.A + row * (A.ld + 1);
    for (int64_t j = 0; j < rows; ++j) {
      to[j + j * rows] = std::real(from[j + j * A.ld]);
      for (int64_t i = j + 1; i < rows; ++i) {
        const T below = A.uplo == CHOL_LOWER ? from[i + j * A.ld] : conjugate(from[j + i * A.ld]);
        to[i + j * rows] = below;
        to[j + i * rows] = conjugate(below);
      }
    }
    return to;
  }
  std::unique_ptr<backend::TileOps<T>> operations_;
  T* diagonal_blocks_;
};

}  // namespace

template <class T>
std::unique_ptr<backend::Refinement<T>> make_refinement(
    std::unique_ptr<backend::TileOps<T>> operations, int64_t n, Arena& arena) {
  return std::make_unique<HostRefinement<T>>(std::move(operations), n, arena);
}

template std::unique_ptr<backend::Refinement<double>> make_refinement(
    std::unique_ptr<backend::TileOps<double>>, int64_t, Arena&);
template std::unique_ptr<backend::Refinement<std::complex<double>>> make_refinement(
    std::unique_ptr<backend::TileOps<std::complex<double>>>, int64_t, Arena&);

}  // namespace chol::host
