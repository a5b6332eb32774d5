// Every routine on one size: residuals, info, untouched memory.
#pragma once

#include <algorithm>

#include "calls.hpp"

namespace chol::test {

template <class T>
struct Routines : Calls<T> {
  using Calls<T>::handle, Calls<T>::uplo, Calls<T>::kBound, Calls<T>::check, Calls<T>::ok,
      Calls<T>::factored;

  /// @param matrices of a batch, or 0 for a few: they decide which kernels serve it.
  void factors(const std::vector<int64_t>& sizes, int64_t matrices = 0) const {
    for (int64_t n : sizes) {
      const int64_t count = matrices > 0 ? matrices : n > 300 ? 2 : n > 64 ? 5 : 37;
      const Batch<T> A(uplo, n, n + n % 3 + (n == 0), count, static_cast<unsigned>(n));
      std::vector<int> info;
      const Batch<T> L = factored(A, &info);
      double residual = 0;
      for (int64_t b = 0; b < count; ++b) {
        check(info[b] == 0, "potrf info", n, info[b]);
        if (b < 3 || b == count - 1) residual = worse(residual, factor_residual(A, L, b));
      }
      check(residual < kBound, "potrf residual", n, residual);
      check(changed_outside(A, L) == 0, "potrf outside the triangle", n,
            double(changed_outside(A, L)));
    }
  }

  /// Matrix p of the batch fails at pivot p; all others must come out as if alone.
  void bad_pivots(const std::vector<int64_t>& sizes) const {
    for (int64_t n : sizes)
      for (int kind = 0; kind < 4; ++kind) {
        // Batches of as many matrices, since a batch of few may take another method.
        Batch<T> A(uplo, n, n + 1, n + 1, 7);
        for (int64_t b = 1; b < A.count; ++b)
          std::copy(A.a.begin(), A.a.begin() + A.stride, A.a.begin() + b * A.stride);
        std::vector<int> info;
        const Batch<T> good = factored(A, &info);
        const Real<T> nan = std::numeric_limits<Real<T>>::quiet_NaN();
        const Real<T> bad[] = {Real<T>(-1), nan, std::numeric_limits<Real<T>>::infinity(), 0};
        for (int64_t p = 0; p < n; ++p) A.lower(p, p, p) = T(bad[kind]);
        const Batch<T> L = factored(A, &info);
        for (int64_t p = 0; p <= n; ++p) {
          const int want = p < n ? static_cast<int>(p) + 1 : 0;
          check(info[p] == want, "info of a bad pivot", n, info[p] - want);
          int64_t different = 0;
          for (int64_t j = 0; j < (p < n ? p : n); ++j)
            for (int64_t i = j; i < n; ++i)
              if (L.value(p, i, j) != good.value(0, i, j)) ++different;
          check(different == 0, "columns before a bad pivot", n, double(different));
        }
        check(changed_outside(A, L) == 0, "outside, bad pivots", n, 0);
      }
  }

  /// Elements so small that they are no normal numbers, and so large that their reciprocals are
  /// not.
  void extremes(const std::vector<int64_t>& sizes) const {
    using R = Real<T>;
    constexpr int kTop = std::numeric_limits<R>::max_exponent;
    const double tolerance = sizeof(R) == 4 ? 1e-3 : 1e-10;  // small ones have lost some bits
    for (int64_t n : sizes) {
      const Batch<T> A(uplo, n, n + 1, 3, static_cast<unsigned>(n));
      std::vector<int> info;
      const Batch<T> L = factored(A, &info);
      const int order = std::ilogb(double(n) + 2);
      for (int exponent : {kTop - 2 - order, -kTop - order}) {
        exponent -= exponent % 2;
        Batch<T> scaled = A;
        for (T& x : scaled.a) x *= std::ldexp(R(1), exponent / 2);
        for (T& x : scaled.a) x *= std::ldexp(R(1), exponent / 2);
        const Batch<T> its = factored(scaled, &info);
        double largest = 0;
        for (int64_t b = 0; b < A.count; ++b) {
          check(info[b] == 0, "info of extremes", n, info[b]);
          for (int64_t j = 0; j < n; ++j)
            for (int64_t i = j; i < n; ++i)
              largest = worse(
                  largest,
                  std::abs(its.value(b, i, j) * std::ldexp(1.0, -exponent / 2) - L.value(b, i, j)));
        }
        check(largest <= tolerance * std::sqrt(double(n) + 2), "factor of extremes", n, largest);
      }
    }
  }

