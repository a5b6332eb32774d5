// The kernels of cuda/tlr by contexts of the host: samples of a block column from tables of tiles,
// sums of few columns, and the factorization of a core. Tensor cores are left to a device: those
// kernels run in types without.
#include <complex>
#include <vector>

#undef blockIdx
namespace {
struct {
  unsigned x = 0, y = 0, z = 0;
} grid_place;
}  // namespace
#define blockIdx grid_place

#include "elements.hpp"
#include "tally.hpp"
#include "tlr/column.cuh"
#include "tlr/column_plan.hpp"
#include "tlr/core.cuh"

namespace chol::cuda::tlr {
namespace {

Tally tally;

template <class D>
struct PublicOf {
  using Type = D;
};
template <class R>
struct PublicOf<Complex<R>> {
  using Type = std::complex<R>;
};

template <class D>
struct Dense {
  using T = typename PublicOf<D>::Type;
  int rows, columns;
  std::vector<T> elements;
  Dense(int m, int n) : rows(m), columns(n), elements(static_cast<size_t>(m) * n + 1) {}
  static Dense random(int m, int n) {
    Dense A(m, n);
    for (T& x : A.elements) {
      const D value = random_element<D>();
      std::memcpy(static_cast<void*>(&x), &value, sizeof x);
    }
    return A;
  }
  T at(int i, int j) const { return elements[i + static_cast<size_t>(j) * rows]; }
  T& at(int i, int j) { return elements[i + static_cast<size_t>(j) * rows]; }
  const T* data() const { return elements.data(); }
  T* data() { return elements.data(); }
};

template <class T>
T conjugate(T x) {
  if constexpr (is_complex<T>)
    return std::conj(x);
  else
    return x;
}
template <class D>
Dense<D> product(bool adjoint_a, const Dense<D>& A, bool adjoint_b, const Dense<D>& B) {
  const int m = adjoint_a ? A.columns : A.rows, n = adjoint_b ? B.rows : B.columns;
  const int inner = adjoint_a ? A.rows : A.columns;
  Dense<D> C(m, n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i)
      for (int k = 0; k < inner; ++k)
        C.at(i, j) += (adjoint_a ? conjugate(A.at(k, i)) : A.at(i, k)) *
                      (adjoint_b ? conjugate(B.at(j, k)) : B.at(k, j));
  return C;
}
template <class D>
void subtract(Dense<D>& C, const Dense<D>& A) {
  for (size_t e = 0; e < C.elements.size() - 1; ++e) C.elements[e] -= A.elements[e];
}
/// C against what it should be, of sums of so many terms of order 1.
template <class D>
bool is_near(const Dense<D>& C, const Dense<D>& expected, double terms) {
  const double bound = 30 * terms * double(std::numeric_limits<Real<D>>::epsilon());
  for (size_t e = 0; e + 1 < C.elements.size(); ++e)
    if (!(std::abs(C.elements[e] - expected.elements[e]) <= bound)) return false;
  return true;
}

template <class D>
struct LowRankTile {
  Dense<D> U, V;
  LowRankTile(int rows, int columns, int rank)
      : U(Dense<D>::random(rows, rank)), V(Dense<D>::random(columns, rank)) {}
  backend::LowRank<typename Dense<D>::T> view() const { return {U.data(), V.data(), U.columns}; }
};

template <class Kernel>
void run_grid(unsigned x, unsigned y, unsigned z, int threads, Kernel&& kernel) {
  HostBlock block(threads, tally.cases % 2 == 0);
  for (grid_place.z = 0; grid_place.z < z; ++grid_place.z)
    for (grid_place.y = 0; grid_place.y < y; ++grid_place.y)
      for (grid_place.x = 0; grid_place.x < x; ++grid_place.x) block.run(kernel);
}

/// Rows of block column k with `count` columns before it.
template <class D>
void try_column(int tile, int order_k, const std::vector<int>& orders, int count, int samples) {
  using T = typename Dense<D>::T;
  const int left_samples = samples + 8;
  const Dense<D> omega = Dense<D>::random(tile, samples + 3);
  const Dense<D> psi = Dense<D>::random(tile, left_samples + 3);
  const int ranks[] = {5, 0, 17, 66, 1};
  std::vector<LowRankTile<D>> right, left, own;
  std::vector<Dense<D>> Y, X;
  for (int j = 0; j < count; ++j) right.emplace_back(order_k, tile, ranks[(j + 1) % 5]);
  for (size_t r = 0; r < orders.size(); ++r) {
    for (int j = 0; j < count; ++j) left.emplace_back(orders[r], tile, ranks[(r + 2 * j) % 5]);
    own.emplace_back(orders[r], order_k, r == 1 ? order_k : ranks[r % 5]);
    Y.emplace_back(orders[r], samples);
    X.emplace_back(order_k, left_samples);
  }
  backend::ColumnSamples<T> column{tile, order_k, {}, {}, {}, omega.data(), psi.data(), tile};
  for (const auto& t : right) column.right.push_back(t.view());
  for (const auto& t : left) column.left.push_back(t.view());
  for (size_t r = 0; r < orders.size(); ++r) {
    auto view = own[r].view();
    if (r == 1) view = {own[r].U.data(), nullptr, -1};
    column.rows.push_back({view, orders[r], samples, left_samples, Y[r].data(), X[r].data()});
  }
  ColumnPlan<T> plan(column);
  std::vector<T> scratch(static_cast<size_t>(plan.carve(nullptr)) + 1);
  std::vector<T> right_samples(static_cast<size_t>(plan.right_elements()) + 1);
  plan.carve(scratch.data());
  const auto leading = [](const Dense<D>& A, int rows, int columns) {
    Dense<D> part(rows, columns);
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < rows; ++i) part.at(i, j) = A.at(i, j);
    return part;
  };
  const Dense<D> omega_k = leading(omega, order_k, samples);
  for (int j = 0; j < count; ++j) {
    const Dense<D> P = product(true, right[j].U, false, omega_k);
    std::copy_n(P.data(), P.rows * P.columns, right_samples.data() + plan.right[j].core);
  }
  const ColumnItem item{plan.rows.data(),
                        plan.left.data(),
                        plan.right.data(),
                        omega.data(),
                        psi.data(),
                        right_samples.data(),
                        count,
                        tile,
                        order_k,
                        tile};
  const auto height = static_cast<unsigned>(orders.size()), width = static_cast<unsigned>(count);
  run_grid(width + 1, height, 2, kProductThreads,
           [&] { column_products_kernel<D, 64, false>(item); });
  run_grid(width, height, 2, kProductThreads, [&] { column_products_kernel<D, 64, true>(item); });
  const auto tiles = [](int64_t n) { return static_cast<unsigned>((n + 63) / 64); };
  run_grid(tiles(plan.most_order), tiles(left_samples), 2 * height, kProductThreads,
           [&] { column_sums_kernel<D, 64>(item); });

