// Products of dense matrices by packed operands and register tiles (Goto, van de Geijn 2008), and
// vector operations for covariance functions of distances.
#pragma once

#include "host/kernels/within/vector.hpp"
#include "host/products.hpp"

namespace chol::CHOL_ISA {

/// A block of A is `rows` by `depth` in the second-level cache, a strip of B `kColumns` by `depth`
/// in the first.
template <class T>
struct ProductShape {
  static constexpr int W = Elements<T>::width;
  static constexpr int kVectors = is_complex<T> ? 2 : 3;
  static constexpr int kColumns = kVectorRegisters >= 32 ? 8 : 4;
  static constexpr int kRows = kVectors * W;
  static constexpr int64_t kDepth = 256;
  static constexpr int64_t kBlockRows = 192 / kRows * kRows;
  static constexpr int64_t kBlockColumns = 256;
  static constexpr size_t kBufferBytes =
      size_t((kBlockRows + kRows) * kDepth + (kBlockColumns + kColumns) * kDepth) * sizeof(T);
};

template <class T>
CHOL_INLINE T conjugate(T a) {
  if constexpr (is_complex<T>)
    return {a.re, -a.im};
  else
    return a;
}
template <class T>
CHOL_INLINE T zero_element() {
  if constexpr (is_complex<T>)
    return {0, 0};
  else
    return 0;
}

/// Rows [row, row + count) of op(A), columns [k, k + depth), as V vectors a column, zeros below.
/// A points at element (row, k) of op(A).
template <class T, int V>
CHOL_INLINE void pack_rows(bool adjoint, const T* A, int64_t lda, int64_t count, int64_t depth,
                           T* to) {
  constexpr int W = Elements<T>::width;
  if (!adjoint) {
    for (int64_t k = 0; k < depth; ++k) {
      CHOL_UNROLL
      for (int v = 0; v < V; ++v) {
        const int64_t left = count - v * W;
        const T* from = A + k * lda + v * W;
        const Elements<T> e = left >= W  ? Elements<T>::load(from)
                              : left > 0 ? Elements<T>::load_range(from, 0, left)
                                         : Elements<T>::zero();
        e.store(to + (k * V + v) * W);
      }
    }
    return;
  }
  constexpr int N = is_complex<T> ? 4 : kRowRun;
  for (int v = 0; v < V; ++v) {
    const int64_t rows = count - v * W;
    const T* first = A + v * W * lda;
    const auto row = [&](int i) { return first + (i < rows ? i : 0) * lda; };
    int64_t k = 0;
    for (; k + N <= depth; k += N) {
      Elements<T> e[N];
      load_rows<T, N>([&](int i) { return row(i) + k; },
                      [&](int i) { return i < rows ? int64_t(N) : int64_t(0); }, e);
      CHOL_UNROLL
      for (int c = 0; c < N; ++c) e[c].conjugated().store(to + ((k + c) * V + v) * W);
    }
    for (; k < depth; ++k)
      for (int i = 0; i < W; ++i)
        to[(k * V + v) * W + i] = i < rows ? conjugate(first[i * lda + k]) : zero_element<T>();
  }
}

/// pack_columns() of B without op, where a row is a multiple of a vector: columns are transposed in
/// registers.
template <class T>
CHOL_INLINE void pack_columns_by_vectors(const T* B, int64_t ldb, int64_t count, int64_t depth,
                                         T* to) {
  constexpr int NR = ProductShape<T>::kColumns, W = Elements<T>::width;
  constexpr int N = is_complex<T> ? 4 : kRowRun;
  for (int g = 0; g < NR; g += W) {
    const auto column = [&](int i) { return B + (g + i < count ? g + i : 0) * ldb; };
    int64_t k = 0;
    for (; k + N <= depth; k += N) {
      Elements<T> e[N];
      load_rows<T, N>([&](int i) { return column(i) + k; },
                      [&](int i) { return g + i < count ? int64_t(N) : int64_t(0); }, e);
      CHOL_UNROLL
      for (int c = 0; c < N; ++c) e[c].store(to + (k + c) * NR + g);
    }
    for (; k < depth; ++k)
      for (int i = 0; i < W; ++i)
        to[k * NR + g + i] = g + i < count ? column(i)[k] : zero_element<T>();
  }
}

/// Columns [column, column + count) of op(B), rows [k, k + depth), as NR elements a row, zeros
/// behind.
template <class T>
CHOL_INLINE void pack_columns(bool adjoint, const T* B, int64_t ldb, int64_t count, int64_t depth,
                              T* to) {
  constexpr int NR = ProductShape<T>::kColumns, W = Elements<T>::width;
  if constexpr (NR % W == 0)
    if (!adjoint) return pack_columns_by_vectors(B, ldb, count, depth, to);
  for (int c = 0; c < NR; ++c) {
    if (c >= count) {
      for (int64_t k = 0; k < depth; ++k) to[k * NR + c] = zero_element<T>();
    } else if (!adjoint) {
      const T* from = B + c * ldb;
      for (int64_t k = 0; k < depth; ++k) to[k * NR + c] = from[k];
    }
  }
  if (adjoint)
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t c = 0; c < (count < NR ? count : NR); ++c)
        to[k * NR + c] = conjugate(B[c + k * ldb]);
}

