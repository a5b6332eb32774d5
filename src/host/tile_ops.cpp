#include "host/tile_ops.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <vector>

#include "base/buffer.hpp"
#include "base/philox.hpp"
#include "base/precisions.h"
#include "base/threads/parallel_for.hpp"
#include "host/conjugate.hpp"
#include "host/covariance.hpp"
#include "host/indefinite_factor.hpp"
#include "host/modified_cholesky.hpp"
#include "host/orthogonal.hpp"

namespace chol::host {
namespace {

/// Order of the diagonal blocks that are inverted for triangular solves.
constexpr int64_t kSolveBlock = 64;
/// Columns of a triangular solve at a time.
constexpr int64_t kSolveColumns = 64;

template <class T>
class HostTileOps final : public backend::TileOps<T> {
  using R = RealOf<T>;

 public:
  HostTileOps(backend::Backend& backend, int threads)
      : backend_(backend),
        table_(products(precision_letter<T>)),
        threads_(threads),
        buffer_bytes_((table_.buffer_bytes + 63) / 64 * 64),
        buffers_(static_cast<int64_t>(buffer_bytes_) * threads_) {}

  int threads() const override { return threads_; }

  void transfer(int64_t rows, int64_t columns, const T* from, int64_t ld_from, T* to,
                int64_t ld_to) override {
    for (int64_t j = 0; j < columns; ++j)
      std::memcpy(static_cast<void*>(to + j * ld_to), from + j * ld_from,
                  sizeof(T) * static_cast<size_t>(rows));
  }
  void copy(const std::vector<backend::Copy<T>>& list) override {
    side_by_side(std::ssize(list), [&](int64_t i, int) { copy_one(list[i]); });
  }
  void set_zero(T* x, int64_t count) override { std::fill_n(x, count, T(0)); }

  void multiply(const backend::ProductGroups<T>& groups) override {
    side_by_side(groups.groups(), [&](int64_t group, int thread) {
      const ThreadProducts<T> multiply = products_of(thread);
      for (int64_t i = groups.begin(group); i < groups.end(group); ++i) multiply(groups.product(i));
    });
  }

  void orthonormalize(std::vector<backend::Orthonormalization<T>>& list) override {
    int64_t columns = 0;
    for (const auto& item : list) columns = std::max(columns, item.columns);
    const int64_t each = reserve_scratch(columns);
    side_by_side(std::ssize(list), [&](int64_t i, int thread) {
      const ThreadProducts<T> multiply = products_of(thread);
      Orthonormalizer<T>(multiply, scratch_.get() + each * thread).run(list[i]);
      list[i].rank = list[i].columns;
    });
  }

  void truncate(std::vector<backend::Truncation<T>>& list) override {
    int64_t columns = 0;
    for (const auto& item : list) columns = std::max(columns, item.columns);
    const int64_t each = reserve_scratch(columns);
    side_by_side(std::ssize(list), [&](int64_t i, int thread) {
      const ThreadProducts<T> multiply = products_of(thread);
      Truncator<T>(multiply, scratch_.get() + each * thread).run(list[i]);
    });
  }

  void make_hermitian(const std::vector<T*>& tiles, const std::vector<int64_t>& orders) override {
    side_by_side(std::ssize(tiles), [&](int64_t t, int) {
      T* const D = tiles[t];
      const int64_t n = orders[t];
      for (int64_t j = 0; j < n; ++j) {
        D[j + j * n] = std::real(D[j + j * n]);
        for (int64_t i = j + 1; i < n; ++i) D[j + i * n] = conjugate(D[i + j * n]);
      }
    });
  }
  void add_to_diagonal(T* A, int64_t n, R shift) override {
    for (int64_t j = 0; j < n; ++j) A[j + j * n] += shift;
  }
  void read_diagonal(const T* A, int64_t n, R* host) override {
    for (int64_t j = 0; j < n; ++j) host[j] = std::real(A[j + j * n]);
  }

