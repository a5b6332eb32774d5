// Solves with a factor for one right-hand side, in place.
//
// The stored columns ("lines") of the factor are read contiguously, eight at a time: a column of L
// updates the unknowns after it or forms a dot product with them; a column of U does the same with
// the unknowns before it. Forward and backward substitution of both triangles are these two steps.
//
// Several threads divide a solve into blocks of unknowns. Updates of an unknown are the same sum
// for any division; dot products are added segment by segment, as the blocks become known.
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

template <class R>
CHOL_INLINE R add_elements(R a, R b) {
  return a + b;
}
template <class R>
CHOL_INLINE Complex<R> add_elements(Complex<R> a, Complex<R> b) {
  return {a.re + b.re, a.im + b.im};
}

template <class T, bool Upper>
struct VectorSolve {
  using R = RealOf<T>;
  using V = Vec<R>;
  static constexpr int W = Elements<T>::width;
  static constexpr int kLines = 8;
  static constexpr int64_t kSums = 32;  ///< segments of a column that are read contiguously

  const T* A;
  int64_t n, lda;
  T* x;
  const host::PanelMatrix* coming;  ///< prefetched during the solve, or nullptr

  CHOL_INLINE const T* line(int64_t j) const { return A + j * lda; }
  CHOL_INLINE static Elements<T> load(const T* p, int64_t part) {
    return part == W ? Elements<T>::load(p) : Elements<T>::load_range(p, 0, part);
  }