/// C[rows by columns] (sign) the product of a strip of V vectors and a strip of NR columns.
template <class T, int V>
CHOL_INLINE void product_tile(const T* a, const T* b, int64_t depth, int sign, T* C, int64_t ldc,
                              int64_t rows, int64_t columns) {
  constexpr int W = Elements<T>::width, NR = ProductShape<T>::kColumns;
  Elements<T> t[V][NR];
  CHOL_UNROLL
  for (int v = 0; v < V; ++v) CHOL_UNROLL
  for (int c = 0; c < NR; ++c) t[v][c] = Elements<T>::zero();
  for (int64_t k = 0; k < depth; ++k) {
    Elements<T> e[V];
    CHOL_UNROLL
    for (int v = 0; v < V; ++v) e[v] = Elements<T>::load(a + (k * V + v) * W);
    CHOL_UNROLL
    for (int c = 0; c < NR; ++c) {
      const Scalar<T> s(b + k * NR + c);
      CHOL_UNROLL
      for (int v = 0; v < V; ++v) t[v][c] = subtract<false>(t[v][c], Operand<T>(e[v]), s);
    }
  }
  // The tile holds minus the product.
  using Real = RealOf<T>;
  using Reals = Vec<Real>;
  const Reals factor = Reals::broadcast(sign < 0 ? Real(1) : Real(-1));
  CHOL_UNROLL
  for (int c = 0; c < NR; ++c) {
    if (c >= columns) break;
    CHOL_UNROLL
    for (int v = 0; v < V; ++v) {
      const int64_t left = rows - v * W;
      T* to = C + c * ldc + v * W;
      if (left >= W) {
        const Elements<T> old = sign == 0 ? Elements<T>::zero() : Elements<T>::load(to);
        Elements<T>{fma(old.v, t[v][c].v, factor)}.store(to);
      } else if (left > 0) {
        const Elements<T> old =
            sign == 0 ? Elements<T>::zero() : Elements<T>::load_range(to, 0, left);
        Elements<T>{fma(old.v, t[v][c].v, factor)}.store_range(to, 0, left);
      }
    }
  }
}

template <class T, int V>
CHOL_INLINE void row_of_tiles(const host::ProductCall& call, const T* a, const T* b, int64_t depth,
                              int sign, int64_t row, int64_t column, int64_t columns,
                              int64_t rows) {
  constexpr int NR = ProductShape<T>::kColumns;
  T* C = static_cast<T*>(call.C);
  for (int64_t c = 0; c < columns; c += NR)
    product_tile<T, V>(a, b + c * depth, depth, sign, C + (column + c) * call.ldc + row, call.ldc,
                       rows, columns - c);
}

template <class T>
CHOL_INLINE const T* operand_at(const void* base, int64_t ld, bool adjoint, int64_t row,
                                int64_t column) {
  return static_cast<const T*>(base) + (adjoint ? column + row * ld : row + column * ld);
}