  int potrf(T* A, int64_t n) override {
    int info = 0;
    const backend::Problem<T> problem{.routine = Routine::potrf,
                                      .form = Form::one,
                                      .uplo = CHOL_LOWER,
                                      .sizes = {1, n, 0},
                                      .A = MatrixBatch<T>::strided(A, n, 0),
                                      .B = {},
                                      .info = &info};
    backend::Solver<T>& solver = backend_.solver<T>();
    const RowTable& rows = backend_.tuning().rows(Routine::potrf, Form::one, precision_letter<T>);
    backend::Resources resources;
    resources.threads = threads_;
    resources.workspace_bytes = solver.workspace_bytes(problem, rows, resources);
    workspace_.reserve(static_cast<int64_t>(resources.workspace_bytes + Arena::kAlignment));
    const uintptr_t start = reinterpret_cast<uintptr_t>(workspace_.get());
    resources.workspace = reinterpret_cast<void*>((start + Arena::kAlignment - 1) /
                                                  Arena::kAlignment * Arena::kAlignment);
    solver.run(problem, rows, resources);
    for (int64_t j = 1; j < n; ++j) std::fill_n(A + j * n, j, T(0));
    return info;
  }

  void make_definite(T* A, int64_t n, R least) override {
    modified_cholesky<T>(products_of(0), least, A, n);
  }

  int ldl(T* A, int64_t n, int64_t* order, R* signs) override {
    return indefinite_factor(A, n, order, signs);
  }

  void rearrange(const std::vector<backend::Rearrangement<T>>& list) override {
    side_by_side(std::ssize(list), [&](int64_t i, int) { rearrange_one(list[i]); });
  }

  void norms(std::vector<backend::Norm<T>>& list) override {
    side_by_side(std::ssize(list), [&](int64_t i, int) {
      list[i].norm = std::sqrt(inner(list[i].x, list[i].x, list[i].count));
    });
  }

  int64_t inverse_elements(int64_t n) const override {
    return most_solve_blocks(n) * kSolveBlock * kSolveBlock;
  }

  /// Pivots of order 2 are recognized in L.
  void invert_blocks(const T* L, int64_t n, T* inverses, bool /*has_pairs*/) override {
    const std::vector<int64_t> starts = solve_blocks(L, n);
    side_by_side(std::ssize(starts) - 1, [&](int64_t block, int) {
      const int64_t first = starts[block];
      invert_block(L + first + first * n, n, starts[block + 1] - first,
                   inverses + block * kSolveBlock * kSolveBlock);
    });
  }

  void solve(const std::vector<backend::TriangularSolve<T>>& list) override {
    const int64_t each = reserve_scratch(kSolveBlock * kSolveColumns / Orthonormalizer<T>::kPanel);
    std::vector<std::pair<int64_t, int64_t>> parts;
    for (int64_t i = 0; i < std::ssize(list); ++i)
      for (int64_t c = 0; c < list[i].columns; c += kSolveColumns) parts.emplace_back(i, c);
    side_by_side(std::ssize(parts), [&](int64_t part, int thread) {
      const auto [i, c] = parts[part];
      solve_columns(list[i], c, products_of(thread), scratch_.get() + each * thread);
    });
  }

  void random(T* block, int64_t count, uint64_t seed) override {
    constexpr int64_t kChunk = 4096;
    side_by_side((count + kChunk - 1) / kChunk, [&](int64_t chunk, int) {
      const int64_t end = std::min(count, (chunk + 1) * kChunk);
      for (int64_t i = chunk * kChunk; i < end; ++i) block[i] = normal(i, seed);
    });
  }

