#include "host/tile_ops.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "api/precisions.h"
#include "base/buffer.hpp"
#include "base/philox.hpp"
#include "host/modified_cholesky.hpp"
#include "host/orthogonal.hpp"
#include "host/shares.hpp"

namespace chol::host {
namespace {

/// Order of the diagonal blocks that are inverted for triangular solves.
constexpr int64_t kSolveBlock = 64;
/// Columns that a triangular solve takes at a time.
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
    const PlanTable& plans =
        backend_.tuning().plans(Routine::potrf, Form::one, precision_letter<T>);
    backend::Resources resources;
    resources.threads = threads_;
    resources.workspace_bytes = solver.workspace_bytes(problem, plans, resources);
    workspace_.reserve(static_cast<int64_t>(resources.workspace_bytes + Arena::kAlignment));
    const uintptr_t start = reinterpret_cast<uintptr_t>(workspace_.get());
    resources.workspace = reinterpret_cast<void*>((start + Arena::kAlignment - 1) /
                                                  Arena::kAlignment * Arena::kAlignment);
    solver.run(problem, plans, resources);
    for (int64_t j = 1; j < n; ++j) std::fill_n(A + j * n, j, T(0));
    return info;
  }

  void make_definite(T* A, int64_t n, R least) override {
    ModifiedCholesky<T>(A, n).run(products_of(0), least, A);
  }

  int64_t inverse_elements(int64_t n) const override {
    return (n + kSolveBlock - 1) / kSolveBlock * kSolveBlock * kSolveBlock;
  }

  void invert_blocks(const T* L, int64_t n, T* inverses) override {
    side_by_side((n + kSolveBlock - 1) / kSolveBlock, [&](int64_t block, int) {
      const int64_t first = block * kSolveBlock, order = std::min(kSolveBlock, n - first);
      T* const X = inverses + block * kSolveBlock * kSolveBlock;
      std::fill_n(X, kSolveBlock * kSolveBlock, T(0));
      for (int64_t j = 0; j < order; ++j) {
        T* const x = X + j * kSolveBlock;
        x[j] = T(1);
        for (int64_t k = j; k < order; ++k) {
          const T* column = L + first + (first + k) * n;
          x[k] /= column[k];
          for (int64_t i = k + 1; i < order; ++i) x[i] -= column[i] * x[k];
        }
      }
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

  void for_each(int64_t count, const std::function<void(int64_t)>& body) override {
    side_by_side(count, [&](int64_t i, int) { body(i); });
  }
  void decay(double* x, int64_t n, double scale) override { table_.decay(x, n, scale); }
  void scaled_root(double* x, int64_t n, double factor) override {
    table_.scaled_root(x, n, factor);
  }
  void add_squared_distance(double* r2, const double* x, double y, int64_t n) override {
    table_.add_squared_distance(r2, x, y, n);
  }

 private:
  /// body(i, thread), in the order of i as far as there is one: the last ones are mostly small.
  template <class Body>
  void side_by_side(int64_t count, const Body& body) const {
    const int threads = static_cast<int>(std::min<int64_t>(threads_, count));
    for_each_of_shares({count, 1, 1}, threads,
                       [&](int64_t i, bool, int thread) { body(i, thread); });
  }
  ThreadProducts<T> products_of(int thread) const {
    return {table_, buffers_.get() + buffer_bytes_ * static_cast<size_t>(thread)};
  }
  /// Scratch of every thread for that many columns; how much each has.
  int64_t reserve_scratch(int64_t columns) {
    const int64_t each = (Orthonormalizer<T>::scratch_elements(columns) + 15) / 16 * 16;
    scratch_.reserve(each * threads_);
    return each;
  }

  void solve_columns(const backend::TriangularSolve<T>& item, int64_t column,
                     const ThreadProducts<T>& multiply, T* copy) const {
    const int64_t n = item.n, columns = std::min(kSolveColumns, item.columns - column);
    const int64_t blocks = (n + kSolveBlock - 1) / kSolveBlock;
    T* const V = item.V + column * item.ldv;
    for (int64_t step = 0; step < blocks; ++step) {
      const int64_t block = item.adjoint ? blocks - 1 - step : step;
      const int64_t first = block * kSolveBlock, order = std::min(kSolveBlock, n - first);
      const int64_t after = first + order;
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