  void solves(const std::vector<int64_t>& sizes, int64_t count = 5) const {
    for (int64_t n : sizes)
      for (int64_t nrhs : {1, 2, 3, 5, 16, 37, 70}) {
        if (n > 300 && nrhs > 3) continue;
        const int64_t ldb = n + 2, stride = ldb * nrhs + 1;
        // Columns of 16-byte chunks, and columns that begin anywhere.
        const int64_t lda = n % 8 == 0 ? n + 8 : n + 1;
        Batch<T> A(uplo, n, lda, count, static_cast<unsigned>(n + nrhs));
        std::mt19937_64 engine(n);
        std::vector<T> B(stride * count + 1);
        for (T& x : B) x = random_element<T>(engine);
        Batch<T> P = A;
        if (n > 1) P.lower(2, n / 2, n / 2) = T(-1);  // posv must leave this B alone

        DeviceArray<T> a(A.a), x(B), pa(P.a), px(B);
        DeviceArray<int> info(count);
        ok(potrf_strided_of(T{})(handle, uplo, n, a.data(), A.lda, A.stride, info.data(), count),
           "potrf for potrs");
        ok(potrs_strided_of(T{})(handle, uplo, n, nrhs, a.data(), A.lda, A.stride, x.data(), ldb,
                                 stride, count),
           "potrs_strided_batched");
        ok(posv_strided_of(T{})(handle, uplo, n, nrhs, pa.data(), A.lda, A.stride, px.data(), ldb,
                                stride, info.data(), count),
           "posv_strided_batched");
        const std::vector<T> X = x.get(), PX = px.get();
        const std::vector<int> posv_info = info.get();
        double residual = 0, posv_residual = 0;
        for (int64_t b = 0; b < count; ++b) {
          if (b > 4 && b < count - 1) continue;
          const T* rhs = B.data() + b * stride;
          residual = worse(residual, solve_residual(A, b, rhs, X.data() + b * stride, ldb, nrhs));
          if (b == 2 && n > 1) {
            check(posv_info[b] == n / 2 + 1, "posv info", n, posv_info[b]);
            check(std::memcmp(PX.data() + b * stride, rhs, sizeof(T) * stride) == 0,
                  "posv B of a bad matrix", n, double(nrhs));
          } else {
            check(posv_info[b] == 0, "posv info", n, posv_info[b]);
            posv_residual =
                worse(posv_residual, solve_residual(A, b, rhs, PX.data() + b * stride, ldb, nrhs));
          }
          for (int64_t c = 0; c < nrhs; ++c)
            for (int64_t i = n; i < ldb; ++i)
              if (X[b * stride + c * ldb + i] != rhs[c * ldb + i])
                check(false, "potrs outside B", n, double(nrhs));
        }
        check(residual < kBound, "potrs residual", n, residual);
        check(posv_residual < kBound, "posv residual", n, posv_residual);
      }
  }

