// Solves with a factor for one right-hand side, in place.
//
// The stored columns ("lines") of the factor are read along memory, eight at a time: a column of L
// updates the unknowns after it or takes a dot product with them, and so does a column of U with
// the unknowns before it. Forward and backward substitution of both triangles are these two steps.
#pragma once

#include "host/kernels/within/panel.hpp"

namespace chol::CHOL_ISA {

/// a - op(b) * c on single elements.
template <bool Conj, class R>
CHOL_INLINE R subtract_product(R a, R b, R c) {
  return a - b * c;
}
template <bool Conj, class R>
CHOL_INLINE Complex<R> subtract_product(Complex<R> a, Complex<R> b, Complex<R> c) {
  const R im = Conj ? -b.im : b.im;
  return {a.re - b.re * c.re + im * c.im, a.im - b.re * c.im - im * c.re};
}
template <class R>
CHOL_INLINE R scale_element(R a, R factor) {
  return a * factor;
}
template <class R>
CHOL_INLINE Complex<R> scale_element(Complex<R> a, R factor) {
  return {a.re * factor, a.im * factor};
}

template <class T, bool Upper>
struct VectorSolve {
  using R = RealOf<T>;
  using V = Vec<R>;
  static constexpr int W = Elements<T>::width;
  static constexpr int kLines = 8;

  const T* A;
  int64_t n, lda;
  T* x;
  const host::PanelMatrix* coming;  ///< fetched along the way, or nullptr

  CHOL_INLINE const T* line(int64_t j) const { return A + j * lda; }
  /// The part of the lines of block [j, j + count) outside the block's own triangle.
  CHOL_INLINE int64_t from(int64_t j, int64_t count) const { return Upper ? 0 : j + count; }
  CHOL_INLINE int64_t to(int64_t j) const { return Upper ? j : n; }

  /// x[i] -= sum over c of op(line(j + c)[i]) * x[j + c] for i outside the block.
  template <bool Conj>
  void update(int64_t j, int64_t count) const {
    Scalar<T> s[kLines] = {Scalar<T>(x + j),
                           Scalar<T>(x + smaller(j + 1, n - 1)),
                           Scalar<T>(x + smaller(j + 2, n - 1)),
                           Scalar<T>(x + smaller(j + 3, n - 1)),
                           Scalar<T>(x + smaller(j + 4, n - 1)),
                           Scalar<T>(x + smaller(j + 5, n - 1)),
                           Scalar<T>(x + smaller(j + 6, n - 1)),
                           Scalar<T>(x + smaller(j + 7, n - 1))};
    const int64_t last = to(j);
    for (int64_t i = from(j, count); i < last; i += W) {
      const int64_t part = smaller<int64_t>(W, last - i);
      Elements<T> y = load(x + i, part);
      const auto take = [&](int c) {
        const Elements<T> l = load(line(j + c) + i, part);
        y = subtract<false>(y, Operand<T>(Conj ? l.conjugated() : l), s[c]);
      };
      if (count == kLines) {
        CHOL_UNROLL
        for (int c = 0; c < kLines; ++c) take(c);
      } else {
        for (int c = 0; c < count; ++c) take(c);
      }
      part == W ? y.store(x + i) : y.store_range(x + i, 0, part);
    }
  }

  /// x[j + c] -= sum over i outside the block of op(line(j + c)[i]) * x[i].
  template <bool Conj>
  void take_products(int64_t j, int64_t count) const {
    V straight[kLines], crossed[kLines];
    CHOL_UNROLL
    for (int c = 0; c < kLines; ++c) straight[c] = crossed[c] = V::zero();
    const int64_t last = to(j);
    for (int64_t i = from(j, count); i < last; i += W) {
      const int64_t part = smaller<int64_t>(W, last - i);
      const V y = load(x + i, part).v;
      V swapped = y;
      if constexpr (is_complex<T>) swapped = swap_pairs(y);
      CHOL_UNROLL
      for (int c = 0; c < kLines; ++c) {
        if (c >= count) break;
        const V l = load(line(j + c) + i, part).v;
        straight[c] = fma(straight[c], l, y);
        if constexpr (is_complex<T>) crossed[c] = fma(crossed[c], l, swapped);
      }
    }
    CHOL_UNROLL
    for (int c = 0; c < kLines; ++c)
      if (c < count) subtract_sum<Conj>(x[j + c], straight[c], crossed[c]);
  }
  template <bool Conj>
  CHOL_INLINE static void subtract_sum(T& to, V straight, V crossed) {
    if constexpr (is_complex<T>) {
      // straight: re*re, im*im; crossed: re*im, im*re of the factor and the unknown.
      to.re -= sum(Conj ? straight : negate_odd(straight));
      to.im -= sum(Conj ? negate_odd(crossed) : crossed);
    } else {
      to -= sum(straight);
    }
  }

  /// The block's own triangle, in the order of its unknowns (Forward) or against it.
  template <bool Forward, bool Conj>
  void solve_block(int64_t j, int64_t count) const {
    for (int64_t step = 0; step < count; ++step) {
      const int64_t k = j + (Forward ? step : count - 1 - step);
      x[k] = scale_element(x[k], R(1) / Elements<T>::reals(line(k) + k)[0]);
      for (int64_t next = step + 1; next < count; ++next) {
        const int64_t i = j + (Forward ? next : count - 1 - next);
        // The element of the triangle that couples i and k stands in the line of the later one when
        // Upper, of the earlier one otherwise.
        const int64_t low = i < k ? i : k, high = i < k ? k : i;
        const T l = Upper ? line(high)[low] : line(low)[high];
        x[i] = subtract_product<Conj>(x[i], l, x[k]);
      }
    }
  }

  void run() const {
    for (int64_t j = 0; j < n; j += kLines) {
      const int64_t count = smaller<int64_t>(kLines, n - j);
      if (coming) fetch_columns<T>(*coming, j, j + count);
      if constexpr (Upper) take_products<true>(j, count);
      solve_block<true, Upper>(j, count);
      if constexpr (!Upper) update<false>(j, count);
    }
    for (int64_t j = (n - 1) / kLines * kLines; j >= 0; j -= kLines) {
      const int64_t count = smaller<int64_t>(kLines, n - j);
      if constexpr (!Upper) take_products<true>(j, count);
      solve_block<false, !Upper>(j, count);
      if constexpr (Upper) update<false>(j, count);
    }
  }

 private:
  CHOL_INLINE static Elements<T> load(const T* p, int64_t part) {
    return part == W ? Elements<T>::load(p) : Elements<T>::load_range(p, 0, part);
  }
};

template <class T>
inline void solve_vector(const host::PanelMatrix& M, void* x) {
  const T* A = static_cast<const T*>(M.A);
  if (M.upper)
    VectorSolve<T, true>{A, M.n, M.lda, static_cast<T*>(x), M.next}.run();
  else
    VectorSolve<T, false>{A, M.n, M.lda, static_cast<T*>(x), M.next}.run();
}

}  // namespace chol::CHOL_ISA