template <class T>
inline void multiply_packed(const host::ProductCall& call, void* buffer) {
  using Shape = ProductShape<T>;
  constexpr int W = Shape::W, NR = Shape::kColumns, MR = Shape::kRows;
  T* const packed_b = static_cast<T*>(buffer);
  T* const packed_a = packed_b + (Shape::kBlockColumns + NR) * Shape::kDepth;
  for (int64_t j = 0; j < call.n; j += Shape::kBlockColumns) {
    const int64_t columns = smaller(Shape::kBlockColumns, call.n - j);
    for (int64_t k = 0; k < call.k; k += Shape::kDepth) {
      const int64_t depth = smaller(Shape::kDepth, call.k - k);
      const int sign = k > 0 && call.sign == 0 ? 1 : call.sign;
      for (int64_t c = 0; c < columns; c += NR)
        pack_columns(call.adjoint_b, operand_at<T>(call.B, call.ldb, call.adjoint_b, k, j + c),
                     call.ldb, columns - c, depth, packed_b + c * depth);
      for (int64_t i = 0; i < call.m; i += MR) {
        const int64_t rows = smaller<int64_t>(MR, call.m - i);
        const T* A = operand_at<T>(call.A, call.lda, call.adjoint_a, i, k);
        if (rows > 2 * W && Shape::kVectors == 3) {
          pack_rows<T, Shape::kVectors>(call.adjoint_a, A, call.lda, rows, depth, packed_a);
          row_of_tiles<T, Shape::kVectors>(call, packed_a, packed_b, depth, sign, i, j, columns,
                                           rows);
        } else if (rows > W) {
          pack_rows<T, 2>(call.adjoint_a, A, call.lda, rows, depth, packed_a);
          row_of_tiles<T, 2>(call, packed_a, packed_b, depth, sign, i, j, columns, rows);
        } else {
          pack_rows<T, 1>(call.adjoint_a, A, call.lda, rows, depth, packed_a);
          row_of_tiles<T, 1>(call, packed_a, packed_b, depth, sign, i, j, columns, rows);
        }
      }
    }
  }
}

/// y := A x, or y plus or minus that, for four columns of A at a time.
template <class T>
inline void multiply_vector(const host::ProductCall& call, const T* x, int64_t step, T* y) {
  constexpr int W = Elements<T>::width;
  const T* A = static_cast<const T*>(call.A);
  using Reals = Vec<RealOf<T>>;
  const Reals factor = Reals::broadcast(call.sign < 0 ? RealOf<T>(1) : RealOf<T>(-1));
  for (int64_t i = 0; i < call.m; i += W) {
    const int64_t left = call.m - i;
    Elements<T> t[4];
    CHOL_UNROLL
    for (int u = 0; u < 4; ++u) t[u] = Elements<T>::zero();
    const auto element = [&](int64_t k) {
      return left >= W ? Elements<T>::load(A + i + k * call.lda)
                       : Elements<T>::load_range(A + i + k * call.lda, 0, left);
    };
    const auto scalar = [&](int64_t k) {
      T value = x[k * step];
      if (call.adjoint_b) value = conjugate(value);
      return value;
    };
    int64_t k = 0;
    for (; k + 4 <= call.k; k += 4) CHOL_UNROLL
    for (int u = 0; u < 4; ++u) {
      const T s = scalar(k + u);
      t[u] = subtract<false>(t[u], Operand<T>(element(k + u)), Scalar<T>(&s));
    }
    for (; k < call.k; ++k) {
      const T s = scalar(k);
      t[0] = subtract<false>(t[0], Operand<T>(element(k)), Scalar<T>(&s));
    }
    const Reals one = Reals::broadcast(1);
    const Reals sum = fma(fma(t[0].v, t[1].v, one), fma(t[2].v, t[3].v, one), one);
    if (left >= W) {
      const Elements<T> old = call.sign == 0 ? Elements<T>::zero() : Elements<T>::load(y + i);
      Elements<T>{fma(old.v, sum, factor)}.store(y + i);
    } else {
      const Elements<T> old =
          call.sign == 0 ? Elements<T>::zero() : Elements<T>::load_range(y + i, 0, left);
      Elements<T>{fma(old.v, sum, factor)}.store_range(y + i, 0, left);
    }
  }
}

/// Sums of a vector's lanes: all, or of complex numbers the real and the imaginary ones.
template <class T>
CHOL_INLINE T sum_of_lanes(Elements<T> a) {
  if constexpr (is_complex<T>) {
    T out = {0, 0};
    T lanes[Elements<T>::width];
    a.store(lanes);
    for (int i = 0; i < Elements<T>::width; ++i) {
      out.re += lanes[i].re;
      out.im += lanes[i].im;
    }
    return out;
  } else {
    return sum(a.v);
  }
}

