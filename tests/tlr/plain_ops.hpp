// Operations of tile low rank algorithms in plain loops, with cores and look-ahead as on a device.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <deque>
#include <functional>
#include <random>

#include "backend/tile_ops.hpp"
#include "host/indefinite_factor.hpp"
#include "support/dense.hpp"

namespace chol::tlr {

using test::conjugate;

template <class T>
class PlainOps final : public backend::TileOps<T> {
  using R = RealOf<T>;
  using Ahead = typename backend::TileOps<T>::Ahead;

 public:
  int threads() const override { return 1; }
  void transfer(int64_t rows, int64_t columns, const T* from, int64_t ld_from, T* to,
                int64_t ld_to) override {
    for (int64_t j = 0; j < columns; ++j) std::copy_n(from + j * ld_from, rows, to + j * ld_to);
  }
  void copy(const std::vector<backend::Copy<T>>& list) override {
    for (const auto& c : list)
      for (int64_t j = 0; j < c.columns; ++j)
        for (int64_t i = 0; i < c.rows; ++i) {
          const T x = c.from[i + j * c.ld_from];
          if (c.adjoint)
            c.to[j + i * c.ld_to] = conjugate(x);
          else
            c.to[i + j * c.ld_to] = x;
        }
  }
  void set_zero(T* x, int64_t count) override { std::fill_n(x, count, T(0)); }
  using backend::TileOps<T>::multiply;
  void multiply(const backend::ProductGroups<T>& groups) override {
    for (int64_t g = 0; g < groups.groups(); ++g)
      for (int64_t i = groups.begin(g); i < groups.end(g); ++i) add(groups.product(i));
  }
  void make_hermitian(const std::vector<T*>& tiles, const std::vector<int64_t>& orders) override {
    for (size_t t = 0; t < tiles.size(); ++t)
      for (int64_t j = 0; j < orders[t]; ++j)
        for (int64_t i = j; i < orders[t]; ++i)
          tiles[t][j + i * orders[t]] = conjugate(tiles[t][i + j * orders[t]]);
  }
  void add_to_diagonal(T* A, int64_t n, R shift) override {
    for (int64_t i = 0; i < n; ++i) A[i + i * n] += shift;
  }
  void read_diagonal(const T* A, int64_t n, R* host) override {
    for (int64_t i = 0; i < n; ++i) host[i] = std::real(A[i + i * n]);
  }
  int potrf(T* A, int64_t n) override {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t k = 0; k < j; ++k)
        for (int64_t i = j; i < n; ++i) A[i + j * n] -= A[i + k * n] * conjugate(A[j + k * n]);
      if (!(std::real(A[j + j * n]) > 0)) return static_cast<int>(j + 1);
      const R pivot = std::sqrt(std::real(A[j + j * n]));
      for (int64_t i = 0; i < n; ++i) A[i + j * n] = i < j ? T(0) : A[i + j * n] / pivot;
    }
    return 0;
  }
  void make_definite(T*, int64_t, R) override { FAIL(); }
  int64_t inverse_elements(int64_t) const override { return 1; }
  void invert_blocks(const T*, int64_t, T*, bool) override {}
  void solve(const std::vector<backend::TriangularSolve<T>>& list) override {
    for (const auto& item : list)
      for (int64_t c = 0; c < item.columns; ++c) {
        T* const x = item.V + c * item.ldv;
        for (int64_t step = 0; step < item.n; ++step) {
          const int64_t i = item.adjoint ? item.n - 1 - step : step;
          if (item.has_pairs && i + 1 < item.n && item.L[i + (i + 1) * item.n] != T(0)) {
            solve_pair(item.L, item.n, i, x);
            ++step;
            continue;
          }
          for (int64_t k = item.adjoint ? i + 1 : 0; k < (item.adjoint ? item.n : i); ++k)
            x[i] -=
                (item.adjoint ? conjugate(item.L[k + i * item.n]) : item.L[i + k * item.n]) * x[k];
          x[i] /= std::real(item.L[i + i * item.n]);
        }
      }
  }
  /// The solves of these operations need no inverses.
  void begin_ldl(T* A, int64_t n, T* /*inverses*/) override {
    order_.resize(static_cast<size_t>(n));
    signs_.resize(order_.size());
    diagonal_.info = host::indefinite_factor(A, n, order_.data(), signs_.data());
  }
  int end_ldl(int64_t n, int64_t* order, R* signs) override {
    std::copy_n(order_.begin(), n, order);
    std::copy_n(signs_.begin(), n, signs);
    return diagonal_.info;
  }
  void rearrange(const std::vector<backend::Rearrangement<T>>& list) override {
    for (const auto& item : list)
      for (int64_t j = 0; j < item.columns; ++j)
        for (int64_t i = 0; i < item.rows; ++i) {
          const int64_t row = item.row_order ? item.row_order[i] : i;
          const int64_t column = item.column_order ? item.column_order[j] : j;
          T x = item.adjoint ? conjugate(item.from[column + row * item.ld_from])
                             : item.from[row + column * item.ld_from];
          if (item.row_signs) x *= item.row_signs[i];
          if (item.column_signs) x *= item.column_signs[j];
          item.to[i + j * item.ld_to] = x;
        }
  }
  void norms(std::vector<backend::Norm<T>>& list) override {
    for (auto& item : list) item.norm = std::sqrt(inner(item.x, item.x, item.count));
  }
  bool factors_beside() const override { return true; }
  void begin_diagonal(T* A, int64_t n, T* inverses, T* x, int steps) override {
    diagonal_.info = potrf(A, n);
    if (diagonal_.info == 0)
      diagonal_.norm_of_inverse = this->norm_of_inverse(A, inverses, n, x, steps);
  }
  backend::DiagonalFactor end_diagonal() override { return diagonal_; }

  bool looks_ahead() const override { return true; }
  void fork_ahead() override { is_forked_ = true; }
  void begin_ahead(Ahead) override {
    EXPECT_TRUE(is_forked_ && !is_ahead_);
    is_ahead_ = true;
  }
  void end_ahead() override { is_ahead_ = false; }
  void join_ahead() override { is_forked_ = false; }

  /// Whether tiles are compressed from samples of both sides, or only by projection.
  bool are_two_sided = true;
  bool has_cores() const override { return are_two_sided; }
  void sample_column(const backend::ColumnSamples<T>& column) override {
    EXPECT_LE(column.to, std::ssize(finished_));
    EXPECT_TRUE(column.from == 0 || !is_ahead_);
    for (const auto& row : column.rows) {
      add_both(row, column, row.own.U, row.own.V, row.own.rank, nullptr, column.from == 0 ? 0 : 1);
      for (int64_t j = column.from; j < column.to; ++j) {
        const backend::LowRank<T>&left = tile(row.index, j), &right = column.right[j - column.from];
        // U_i (V_i^H V_k) and U_k.
        const int64_t rank = left.rank < 0 ? column.tile : left.rank;
        std::vector<T> scaled(static_cast<size_t>(row.order * right.rank));
        for (int64_t c = 0; c < right.rank; ++c)
          for (int64_t r = 0; r < rank; ++r) {
            T core = left.rank < 0 ? right.V[r + c * column.tile] : T(0);
            for (int64_t i = 0; left.rank >= 0 && i < column.tile; ++i)
              core += conjugate(left.V[i + r * column.tile]) * right.V[i + c * column.tile];
            for (int64_t i = 0; i < row.order; ++i)
              scaled[i + c * row.order] += left.U[i + r * row.order] * core;
          }
        add_both(row, column, scaled.data(), right.U, right.rank, &scaled, -1);
      }
    }
  }
  void finish_column(const backend::FinishedColumn<T>& column) override {
    EXPECT_EQ(column.k, std::ssize(finished_));
    finished_.push_back(column.rows);
  }
  void begin_cores(const std::vector<backend::CoreFactor<T>>& list, double tolerance,
                   bool) override {
    rounds_.push_back(list);
    for (auto& core : rounds_.back()) factor(core, tolerance);
  }
  void end_cores(std::vector<backend::CoreFactor<T>>& list) override {
    list = rounds_.front();
    rounds_.pop_front();
  }

  bool keeps_samples() const override { return true; }
  void orthonormalize(std::vector<backend::Orthonormalization<T>>& list) override {
    for (auto& item : list) {
      EXPECT_EQ(item.first, 0);
      double rest = 0;
      item.rank = find_basis(item.Y, item.rows, item.columns, item.columns - item.tests,
                             item.enough * std::sqrt(double(item.tests)), item.Q, nullptr, rest);
      item.residual = R(std::sqrt(rest / double(item.tests)));
    }
  }
  void truncate(std::vector<backend::Truncation<T>>& list) override {
    for (auto& item : list) {
      double rest = 0;
      item.rank = find_basis(item.B, item.b_rows, item.columns, item.columns, item.tolerance,
                             item.V, item.scratch, rest);
      item.dropped = item.largest = R(std::sqrt(rest));
      add({false, true, 0, item.q_rows, item.rank, item.columns, item.Q, item.q_rows, item.scratch,
           item.columns, item.U, item.q_rows});
    }
  }

  void random(T* block, int64_t count, uint64_t seed) override {
    std::mt19937_64 engine(seed);
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < count; ++i) block[i] = static_cast<T>(normal(engine));
  }
  void evaluate(const backend::Covariance&, const std::vector<backend::Block<T>>&) override {}
  void multiply_covariance(const backend::Covariance&, const T*, T*) override {}
  double inner(const T* x, const T* y, int64_t n) override {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += std::real(conjugate(x[i]) * y[i]);
    return sum;
  }
  void scale(T* x, int64_t n, R factor) override {
    for (int64_t i = 0; i < n; ++i) x[i] *= factor;
  }
  void combine(R a, const T* x, R b, T* y, int64_t n) override {
    for (int64_t i = 0; i < n; ++i) y[i] = a * x[i] + b * y[i];
  }
  void for_each(int64_t count, const std::function<void(int64_t)>& body) override {
    for (int64_t i = 0; i < count; ++i) body(i);
  }

 private:
  /// Solves with the pivot of order 2 at i and the rows before it.
  static void solve_pair(const T* L, int64_t n, int64_t i, T* x) {
    const auto l = [&](int64_t row, int64_t column) { return L[row + column * n]; };
    for (int64_t k = 0; k < i; ++k)
      for (int64_t row = i; row < i + 2; ++row) x[row] -= l(row, k) * x[k];
    const T determinant = l(i, i) * l(i + 1, i + 1) - l(i + 1, i) * l(i, i + 1);
    const T first = (l(i + 1, i + 1) * x[i] - l(i, i + 1) * x[i + 1]) / determinant;
    x[i + 1] = (l(i, i) * x[i + 1] - l(i + 1, i) * x[i]) / determinant;
    x[i] = first;
  }
  static void add(const backend::Product<T>& p) {
    for (int64_t j = 0; j < p.n; ++j)
      for (int64_t i = 0; i < p.m; ++i) {
        T sum = 0;
        for (int64_t k = 0; k < p.k; ++k)
          sum += (p.adjoint_a ? conjugate(p.A[k + i * p.lda]) : p.A[i + k * p.lda]) *
                 (p.adjoint_b ? conjugate(p.B[j + k * p.ldb]) : p.B[k + j * p.ldb]);
        T& to = p.C[i + j * p.ldc];
        to = p.sign == 0 ? sum : to + R(p.sign) * sum;
      }
  }
  const backend::LowRank<T>& tile(int64_t i, int64_t j) const {
    return std::find_if(finished_[j].begin(), finished_[j].end(),
                        [&](const auto& row) { return row.index == i; })
        ->tile;
  }
  /// Updates Y and X of a row by U V^H Omega and V U^H Psi: set (0), subtracted (-1) or unchanged
  /// (1).
  void add_both(const typename backend::ColumnSamples<T>::Row& row,
                const backend::ColumnSamples<T>& column, const T* U, const T* V, int64_t rank,
                const void*, int sign) const {
    if (sign > 0) return;
    const auto add_side = [&](const T* left, int64_t rows, const T* right, int64_t inner,
                              const T* samples, int64_t count, T* to) {
      std::vector<T> Z(static_cast<size_t>(rank * count));
      add({true, false, 0, rank, count, inner, right, inner, samples, column.ld, Z.data(), rank});
      add({false, false, sign, rows, count, rank, left, rows, Z.data(), rank, to, rows});
    };
    add_side(U, row.order, V, column.order, column.omega, row.samples, row.Y);
    add_side(V, column.order, U, row.order, column.psi, row.left_samples, row.X);
  }
  /// Sets Q to an orthonormal basis that is chosen from the first `candidates` columns of Y. It is
  /// complete if the remainder of the columns after the candidates, or of all columns if there are
  /// none, is at most `tolerance`. R = Q^H Y. Returns the rank.
  static int64_t find_basis(const T* Y, int64_t rows, int64_t columns, int64_t candidates,
                            double tolerance, T* Q, T* factor, double& rest) {
    std::vector<T> left(Y, Y + rows * columns);
    const auto square = [&](int64_t c) {
      double sum = 0;
      for (int64_t i = 0; i < rows; ++i) sum += std::norm(std::complex<double>(left[i + c * rows]));
      return sum;
    };
    int64_t rank = 0;
    for (;; ++rank) {
      int64_t p = 0;
      rest = 0;
      for (int64_t c = candidates < columns ? candidates : 0; c < columns; ++c) rest += square(c);
      for (int64_t c = 1; c < candidates; ++c)
        if (square(c) > square(p)) p = c;
      if (rest <= tolerance * tolerance || rank == std::min(rows, candidates)) break;
      const R length = R(std::sqrt(square(p)));
      T* const q = Q + rank * rows;
      for (int64_t i = 0; i < rows; ++i) q[i] = left[i + p * rows] / length;
      for (int64_t c = 0; c < columns; ++c) {
        if (factor) factor[rank + c * columns] = 0;
        for (int pass = 0; pass < 2; ++pass)
          for (int64_t r = 0; r <= rank; ++r) {
            T coefficient = 0;
            for (int64_t i = 0; i < rows; ++i)
              coefficient += conjugate(Q[i + r * rows]) * left[i + c * rows];
            for (int64_t i = 0; i < rows; ++i) left[i + c * rows] -= Q[i + r * rows] * coefficient;
            if (factor) factor[r + c * columns] += coefficient;
          }
      }
    }
    return rank;
  }
  /// One pivot at a time, orthogonalized twice.
  static void factor(backend::CoreFactor<T>& core, double tolerance) {
    const int64_t m = core.rows, n = core.columns;
    std::vector<T> S(core.S, core.S + m * n), factor(static_cast<size_t>(n * n));
    std::vector<int64_t> pivots;
    std::vector<bool> is_picked(static_cast<size_t>(n));
    const auto norm = [&](int64_t c) {
      double sum = 0;
      for (int64_t i = 0; i < m; ++i) sum += std::norm(std::complex<double>(S[i + c * m]));
      return std::sqrt(sum);
    };
    core.rank = 0;
    core.is_sufficient = false;
    for (;; ++core.rank) {
      int64_t p = -1;
      for (int64_t c = 0; c < n; ++c)
        if (!is_picked[c] && (p < 0 || norm(c) > norm(p))) p = c;
      const double left = double(m - core.rank);
      core.is_sufficient = norm(p) * std::sqrt((double(m) - 1) / (left * (left - 1))) <= tolerance;
      if (core.is_sufficient || core.rank >= n - 4) break;
      is_picked[p] = true;
      pivots.push_back(p);
      const double length = norm(p);
      T* const q = core.Q + core.rank * m;
      for (int64_t i = 0; i < m; ++i) q[i] = S[i + p * m] / RealOf<T>(length);
      factor[core.rank + p * n] = static_cast<T>(length);
      for (int pass = 0; pass < 2; ++pass)
        for (int64_t c = 0; c < n; ++c) {
          if (is_picked[c]) continue;
          for (int64_t r = 0; r <= core.rank; ++r) {
            T coefficient = 0;
            for (int64_t i = 0; i < m; ++i)
              coefficient += conjugate(core.Q[i + r * m]) * S[i + c * m];
            for (int64_t i = 0; i < m; ++i) S[i + c * m] -= core.Q[i + r * m] * coefficient;
            factor[r + c * n] += coefficient;
          }
        }
    }
    std::fill_n(core.T_, n * core.rank, T(0));
    for (int64_t c = 0; c < core.rank; ++c)
      for (int64_t i = c; i >= 0; --i) {
        T sum = T(RealOf<T>(i == c ? 1 : 0));
        for (int64_t k = i + 1; k <= c; ++k)
          sum -= factor[i + pivots[k] * n] * core.T_[pivots[k] + c * n];
        core.T_[pivots[i] + c * n] = sum / factor[i + pivots[i] * n];
      }
  }

  backend::DiagonalFactor diagonal_{};
  std::vector<int64_t> order_;
  std::vector<R> signs_;
  bool is_forked_ = false, is_ahead_ = false;
  std::vector<std::vector<typename backend::FinishedColumn<T>::Row>> finished_;
  std::deque<std::vector<backend::CoreFactor<T>>> rounds_;
};

}  // namespace chol::tlr