  /// Of X as the inverse of matrix b.
  static double inverse_residual(const Batch<T>& A, const Batch<T>& X, int64_t b) {
    const int64_t n = A.n;
    double error = 0;
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) {
        typename Batch<T>::Wide s = i == j;
        for (int64_t k = 0; k < n; ++k) s -= A.full(b, i, k) * X.full(b, k, j);
        sum += std::abs(s);
      }
      error = worse(error, sum);
    }
    return error / (std::max<double>(1, n) * A.norm1(b) * X.norm1(b) * epsilon<T>());
  }
  /// One matrix: block columns of cuda/native/invert.cu that are whole and not, a factor with two
  /// zeros.
  void one_inverse(const std::vector<int64_t>& sizes) const {
    for (int64_t n : sizes) {
      const Batch<T> A(uplo, n, n + 3, 1, static_cast<unsigned>(n));
      DeviceArray<T> a(A.a);
      DeviceArray<int> info(std::vector<int>(1, -5));
      ok(potrf_of(T{})(handle, uplo, n, a.data(), A.lda, info.data()), "potrf for potri");
      Batch<T> L = A, X = A;
      L.a = a.get();
      ok(potri_of(T{})(handle, uplo, n, a.data(), A.lda, info.data()), "potri");
      X.a = a.get();
      const double error = inverse_residual(A, X, 0);
      check(info.get()[0] == 0 && error < kBound, "potri one residual", n, error);
      check(changed_outside(A, X) == 0, "potri one outside", n, 0);
      for (const int64_t zero : {n - 1, n / 2}) L.lower(0, zero, zero) = T(0);
      DeviceArray<T> singular(L.a);
      ok(potri_of(T{})(handle, uplo, n, singular.data(), A.lda, info.data()), "potri");
      check(info.get()[0] == n / 2 + 1, "potri one info", n, info.get()[0]);
      check(std::memcmp(singular.get().data(), L.a.data(), sizeof(T) * L.a.size()) == 0,
            "potri one leaves a singular factor", n, 0);
    }
  }
  void inverses(const std::vector<int64_t>& sizes) const {
    for (int64_t n : sizes) {
      const int64_t count = 3;
      const Batch<T> A(uplo, n, n + 1, count, static_cast<unsigned>(n));
      DeviceArray<T> a(A.a);
      DeviceArray<int> info(count);
      DeviceArray<Real<T>> logdet(count);
      ok(potrf_strided_of(T{})(handle, uplo, n, a.data(), A.lda, A.stride, info.data(), count),
         "potrf for potri");
      Batch<T> L = A, X = A;
      L.a = a.get();
      ok(logdet_strided_of(T{})(handle, uplo, n, a.data(), A.lda, A.stride, logdet.data(), count),
         "logdet_strided_batched");
      ok(potri_strided_of(T{})(handle, uplo, n, a.data(), A.lda, A.stride, info.data(), count),
         "potri_strided_batched");
      X.a = a.get();
      const std::vector<int> infos = info.get();
      const std::vector<Real<T>> logs = logdet.get();
      for (int64_t b = 0; b < count; ++b) {
        double log = 0;
        for (int64_t j = 0; j < n; ++j) log += 2 * std::log(std::abs(L.value(b, j, j)));
        const double error = inverse_residual(A, X, b);
        check(infos[b] == 0 && (n == 0 || error < kBound), "potri residual", n, error);
        check(std::abs(logs[b] - log) <= 100 * epsilon<T>() * std::max(1.0, std::abs(log)),
              "logdet", n, logs[b] - log);
      }
      check(changed_outside(A, X) == 0, "potri outside the triangle", n, 0);
      if (n < 2) continue;
      L.lower(1, n - 1, n - 1) = T(0);
      DeviceArray<T> singular(L.a);
      ok(potri_strided_of(T{})(handle, uplo, n, singular.data(), A.lda, A.stride, info.data(),
                               count),
         "potri of a singular factor");
      check(info.get()[1] == n, "potri info", n, info.get()[1]);
      X.a = singular.get();
      check(std::memcmp(&X.a[A.stride], &L.a[A.stride], sizeof(T) * A.stride) == 0,
            "potri leaves a singular factor", n, 0);
    }
  }

  void one_matrix(const std::vector<int64_t>& sizes) const {
    for (int64_t n : sizes) {
      const int64_t nrhs = 3;
      const Batch<T> A(uplo, n, n + 2, 1, static_cast<unsigned>(n));
      std::mt19937_64 engine(n);
      std::vector<T> B(n * nrhs + 1);
      for (T& x : B) x = random_element<T>(engine);
      DeviceArray<T> a(A.a), b(B), pa(A.a), pb(B);
      DeviceArray<int> info(std::vector<int>(1, -5));
      DeviceArray<Real<T>> rcond(1);
      ok(potrf_of(T{})(handle, uplo, n, a.data(), A.lda, info.data()), "potrf");
      check(info.get()[0] == 0, "potrf one info", n, info.get()[0]);
      Batch<T> L = A, X = A;
      L.a = a.get();
      const double residual = factor_residual(A, L, 0);
      check(residual < kBound, "potrf one residual", n, residual);
      check(changed_outside(A, L) == 0, "potrf one outside", n, 0);
      ok(potrs_of(T{})(handle, uplo, n, nrhs, a.data(), A.lda, b.data(), n), "potrs");
      const double solved = solve_residual(A, 0, B.data(), b.get().data(), n, nrhs);
      check(solved < kBound, "potrs one residual", n, solved);
      ok(posv_of(T{})(handle, uplo, n, nrhs, pa.data(), A.lda, pb.data(), n, info.data()), "posv");
      const double both = solve_residual(A, 0, B.data(), pb.get().data(), n, nrhs);
      check(both < kBound && info.get()[0] == 0, "posv one residual", n, both);
      const auto norm = static_cast<Real<T>>(A.norm1(0));
      ok(pocon_of(T{})(handle, uplo, n, a.data(), A.lda, norm, rcond.data()), "pocon");
      const double estimate = rcond.get()[0];
      ok(potri_of(T{})(handle, uplo, n, a.data(), A.lda, info.data()), "potri");
      X.a = a.get();
      const double exact = 1 / (A.norm1(0) * X.norm1(0));
      check(estimate >= exact * 0.999 && estimate <= 10 * exact, "pocon", n, estimate / exact);

      Batch<T> bad = A;
      const int64_t p = n * 2 / 3;
      bad.lower(0, p, p) = T(-3);
      DeviceArray<T> bad_a(bad.a), bad_b(B);
      ok(posv_of(T{})(handle, uplo, n, nrhs, bad_a.data(), A.lda, bad_b.data(), n, info.data()),
         "posv of a bad matrix");
      check(info.get()[0] == p + 1, "posv one info", n, info.get()[0] - double(p + 1));
      check(std::memcmp(bad_b.get().data(), B.data(), sizeof(T) * n * nrhs) == 0,
            "posv one leaves B", n, 0);
    }
  }
};

}  // namespace chol::test