  /// x[i] -= sum over c of op(line(j + c)[i]) * x[j + c] for i in [from, last).
  template <bool Conj>
  void update(int64_t j, int64_t count, int64_t from, int64_t last) const {
    Scalar<T> s[kLines] = {Scalar<T>(x + j),
                           Scalar<T>(x + smaller(j + 1, n - 1)),
                           Scalar<T>(x + smaller(j + 2, n - 1)),
                           Scalar<T>(x + smaller(j + 3, n - 1)),
                           Scalar<T>(x + smaller(j + 4, n - 1)),
                           Scalar<T>(x + smaller(j + 5, n - 1)),
                           Scalar<T>(x + smaller(j + 6, n - 1)),
                           Scalar<T>(x + smaller(j + 7, n - 1))};
    for (int64_t i = from; i < last; i += W) {
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

  /// to[c] -= sum over i in [from, last) of op(line(j + c)[i]) * x[i].
  template <bool Conj>
  void take_products(int64_t j, int64_t count, int64_t from, int64_t last, T* to) const {
    if (from >= last) return;
    V straight[kLines], crossed[kLines];
    CHOL_UNROLL
    for (int c = 0; c < kLines; ++c) straight[c] = crossed[c] = V::zero();
    for (int64_t i = from; i < last; i += W) {
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
      if (c < count) subtract_sum<Conj>(to[c], straight[c], crossed[c]);
  }
  template <bool Conj>
  CHOL_INLINE static void subtract_sum(T& to, V straight, V crossed) {
    if constexpr (is_complex<T>) {
      // straight: re*re, im*im; crossed: re*im, im*re, of the factor times the unknown.
      to.re -= sum(Conj ? straight : negate_odd(straight));
      to.im -= sum(Conj ? negate_odd(crossed) : crossed);
    } else {
      to -= sum(straight);
    }
  }

  /// Solves with the diagonal block, in ascending (Forward) or descending order of the unknowns.
  template <bool Forward, bool Conj>
  void solve_block(int64_t j, int64_t count) const {
    for (int64_t step = 0; step < count; ++step) {
      const int64_t k = j + (Forward ? step : count - 1 - step);
      x[k] = scale_element(x[k], R(1) / Elements<T>::reals(line(k) + k)[0]);
      for (int64_t next = step + 1; next < count; ++next) {
        const int64_t i = j + (Forward ? next : count - 1 - next);
        // The element that couples i and k is in the line of the larger index if Upper, else of the
        // smaller one.
        const int64_t low = i < k ? i : k, high = i < k ? k : i;
        const T l = Upper ? line(high)[low] : line(low)[high];
        x[i] = subtract_product<Conj>(x[i], l, x[k]);
      }
    }
  }

  /// Solves unknowns [j, j + count): updates by those outside of their segment, in the order in
  /// which these become known, then by those in it.
  void take_segments(int64_t j, int64_t count, int64_t segment) const {
    const int64_t own = j / segment, first = own * segment;
    if constexpr (Upper) {
      for (int64_t i = 0; i < first; i += segment)
        take_products<true>(j, count, i, i + segment, x + j);
      take_products<true>(j, count, first, j, x + j);
    } else {
      for (int64_t last = (n - 1) / segment; last > own; last -= kSums)
        take_later_segments(j, count, segment, larger(own + 1, last - kSums + 1), last);
      take_products<true>(j, count, j + count, smaller(first + segment, n), x + j);
    }
  }
  /// Sums of segments [low, high] of a column of L, the last one first, read contiguously.
  void take_later_segments(int64_t j, int64_t count, int64_t segment, int64_t low,
                           int64_t high) const {
    T sums[kSums * kLines] = {};
    for (int64_t s = low; s <= high; ++s)
      take_products<true>(j, count, s * segment, smaller((s + 1) * segment, n),
                          sums + (s - low) * kLines);
    for (int64_t s = high; s >= low; --s)
      for (int64_t c = 0; c < count; ++c)
        x[j + c] = add_elements(x[j + c], sums[(s - low) * kLines + c]);
  }

  void run(int64_t segment) const {
    for (int64_t j = 0; j < n; j += kLines) {
      const int64_t count = smaller<int64_t>(kLines, n - j);
      if (coming) fetch_columns<T>(*coming, j, j + count);
      if constexpr (Upper) take_segments(j, count, segment);
      solve_block<true, Upper>(j, count);
      if constexpr (!Upper) update<false>(j, count, j + count, n);
    }
    for (int64_t j = (n - 1) / kLines * kLines; j >= 0; j -= kLines) {
      const int64_t count = smaller<int64_t>(kLines, n - j);
      if constexpr (!Upper) take_segments(j, count, segment);
      solve_block<false, !Upper>(j, count);
      if constexpr (Upper) update<false>(j, count, 0, j);
    }
  }

  /// body(j, count) for the unknowns of [first, last), eight at a time.
  template <bool Forward, class Body>
  CHOL_INLINE static void for_each_eight(int64_t first, int64_t last, const Body& body) {
    if constexpr (Forward)
      for (int64_t j = first; j < last; j += kLines) body(j, smaller<int64_t>(kLines, last - j));
    else
      for (int64_t j = first + (last - first - 1) / kLines * kLines; j >= first; j -= kLines)
        body(j, smaller<int64_t>(kLines, last - j));
  }
  /// Solves unknowns [row, row_end) after all updates by others.
  template <bool Forward>
  void solve_segment(int64_t row, int64_t row_end) const {
    constexpr bool kTakes = Forward == Upper;
    for_each_eight<Forward>(row, row_end, [&](int64_t j, int64_t count) {
      const int64_t from = Upper ? row : j + count, to = Upper ? j : row_end;
      if constexpr (kTakes) take_products<true>(j, count, from, to, x + j);
      solve_block<Forward, kTakes>(j, count);
      if constexpr (!kTakes) update<false>(j, count, from, to);
    });
  }
  /// Updates unknowns [row, row_end) by the known ones [first, last), a segment.
  template <bool Forward>
  void take_segment(int64_t first, int64_t last, int64_t row, int64_t row_end) const {
    if constexpr (Forward == Upper)
      for_each_eight<Forward>(row, row_end, [&](int64_t j, int64_t count) {
        take_products<true>(j, count, first, last, x + j);
      });
    else
      for_each_eight<Forward>(
          first, last, [&](int64_t j, int64_t count) { update<false>(j, count, row, row_end); });
  }
  void substitute(bool backward, int64_t first, int64_t last, int64_t row, int64_t row_end) const {
    if (first == row)
      backward ? solve_segment<false>(row, row_end) : solve_segment<true>(row, row_end);
    else
      backward ? take_segment<false>(first, last, row, row_end)
               : take_segment<true>(first, last, row, row_end);
  }
};

/// body(VectorSolve) for the triangle of M.
template <class T, class Body>
CHOL_INLINE void with_vector_solve(const host::PanelMatrix& M, void* x, const Body& body) {
  const T* A = static_cast<const T*>(M.A);
  if (M.upper)
    body(VectorSolve<T, true>{A, M.n, M.lda, static_cast<T*>(x), M.next});
  else
    body(VectorSolve<T, false>{A, M.n, M.lda, static_cast<T*>(x), M.next});
}

template <class T>
inline void solve_vector(const host::PanelMatrix& M, int64_t segment, void* x) {
  with_vector_solve<T>(M, x, [&](const auto& solve) {
    solve.run(segment > 0 && segment < M.n ? segment : larger<int64_t>(M.n, 1));
  });
}

template <class T>
inline void substitute_vector(const host::PanelMatrix& M, bool backward, int64_t first,
                              int64_t last, int64_t row, int64_t row_end, void* x) {
  with_vector_solve<T>(
      M, x, [&](const auto& solve) { solve.substitute(backward, first, last, row, row_end); });
}

}  // namespace chol::CHOL_ISA
