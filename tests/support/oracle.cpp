#include "support/oracle.hpp"

#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <lapacke.h>

#include <map>
#include <utility>

#include "base/precisions.h"
#include "support/random.hpp"

namespace chol::test {
namespace {

template <class T>
void clear_strict_upper(Dense<T>& L) {
  for (int64_t j = 0; j < L.columns; ++j)
    for (int64_t i = 0; i < j; ++i) L(i, j) = 0;
}

int leading_dimension(int64_t n) { return static_cast<int>(n > 0 ? n : 1); }

/// The second work array of xPOCON: integers for the real types, reals for the complex ones.
template <class T>
using PoconWork = std::conditional_t<is_complex<T>, RealOf<T>, lapack_int>;

// The *_work functions of LAPACKE skip the check for NaN.
#define CHOL_DEFINE_LAPACK(p, T, R)                                                               \
  int potrf(int n, T* a, int lda) {                                                               \
    return LAPACKE_##p##potrf_work(LAPACK_COL_MAJOR, 'L', n, a, lda);                             \
  }                                                                                               \
  int potri(int n, T* a, int lda) {                                                               \
    return LAPACKE_##p##potri_work(LAPACK_COL_MAJOR, 'L', n, a, lda);                             \
  }                                                                                               \
  int pocon(int n, const T* a, int lda, R anorm, R* rcond, T* work, PoconWork<T>* second) {       \
    return LAPACKE_##p##pocon_work(LAPACK_COL_MAJOR, 'L', n, a, lda, anorm, rcond, work, second); \
  }
CHOL_FOR_EACH_PRECISION(CHOL_DEFINE_LAPACK)
#undef CHOL_DEFINE_LAPACK

}  // namespace

template <class T>
int lapack_potrf(const Dense<T>& A, Dense<T>* L) {
  *L = A;
  const int info = potrf(static_cast<int>(A.rows), L->values.data(), leading_dimension(A.rows));
  clear_strict_upper(*L);
  return info;
}

template <class T>
Dense<T> lapack_potri(const Dense<T>& L) {
  Dense<T> X = L;
  potri(static_cast<int>(L.rows), X.values.data(), leading_dimension(L.rows));
  for_each_in_triangle(X.rows, false, [&](int64_t i, int64_t j) { X(j, i) = conjugate(X(i, j)); });
  return X;
}

template <class T>
RealOf<T> lapack_pocon(const Dense<T>& L, RealOf<T> anorm) {
  const auto n = static_cast<size_t>(L.rows);
  std::vector<T> work(3 * n + 1);
  std::vector<PoconWork<T>> second(n + 1);
  RealOf<T> rcond = -1;
  pocon(static_cast<int>(n), L.values.data(), leading_dimension(L.rows), anorm, &rcond, work.data(),
        second.data());
  return rcond;
}

template <class T>
const Reference<T>& reference(int64_t n, int variant) {
  static std::map<std::pair<int64_t, int>, Reference<T>> cache;
  Reference<T>& entry = cache[{n, variant}];
  if (entry.A.rows != n) {
    Random random(static_cast<uint64_t>(n) * 1000 + static_cast<uint64_t>(variant));
    entry.A = random_spd<T>(n, random);
    lapack_potrf(entry.A, &entry.L);
  }
  return entry;
}

template <class T>
const Dense<T>& reference_inverse(int64_t n, int variant) {
  static std::map<std::pair<int64_t, int>, Dense<T>> cache;
  Dense<T>& entry = cache[{n, variant}];
  if (entry.rows != n) entry = lapack_potri(reference<T>(n, variant).L);
  return entry;
}

#define CHOL_INSTANTIATE_ORACLE(p, T, R)                   \
  template int lapack_potrf(const Dense<T>&, Dense<T>*);   \
  template Dense<T> lapack_potri(const Dense<T>&);         \
  template R lapack_pocon(const Dense<T>&, R);             \
  template const Reference<T>& reference<T>(int64_t, int); \
  template const Dense<T>& reference_inverse<T>(int64_t, int);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE_ORACLE)
#undef CHOL_INSTANTIATE_ORACLE

}  // namespace chol::test