  void evaluate(const backend::Covariance& covariance,
                const std::vector<backend::Block<T>>& blocks) override {
    constexpr int64_t kColumns = 16;
    std::vector<backend::Block<T>> parts;
    for (const backend::Block<T>& block : blocks)
      for (int64_t j = 0; j < block.columns; j += kColumns)
        parts.push_back({block.row, block.column + j, block.rows,
                         std::min(kColumns, block.columns - j), block.elements + j * block.ld,
                         block.ld});
    const CovarianceEvaluation evaluation(table_, covariance);
    side_by_side(std::ssize(parts), [&](int64_t part, int) { evaluation.fill(parts[part]); });
  }
  void multiply_covariance(const backend::Covariance& covariance, const T* x, T* y) override {
    constexpr int64_t kRows = 128, kColumns = 16;
    const CovarianceEvaluation evaluation(table_, covariance);
    const int64_t n = covariance.n;
    side_by_side((n + kRows - 1) / kRows, [&](int64_t chunk, int) {
      const int64_t row = chunk * kRows, rows = std::min(kRows, n - row);
      T block[kRows * kColumns];
      std::fill_n(y + row, rows, T(0));
      for (int64_t j = 0; j < n; j += kColumns) {
        const int64_t columns = std::min(kColumns, n - j);
        evaluation.fill(backend::Block<T>{row, j, rows, columns, block, kRows});
        for (int64_t c = 0; c < columns; ++c)
          for (int64_t i = 0; i < rows; ++i) y[row + i] += block[i + c * kRows] * x[j + c];
      }
    });
  }

  double inner(const T* x, const T* y, int64_t n) override {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (is_complex<T>)
        sum +=
            double(x[i].real()) * double(y[i].real()) + double(x[i].imag()) * double(y[i].imag());
      else
        sum += double(x[i]) * double(y[i]);
    }
    return sum;
  }
  void scale(T* x, int64_t n, R factor) override { host::scale(x, n, factor); }
  void combine(R a, const T* x, R b, T* y, int64_t n) override {
    for (int64_t i = 0; i < n; ++i) y[i] = a * x[i] + b * y[i];
  }

  void for_each(int64_t count, const std::function<void(int64_t)>& body) override {
    side_by_side(count, [&](int64_t i, int) { body(i); });
  }

 private:
  /// body(i, thread), started in the order of i if that is defined: the last ones are mostly small.
  template <class Body>
  void side_by_side(int64_t count, const Body& body) const {
    const int threads = static_cast<int>(std::min<int64_t>(threads_, count));
    parallel_for({count, 1, 1}, threads, [&](int64_t i, bool, int thread) { body(i, thread); });
  }
  static void copy_one(const backend::Copy<T>& copy) {
    for (int64_t j = 0; j < copy.columns; ++j) {
      const T* const from = copy.from + j * copy.ld_from;
      if (!copy.adjoint)
        std::copy_n(from, copy.rows, copy.to + j * copy.ld_to);
      else
        for (int64_t i = 0; i < copy.rows; ++i) copy.to[j + i * copy.ld_to] = conjugate(from[i]);
    }
  }
  ThreadProducts<T> products_of(int thread) const {
    return {table_, buffers_.get() + buffer_bytes_ * static_cast<size_t>(thread)};
  }
  /// Scratch memory of every thread for that many columns, and its size.
  int64_t reserve_scratch(int64_t columns) {
    const int64_t each = (Orthonormalizer<T>::scratch_elements(columns) + 15) / 16 * 16;
    scratch_.reserve(each * threads_);
    return each;
  }

  static int64_t most_solve_blocks(int64_t n) { return (n + kSolveBlock - 2) / (kSolveBlock - 1); }
  /// Where diagonal blocks of a factor start, and n: no pivot of order 2 belongs to two of them.
  static std::vector<int64_t> solve_blocks(const T* L, int64_t n) {
    std::vector<int64_t> starts{0};
    while (starts.back() < n) {
      int64_t end = std::min(n, starts.back() + kSolveBlock);
      if (end < n && L[end - 1 + end * n] != T(0)) --end;
      starts.push_back(end);
    }
    return starts;
  }

  /// X (leading dimension kSolveBlock) := the inverse of L.
  static void invert_block(const T* L, int64_t ld, int64_t order, T* X) {
    std::fill_n(X, kSolveBlock * kSolveBlock, T(0));
    const auto l = [&](int64_t i, int64_t j) { return L[i + j * ld]; };
    for (int64_t j = 0; j < order; ++j) {
      T* const x = X + j * kSolveBlock;
      x[j] = T(1);
      const bool is_second = j > 0 && l(j - 1, j) != T(0);
      for (int64_t k = is_second ? j - 1 : j; k < order;) {
        const bool is_pair = k + 1 < order && l(k, k + 1) != T(0);
        if (is_pair) {
          const T determinant = l(k, k) * l(k + 1, k + 1) - l(k + 1, k) * l(k, k + 1);
          const T first = (l(k + 1, k + 1) * x[k] - l(k, k + 1) * x[k + 1]) / determinant;
          x[k + 1] = (l(k, k) * x[k + 1] - l(k + 1, k) * x[k]) / determinant;
          x[k] = first;
        } else {
          x[k] /= l(k, k);
        }
        const int64_t next = k + (is_pair ? 2 : 1);
        for (; k < next; ++k)
          for (int64_t i = next; i < order; ++i) x[i] -= L[i + k * ld] * x[k];
      }
    }
  }

