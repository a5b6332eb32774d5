// Systems for tests of solve kernels on the host.
#pragma once

#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

#include "common/batch_view.cuh"
#include "elements.hpp"
#include "shared_memory.hpp"
#include "tally.hpp"

namespace chol::cuda {

/// A factor with NaN in the other triangle, and right-hand sides.
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

/// Solves by kernels.
struct Solves : Tally {
  /// @param kernel(problem) is what each thread of a block runs.
  template <class T, bool kSwapped, class Kernel>
  void check(const char* what, int warps, int n, int nrhs, bool backwards, Kernel&& kernel) {
    const int extra = n % 3 == 0 ? 0 : n % 3 == 1 ? 1 : (8 - n % 8) % 8, offset = n % 5 == 0;
    System<T, kSwapped> system(n, nrhs, extra, offset);
    const std::vector<T> before = system.L;
    BatchProblem<T> problem;
    problem.A = {system.L.data() + offset, 0, nullptr, system.lda, nullptr};
    problem.B = {system.X.data(), 0, nullptr, system.ldb, nullptr};
    problem.count = 1;
    problem.n = n;
    problem.nrhs = nrhs;
    problem.swapped = kSwapped;
    spoil_shared_memory();
    HostBlock(32 * warps, backwards).run([&] { kernel(problem); });
    const double error = system.residual();
    const double bound = 10 * (n + 4) * double(std::numeric_limits<Real<T>>::epsilon());
    const bool same = std::memcmp(before.data(), system.L.data(), sizeof(T) * before.size()) == 0;
    if (count(error <= bound && same)) return;
    std::printf("%s, element of %zu bytes, swapped %d: n %d, lda %d, nrhs %d: residual %g\n", what,
                sizeof(T), kSwapped, n, system.lda, nrhs, error);
  }
};

}  // namespace chol::cuda