/// y := A^H x, or y plus or minus that, for four columns of A at a time.
template <class T>
inline void multiply_adjoint_vector(const host::ProductCall& call, const T* x, T* y) {
  constexpr int W = Elements<T>::width;
  const T* A = static_cast<const T*>(call.A);
  for (int64_t c = 0; c < call.m; c += 4) {
    // Products with the real parts of A, and of complex numbers with the imaginary ones: lanes of
    // x times lanes of A, and x with its parts swapped.
    Elements<T> re[4], im[4];
    CHOL_UNROLL
    for (int u = 0; u < 4; ++u) re[u] = im[u] = Elements<T>::zero();
    for (int64_t k = 0; k < call.k; k += W) {
      const int64_t left = call.k - k;
      const Elements<T> e =
          left >= W ? Elements<T>::load(x + k) : Elements<T>::load_range(x + k, 0, left);
      CHOL_UNROLL
      for (int u = 0; u < 4; ++u) {
        const T* column = A + (c + u < call.m ? c + u : c) * call.lda + k;
        const Elements<T> a =
            left >= W ? Elements<T>::load(column) : Elements<T>::load_range(column, 0, left);
        re[u].v = fma(re[u].v, a.v, e.v);
        if constexpr (is_complex<T>) im[u].v = fma(im[u].v, a.v, swap_pairs(e.v));
      }
    }
    for (int64_t u = 0; u < smaller<int64_t>(4, call.m - c); ++u) {
      T value = sum_of_lanes(re[u]);
      if constexpr (is_complex<T>) {
        // conj(a) x = (a_re x_re + a_im x_im) + i (a_re x_im - a_im x_re).
        const T crossed = sum_of_lanes(im[u]);
        value = {value.re + value.im, crossed.re - crossed.im};
        T& to = y[c + u];
        const RealOf<T> s = call.sign < 0 ? RealOf<T>(-1) : RealOf<T>(1);
        to = call.sign == 0 ? value : T{to.re + s * value.re, to.im + s * value.im};
      } else {
        T& to = y[c + u];
        to = call.sign == 0 ? value : to + (call.sign < 0 ? -value : value);
      }
    }
  }
}

template <class T>
inline void clear(const host::ProductCall& call) {
  T* C = static_cast<T*>(call.C);
  for (int64_t c = 0; c < call.n; ++c)
    for (int64_t i = 0; i < call.m; ++i) C[i + c * call.ldc] = zero_element<T>();
}

template <class T>
void multiply(const host::ProductCall& call, void* buffer) {
  if (call.m <= 0 || call.n <= 0) return;
  if (call.k <= 0) {
    if (call.sign == 0) clear<T>(call);
    return;
  }
  // Packing pays if the packed operand is used several times.
  if (call.n <= 2 && !(call.adjoint_a && call.adjoint_b)) {
    const T* B = static_cast<const T*>(call.B);
    T* C = static_cast<T*>(call.C);
    for (int64_t c = 0; c < call.n; ++c) {
      if (call.adjoint_a)
        multiply_adjoint_vector(call, B + c * call.ldb, C + c * call.ldc);
      else if (call.adjoint_b)
        multiply_vector(call, B + c, call.ldb, C + c * call.ldc);
      else
        multiply_vector(call, B + c * call.ldb, 1, C + c * call.ldc);
    }
    return;
  }
  multiply_packed<T>(call, buffer);
}

/// The sum of the squared real and imaginary parts, in vectors of accumulators.
template <class T>
CHOL_INLINE RealOf<T> squared_length(const T* x, int64_t n) {
  constexpr int W = Elements<T>::width;
  using Reals = Vec<RealOf<T>>;
  Reals t[2] = {Reals::zero(), Reals::zero()};
  for (int64_t i = 0; i < n; i += W) {
    const Reals e =
        (n - i >= W ? Elements<T>::load(x + i) : Elements<T>::load_range(x + i, 0, n - i)).v;
    t[i / W % 2] = fma(t[i / W % 2], e, e);
  }
  return sum(fma(t[0], t[1], Reals::broadcast(1)));
}

/// y -= s * w; returns the squared length of the result.
template <class T>
CHOL_INLINE RealOf<T> subtract_multiple(T* y, const T& s, const T* w, int64_t n) {
  constexpr int W = Elements<T>::width;
  using Reals = Vec<RealOf<T>>;
  const Scalar<T> factor(&s);
  Reals t = Reals::zero();
  for (int64_t i = 0; i < n; i += W) {
    if (n - i >= W) {
      const Elements<T> e =
          subtract<false>(Elements<T>::load(y + i), Operand<T>(Elements<T>::load(w + i)), factor);
      e.store(y + i);
      t = fma(t, e.v, e.v);
    } else {
      const Elements<T> e =
          subtract<false>(Elements<T>::load_range(y + i, 0, n - i),
                          Operand<T>(Elements<T>::load_range(w + i, 0, n - i)), factor);
      e.store_range(y + i, 0, n - i);
      t = fma(t, e.v, e.v);
    }
  }
  return sum(t);
}