  static void rearrange_one(const backend::Rearrangement<T>& item) {
    for (int64_t j = 0; j < item.columns; ++j) {
      const int64_t column = item.column_order ? item.column_order[j] : j;
      for (int64_t i = 0; i < item.rows; ++i) {
        const int64_t row = item.row_order ? item.row_order[i] : i;
        T value = item.adjoint ? item.from[column + row * item.ld_from]
                               : item.from[row + column * item.ld_from];
        if constexpr (is_complex<T>)
          if (item.adjoint) value = std::conj(value);
        if (item.row_signs) value *= item.row_signs[i];
        if (item.column_signs) value *= item.column_signs[j];
        item.to[i + j * item.ld_to] = value;
      }
    }
  }

  void solve_columns(const backend::TriangularSolve<T>& item, int64_t column,
                     const ThreadProducts<T>& multiply, T* copy) const {
    const int64_t n = item.n, columns = std::min(kSolveColumns, item.columns - column);
    const std::vector<int64_t> starts = solve_blocks(item.L, n);
    const int64_t blocks = std::ssize(starts) - 1;
    T* const V = item.V + column * item.ldv;
    for (int64_t step = 0; step < blocks; ++step) {
      const int64_t block = item.adjoint ? blocks - 1 - step : step;
      const int64_t first = starts[block], after = starts[block + 1], order = after - first;
      if (item.adjoint)
        multiply({true, false, -1, order, columns, n - after, item.L + after + first * n, n,
                  V + after, item.ldv, V + first, item.ldv});
      else
        multiply({false, false, -1, order, columns, first, item.L + first, n, V, item.ldv,
                  V + first, item.ldv});
      for (int64_t c = 0; c < columns; ++c)
        std::copy_n(V + first + c * item.ldv, order, copy + c * order);
      multiply({item.adjoint, false, 0, order, columns, order,
                item.inverses + block * kSolveBlock * kSolveBlock, kSolveBlock, copy, order,
                V + first, item.ldv});
    }
  }

  /// Box and Muller's transform of two words of 53 bits.
  static T normal(int64_t place, uint64_t seed) {
    const PhiloxBlock words = philox(static_cast<uint64_t>(place), seed);
    const auto uniform = [](uint32_t high, uint32_t low) {
      return (static_cast<double>((uint64_t{high} << 32 | low) >> 11) + 0.5) * 0x1p-53;
    };
    const double radius = std::sqrt(-2 * std::log(uniform(words[0], words[1])));
    const double angle = 2 * std::numbers::pi * uniform(words[2], words[3]);
    const double x = radius * std::cos(angle), y = radius * std::sin(angle);
    if constexpr (is_complex<T>)
      return T(static_cast<R>(x * std::numbers::sqrt2 / 2),
               static_cast<R>(y * std::numbers::sqrt2 / 2));
    else
      return static_cast<T>(x);
  }

  backend::Backend& backend_;
  const Products& table_;
  int threads_;
  size_t buffer_bytes_;
  Buffer<char> buffers_;
  Buffer<T> scratch_;
  Buffer<char> workspace_;
};

}  // namespace

template <class T>
std::unique_ptr<backend::TileOps<T>> make_tile_ops(backend::Backend& backend, int threads) {
  return std::make_unique<HostTileOps<T>>(backend, threads);
}

#define CHOL_INSTANTIATE(prefix, T, R) \
  template std::unique_ptr<backend::TileOps<T>> make_tile_ops<T>(backend::Backend&, int);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::host
