// Solves with a factor for two or three right-hand sides, in place: as for one (trsv.hpp), but each
// line of the factor is read once for all of them. The same sums in the same order; which product
// of a complex one is fused is left to the compiler.
#pragma once

#include "host/kernels/within/trsv.hpp"

namespace chol::CHOL_ISA {

template <class T, bool Upper, int N>
struct FewVectorsSolve {
  static_assert(N == 2 || N == 3);
  using One = VectorSolve<T, Upper>;
  using V = typename One::V;
  static constexpr int W = One::W;
  static constexpr int kLines = One::kLines;
  /// Lines whose dot products with all right-hand sides are in registers.
  static constexpr int kSummed = is_complex<T> ? 2 : 4;

  One first;    ///< of the first right-hand side
  int64_t ldx;  ///< from a right-hand side to the next one

  CHOL_INLINE T* x(int r) const { return first.x + r * ldx; }

  /// Unknowns [j, j + kLines) of a right-hand side, or fewer at the end.
  struct Unknowns {
    Scalar<T> s[kLines];
    CHOL_INLINE Unknowns(const T* x, int64_t j, int64_t last)
        : s{Scalar<T>(x + j),
            Scalar<T>(x + smaller(j + 1, last)),
            Scalar<T>(x + smaller(j + 2, last)),
            Scalar<T>(x + smaller(j + 3, last)),
            Scalar<T>(x + smaller(j + 4, last)),
            Scalar<T>(x + smaller(j + 5, last)),
            Scalar<T>(x + smaller(j + 6, last)),
            Scalar<T>(x + smaller(j + 7, last))} {}
  };

  /// x[i] -= sum over c of line(j + c)[i] * x[j + c] for i in [from, last).
  void update(int64_t j, int64_t count, int64_t from, int64_t last) const {
    const int64_t end = first.n - 1;
    const Unknowns u0(x(0), j, end), u1(x(1), j, end), u2(x(N - 1), j, end);
    for (int64_t i = from; i < last; i += W) {
      const int64_t part = smaller<int64_t>(W, last - i);
      Elements<T> y[N];
      CHOL_UNROLL
      for (int r = 0; r < N; ++r) y[r] = One::load(x(r) + i, part);
      const auto take = [&](int c) {
        const Operand<T> l(One::load(first.line(j + c) + i, part));
        y[0] = subtract<false>(y[0], l, u0.s[c]);
        y[1] = subtract<false>(y[1], l, u1.s[c]);
        if constexpr (N > 2) y[2] = subtract<false>(y[2], l, u2.s[c]);
      };
      if (count == kLines) {
        CHOL_UNROLL
        for (int c = 0; c < kLines; ++c) take(c);
      } else {
        for (int c = 0; c < count; ++c) take(c);
      }
      CHOL_UNROLL
      for (int r = 0; r < N; ++r)
        part == W ? y[r].store(x(r) + i) : y[r].store_range(x(r) + i, 0, part);
    }
  }

  /// x[j + c] -= sum over i in [from, last) of conj(line(j + c)[i]) * x[i].
  void take_products(int64_t j, int64_t count, int64_t from, int64_t last) const {
    if (from >= last) return;
    for (int64_t c = 0; c < count; c += kSummed)
      take_some(j + c, smaller<int64_t>(kSummed, count - c), from, last);
  }
  void take_some(int64_t j, int64_t count, int64_t from, int64_t last) const {
    V straight[kSummed][N], crossed[kSummed][N];
    CHOL_UNROLL
    for (int c = 0; c < kSummed; ++c) CHOL_UNROLL
    for (int r = 0; r < N; ++r) straight[c][r] = crossed[c][r] = V::zero();
    for (int64_t i = from; i < last; i += W) {
      const int64_t part = smaller<int64_t>(W, last - i);
      V y[N], swapped[N];
      CHOL_UNROLL
      for (int r = 0; r < N; ++r) {
        y[r] = swapped[r] = One::load(x(r) + i, part).v;
        if constexpr (is_complex<T>) swapped[r] = swap_pairs(y[r]);
      }
      CHOL_UNROLL
      for (int c = 0; c < kSummed; ++c) {
        if (c >= count) break;
        const V l = One::load(first.line(j + c) + i, part).v;
        CHOL_UNROLL
        for (int r = 0; r < N; ++r) {
          straight[c][r] = fma(straight[c][r], l, y[r]);
          if constexpr (is_complex<T>) crossed[c][r] = fma(crossed[c][r], l, swapped[r]);
        }
      }
    }
    CHOL_UNROLL
    for (int c = 0; c < kSummed; ++c)
      if (c < count) CHOL_UNROLL
    for (int r = 0; r < N; ++r)
      One::template subtract_sum<true>(x(r)[j + c], straight[c][r], crossed[c][r]);
  }

  template <bool Forward, bool Conj>
  void solve_block(int64_t j, int64_t count) const {
    for (int r = 0; r < N; ++r)
      One{first.A, first.n, first.lda, x(r), nullptr}.template solve_block<Forward, Conj>(j, count);
  }

  void run() const {
    const int64_t n = first.n;
    for (int64_t j = 0; j < n; j += kLines) {
      const int64_t count = smaller<int64_t>(kLines, n - j);
      if (first.coming) fetch_columns<T>(*first.coming, j, j + count);
      if constexpr (Upper) take_products(j, count, 0, j);
      solve_block<true, Upper>(j, count);
      if constexpr (!Upper) update(j, count, j + count, n);
    }
    for (int64_t j = (n - 1) / kLines * kLines; j >= 0; j -= kLines) {
      const int64_t count = smaller<int64_t>(kLines, n - j);
      if constexpr (!Upper) take_products(j, count, j + count, n);
      solve_block<false, !Upper>(j, count);
      if constexpr (Upper) update(j, count, 0, j);
    }
  }
};

template <int N, class T>
inline void solve_few_vectors(const host::PanelMatrix& M, T* B, int64_t ldb) {
  with_vector_solve<T>(M, B, [&]<bool Upper>(const VectorSolve<T, Upper>& first) {
    FewVectorsSolve<T, Upper, N>{first, ldb}.run();
  });
}

/// For 1 .. host::kMostVectors right-hand sides.
template <class T>
inline void solve_vectors(const host::PanelMatrix& M, int64_t nrhs, void* B, int64_t ldb) {
  static_assert(host::kMostVectors == 3);
  if (nrhs == 1) return solve_vector<T>(M, 0, B);
  if (nrhs == 2) return solve_few_vectors<2>(M, static_cast<T*>(B), ldb);
  solve_few_vectors<3>(M, static_cast<T*>(B), ldb);
}

}  // namespace chol::CHOL_ISA