  for (size_t r = 0; r < orders.size(); ++r) {
    Dense<D> M = r == 1 ? own[r].U : product(false, own[r].U, true, own[r].V);
    for (int j = 0; j < count; ++j) {
      const LowRankTile<D>& L = left[r * count + j];
      const Dense<D> core = product(true, L.V, false, right[j].V);
      subtract(M, product(false, product(false, L.U, false, core), true, right[j].U));
    }
    const double terms = double(tile) * tile * (count + 1);
    const bool is_right =
        is_near(Y[r], product(false, M, false, omega_k), terms) &&
        is_near(X[r], product(true, M, false, leading(psi, orders[r], left_samples)), terms);
    if (!tally.count(is_right))
      std::printf("column of tiles of %d and %d, %d before, %d samples: row %zu of order %d\n",
                  tile, order_k, count, samples, r, orders[r]);
  }
}

/// C = A x or C += A^H x - B y of n columns.
template <class D>
void try_vectors(int m, int k, int n, bool overwrite) {
  const Dense<D> A = Dense<D>::random(m, k), B = Dense<D>::random(k, m);
  const Dense<D> x = Dense<D>::random(k, n);
  Dense<D> C = Dense<D>::random(m, n), expected = C;
  if (overwrite) expected = Dense<D>(m, n);
  const Dense<D> plus = product(false, A, false, x), minus = product(true, B, false, x);
  for (size_t e = 0; e + 1 < expected.elements.size(); ++e)
    expected.elements[e] += plus.elements[e] - minus.elements[e];
  const Term terms[] = {{A.data(), x.data(), k, m, k, 0},
                        {B.data(), x.data(), k, k, k, kAdjointA | kSubtract}};
  const Sum sum{C.data(), m, n, m, 0, 2, overwrite};
  const int parts = (m + 31) / 32;
  std::vector<Part> list;
  for (int p = 0; p < parts; ++p) list.push_back({0, static_cast<uint16_t>(p), 0});
  run_grid(static_cast<unsigned>(parts), 1, 1, kVectorThreads,
           [&] { vectors_kernel<D>(terms, &sum, list.data()); });
  if (!tally.count(is_near(C, expected, k)))
    std::printf("vectors: m %d, k %d, n %d, overwrite %d\n", m, k, n, overwrite);
}

/// The core of a matrix of low rank with a rest of size `rest`.
template <class D>
void try_core(int rows, int columns, int rank, double rest, bool has_nan) {
  using R = Real<D>;
  Dense<D> S = product(false, Dense<D>::random(rows, rank), true, Dense<D>::random(columns, rank));
  const Dense<D> noise = Dense<D>::random(rows, columns);
  for (size_t e = 0; e + 1 < S.elements.size(); ++e) S.elements[e] += noise.elements[e] * R(rest);
  if (has_nan) S.at(rows / 2, columns / 2) = std::numeric_limits<R>::quiet_NaN();
  Dense<D> work(rows + columns, columns), factor(columns, columns), T(columns, columns);
  Dense<D> Q(rows, columns);
  const CoreItem item{S.data(), work.data(), factor.data(), T.data(), Q.data(), rows,
                      columns,  0,           true};
  static char memory[1 << 18];
  CoreResult result{};
  run_grid(1, 1, 1, kCoreThreads, [&] {
    const CoreResult found = CoreFactorization<D, 1>(item, memory).run(10 * rest, true);
    if (threadIdx.x == 0) result = found;
  });
  bool is_right = result.is_sufficient == (has_nan || rank + kCoreTests > columns ? 0 : 1);
  if (result.is_sufficient) {
    is_right = is_right && result.rank == rank;
    Dense<D> basis(rows, rank), inverse(columns, rank), identity(rank, rank);
    std::copy_n(Q.data(), rows * rank, basis.data());
    std::copy_n(T.data(), columns * rank, inverse.data());
    for (int i = 0; i < rank; ++i) identity.at(i, i) = R(1);
    is_right = is_right && is_near(product(true, basis, false, basis), identity, 100) &&
               is_near(product(false, S, false, inverse), basis, 1e4);
  }
  if (!tally.count(is_right))
    std::printf("core %d by %d of rank %d, rest %g, NaN %d: rank %d, sufficient %d\n", rows,
                columns, rank, rest, has_nan, result.rank, result.is_sufficient);
}

}  // namespace
}  // namespace chol::cuda::tlr

int main() {
  using namespace chol::cuda;
  using namespace chol::cuda::tlr;
  const auto try_columns = [](auto x) {
    using D = decltype(x);
    try_column<D>(70, 70, {70, 70, 33}, 3, 12);
    if (kFindsRaces) return;
    try_column<D>(70, 70, {70, 70, 70, 70, 7}, 5, 65);
    try_column<D>(70, 9, {70, 9}, 2, 3);
    try_column<D>(70, 70, {70, 70}, 0, 20);
  };
  try_columns(float{});
  try_columns(Complex<float>{});
  for_each_type([](auto x) {
    using D = decltype(x);
    for (const int n : {1, 2, 4})
      for (const int m : {1, 32, 45}) try_vectors<D>(m, 37, n, n == 2);
  });
  for_each_type([](auto x) {
    using D = decltype(x);
    const double rest = sizeof(Real<D>) == 8 ? 1e-9 : 1e-4;
    try_core<D>(24, 16, 5, rest, false);
    if (kFindsRaces) return;
    try_core<D>(40, 32, 17, rest, false);
    try_core<D>(40, 32, 30, rest, false);
    try_core<D>(24, 16, 1, rest, false);
    try_core<D>(24, 16, 3, rest, true);
  });
  return tally.report();
}