/// Gram-Schmidt with column pivoting, every new column of W orthogonalized twice.
template <class T>
void find_basis(host::PivotedBasis& basis) {
  using R = RealOf<T>;
  const int64_t m = basis.m, n = basis.n;
  T *const A = static_cast<T*>(basis.A), *const W = static_cast<T*>(basis.W);
  T *const S = static_cast<T*>(basis.S), *const row = static_cast<T*>(basis.row);
  int64_t chosen = 0;
  R total = 0, most = -1;
  const auto consider = [&](int64_t c, R length) {
    total += length;
    if (length > most) {
      most = length;
      chosen = c;
    }
  };
  for (int64_t c = 0; c < n; ++c) consider(c, squared_length(A + c * m, m));
  for (basis.rank = 0;; ++basis.rank) {
    const int64_t r = basis.rank;
    basis.left = __builtin_sqrt(double(total));
    basis.longest = __builtin_sqrt(double(larger(most, R(0))));
    if (!(basis.left > basis.tolerance) || r == smaller(m, n) || !(most > R(0))) return;
    T* const w = W + r * m;
    for (int64_t i = 0; i < m; ++i) w[i] = A[i + chosen * m];
    host::ProductCall call;
    call.A = W;
    call.lda = m;
    call.m = r;
    call.k = m;
    if (r > 0) multiply_adjoint_vector(call, w, row);
    for (int64_t t = 0; t < r; ++t) subtract_multiple(w, row[t], W + t * m, m);
    const R length = square_root(squared_length(w, m));
    if (!(length > R(0))) return;
    for (int64_t i = 0; i < m; i += Elements<T>::width) {
      const int64_t left = m - i;
      if (left >= Elements<T>::width)
        Elements<T>::load(w + i).scaled(R(1) / length).store(w + i);
      else
        Elements<T>::load_range(w + i, 0, left).scaled(R(1) / length).store_range(w + i, 0, left);
    }
    // row := A^H w is the adjoint of a row of S.
    call.A = A;
    call.m = n;
    multiply_adjoint_vector(call, w, row);
    total = 0;
    most = -1;
    for (int64_t c = 0; c < n; ++c) {
      const T s = conjugate(row[c]);
      S[r + c * basis.lds] = s;
      consider(c, subtract_multiple(A + c * m, s, w, m));
    }
  }
}

/// exp(-x) by 2^k exp(r), |r| <= log(2)/2, with the Taylor polynomial of degree 13 (its remainder
/// is 2e-18): branch-free, so that the compiler makes vectors of it.
inline void decay(double* x, int64_t n, double scale) {
  constexpr double kShift = 0x1.8p52;  // k is in the last bits of a number of this size
  for (int64_t i = 0; i < n; ++i) {
    const double a = x[i];
    const double t = a < 708 ? -a : -708.0;
    const double shifted = t * 0x1.71547652b82fep0 + kShift;
    const double k = shifted - kShift;
    const double r = (t - k * 0x1.62e42fefa3800p-1) - k * 0x1.ef35793c76730p-45;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const int64_t bits = __builtin_bit_cast(int64_t, shifted) - __builtin_bit_cast(int64_t, kShift);
    const double power = __builtin_bit_cast(double, (bits + 1023) << 52);
    const double value = p * power * scale;
    x[i] = a < 708 ? value : (a >= 708 ? 0.0 : a);
  }
}

inline void scaled_root(double* x, int64_t n, double factor) {
  for (int64_t i = 0; i < n; ++i) x[i] = factor * __builtin_sqrt(x[i]);
}

inline void add_squared_distance(double* r2, const double* x, double y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const double d = x[i] - y;
    r2[i] += d * d;
  }
}

template <class T>
constexpr host::Products product_table(const char* isa) {
  return {isa,         ProductShape<T>::kBufferBytes, multiply<T>, find_basis<T>, decay,
          scaled_root, add_squared_distance};
}

}  // namespace chol::CHOL_ISA

// The precision this translation unit is compiled for.
#define CHOL_JOIN_PRODUCTS(isa, letter) isa##_##letter##_products
#define CHOL_PRODUCTS_NAME(isa, letter) CHOL_JOIN_PRODUCTS(isa, letter)
#define CHOL_DEFINE_PRODUCTS(isa_text)                                         \
  namespace chol::CHOL_ISA {                                                   \
  using ProductElement = CHOL_ELEMENT;                                         \
  }                                                                            \
  namespace chol::host {                                                       \
  extern const Products CHOL_PRODUCTS_NAME(CHOL_ISA, CHOL_PRECISION);          \
  const Products CHOL_PRODUCTS_NAME(CHOL_ISA, CHOL_PRECISION) =                \
      chol::CHOL_ISA::product_table<chol::CHOL_ISA::ProductElement>(isa_text); \
  }
