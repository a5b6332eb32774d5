// The kernels of cuda/batched/warp_solve.cuh by contexts of the host: orders of every kernel, up
// to its largest and far below, both storages. Shared memory begins as NaN and copies arrive when
// they are waited for, so that what is read too early, or was never written, shows.
#include <cstdio>
#include <limits>
#include <type_traits>

#include "batched/warp_solve.cuh"
#include "elements.hpp"

namespace chol::cuda {

alignas(16) unsigned char shared[256 << 10];

namespace {

int cases = 0, failures = 0;

/// A factor, NaN where its other triangle would be, and right-hand sides.
template <class T, bool kSwapped>
struct System {
  static constexpr double kNaN = std::numeric_limits<Real<T>>::quiet_NaN();
  int n, nrhs, lda, ldb, offset;
  std::vector<T> L, B, X;

  System(int n_, int nrhs_, int extra, int offset_)
      : n(n_), nrhs(nrhs_), lda(n_ + extra), ldb(n_ + 1), offset(offset_) {
    L.assign(size_t(lda) * n + offset, from_real<T>(Real<T>(kNaN)));
    for (int j = 0; j < n; ++j)
      for (int i = j; i < n; ++i) at(i, j) = scale(random_element<T>(), Real<T>(1) / Real<T>(n));
    for (int j = 0; j < n; ++j) at(j, j) = from_real<T>(Real<T>(1) + Real<T>(j % 3));
    B.resize(size_t(ldb) * nrhs);
    for (T& x : B) x = random_element<T>();
    X = B;
  }
  T& at(int i, int j) { return L[offset + (kSwapped ? i * lda + j : j * lda + i)]; }

  /// Largest element of L L^H x - b, of the conjugates in swapped storage; NaN stays.
  double residual() {
    double largest = 0;
    for (int q = 0; q < nrhs; ++q) {
      const T *const x = &X[q * ldb], *const b = &B[q * ldb];
      std::vector<T> y(n, T{});
      for (int j = 0; j < n; ++j)
        for (int i = j; i < n; ++i)
          y[j] = add_conj_product(y[j], at(i, j), conj_if(kSwapped, x[i]));
      for (int i = 0; i < n; ++i) {
        T sum = conj_if(kSwapped, b[i]);
        for (int j = 0; j <= i; ++j) sum = subtract_product(sum, at(i, j), y[j]);
        largest = magnitude(sum) <= largest ? largest : magnitude(sum);
      }
      const bool kept = std::memcmp(&x[n], &b[n], sizeof(T)) == 0;
      if (!kept) return kNaN;
    }
    return largest;
  }
};

template <class T, bool kSwapped, int kGroup, int kColumns>
void solve(int n, int nrhs, int extra, int offset, bool backwards) {
  System<T, kSwapped> system(n, nrhs, extra, offset);
  constexpr int kWarps = kSolveWarps<kGroup>;
  const std::vector<T> before = system.L;
  BatchProblem<T> problem;
  problem.A = {system.L.data() + offset, 0, nullptr, system.lda, nullptr};
  problem.B = {system.X.data(), 0, nullptr, system.ldb, nullptr};
  problem.count = 1;
  problem.n = n;
  problem.nrhs = nrhs;
  problem.swapped = kSwapped;
  std::memset(shared, 0xFF, sizeof shared);
  HostBlock(32 * kWarps, backwards).run([&] {
    warp_solve_kernel<T, kSwapped, kGroup, kColumns, kWarps>(problem);
  });
  const double error = system.residual();
  const double bound = 10 * (n + 4) * double(std::numeric_limits<Real<T>>::epsilon());
  ++cases;
  const bool same = std::memcmp(before.data(), system.L.data(), sizeof(T) * before.size()) == 0;
  if (error <= bound && same) return;
  ++failures;
  std::printf("element of %zu bytes, swapped %d, group %d: n %d, lda %d, nrhs %d: residual %g\n",
              sizeof(T), kSwapped, kGroup, n, system.lda, nrhs, error);
}

template <class T, bool kSwapped, int kGroup>
void solve_orders() {
  for (int n = 32 * kGroup; n > 0; n -= kGroup == 1 ? 1 : n > 16 * kGroup ? kGroup - 1 : 9) {
    const int extra = n % 3 == 0 ? 0 : n % 3 == 1 ? 1 : (8 - n % 8) % 8, offset = n % 5 == 0;
    const bool backwards = n % 2 == 0;
    solve<T, kSwapped, kGroup, 1>(n, 1, extra, offset, backwards);
    if (n % 4 < 2)
      solve<T, kSwapped, kGroup, kWarpSolveColumns<T, kGroup>>(n, 1 + n % 7, extra, offset,
                                                               !backwards);
  }
}
template <class T>
void solve_all() {
  solve_orders<T, false, 1>();
  solve_orders<T, true, 1>();
  solve_orders<T, false, 2>();
  solve_orders<T, true, 2>();
  solve_orders<T, false, kMostWarpGroup>();
  solve_orders<T, true, kMostWarpGroup>();
}

}  // namespace
}  // namespace chol::cuda

int main() {
  using namespace chol::cuda;
  solve_all<float>();
  solve_all<double>();
  solve_all<Complex<float>>();
  solve_all<Complex<double>>();
  std::printf("%d of %d wrong\n", failures, cases);
  return failures > 0;
}
