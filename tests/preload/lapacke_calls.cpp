// Calls every LAPACKE function that the preload intercepts, in both layouts, on good and on bad
// arguments, and prints everything that a caller can see except rounding. It does not use chol: its
// output must be the same with and without the preload.
#include <cstdio>
#include <tuple>
#include <utility>

#include "preload/small_matrix.hpp"

#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <lapacke.h>

#include "base/precisions.h"

using namespace chol::test::preload;

/// The program's own xerbla_: LAPACK's would end the program.
extern "C" __attribute__((visibility("default"))) void xerbla_(const char* name,
                                                               const int* position, size_t length) {
  std::printf("  xerbla_ %.*s, argument %d\n", static_cast<int>(length), name, *position);
}

namespace {

template <class T>
struct Lapacke;
#define CHOL_DEFINE_LAPACKE(p, T, R)                            \
  template <>                                                   \
  struct Lapacke<T> {                                           \
    static constexpr char letter = #p[0];                       \
    static constexpr auto potrf = LAPACKE_##p##potrf;           \
    static constexpr auto potrf_work = LAPACKE_##p##potrf_work; \
    static constexpr auto potri = LAPACKE_##p##potri;           \
    static constexpr auto potri_work = LAPACKE_##p##potri_work; \
    static constexpr auto potrs = LAPACKE_##p##potrs;           \
    static constexpr auto potrs_work = LAPACKE_##p##potrs_work; \
    static constexpr auto posv = LAPACKE_##p##posv;             \
    static constexpr auto posv_work = LAPACKE_##p##posv_work;   \
  };
CHOL_FOR_EACH_PRECISION(CHOL_DEFINE_LAPACKE)

constexpr char flipped(char uplo) { return uplo == 'L' ? 'U' : 'L'; }

/// The matrix of a call: a row-major triangle is the other one of the conjugate.
template <class T>
SmallMatrix<T> matrix_of(int layout, char uplo, int n) {
  return SmallMatrix<T>(layout == LAPACK_COL_MAJOR ? uplo : flipped(uplo), n, n + 2);
}

template <class T>
std::vector<T> row_major(const std::vector<T>& columns, int n, int nrhs, int ldb) {
  std::vector<T> rows(static_cast<size_t>(n) * (nrhs + 1), T(-77));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < nrhs; ++j)
      rows[i * (nrhs + 1) + j] =
          SmallMatrix<T>::conjugate(columns[i + static_cast<size_t>(j) * ldb]);
  return rows;
}

template <class T, class Potrf, class Potri>
void on_matrix(const char* form, Potrf potrf, Potri potri, int layout, char uplo, int n,
               Damage damage) {
  SmallMatrix<T> A = matrix_of<T>(layout, uplo, n);
  A.damage(damage, n / 2);
  const SmallMatrix<T> input = A;
  int info = potrf(layout, uplo, n, A.data(), n + 2);
  std::printf("%cpotrf%s %d %c n=%d %s: %d %s\n", Lapacke<T>::letter, form, layout, uplo, n,
              name_of(damage), info, info >= 0 ? A.judge_factor(input, info) : "");
  if (info != 0) return;
  info = potri(layout, uplo, n, A.data(), n + 2);
  std::printf("%cpotri%s: %d %s\n", Lapacke<T>::letter, form, info, A.judge_inverse(input));
}

template <class T, class Solve>
void with_rhs(const char* name, Solve solve, SmallMatrix<T>& A, const SmallMatrix<T>& input,
              int layout, char uplo, int nrhs) {
  const int n = A.n(), ldb = n + 1;
  SmallRhs<T> B(input, nrhs, ldb);
  int info = 0;
  if (layout == LAPACK_COL_MAJOR) {
    info = solve(layout, uplo, n, nrhs, A.data(), n + 2, B.data(), ldb);
  } else {
    std::vector<T> rows = row_major(B.elements(), n, nrhs, ldb);
    info = solve(layout, uplo, n, nrhs, A.data(), n + 2, rows.data(), nrhs + 1);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < nrhs; ++j)
        B.data()[i + static_cast<size_t>(j) * ldb] =
            SmallMatrix<T>::conjugate(rows[i * (nrhs + 1) + j]);
  }
  std::printf("%c%s %d %c n=%d nrhs=%d: %d %s\n", Lapacke<T>::letter, name, layout, uplo, n, nrhs,
              info, B.judge(info == 0));
}

template <class T, class Posv, class Potrs>
void systems(const char* form, Posv posv, Potrs potrs, int layout, char uplo, int n,
             Damage damage) {
  SmallMatrix<T> A = matrix_of<T>(layout, uplo, n);
  A.damage(damage, n / 2);
  const SmallMatrix<T> input = A;
  for (const int nrhs : {1, 4}) {
    SmallMatrix<T> factor = input;
    std::printf("%s%s, %s:\n", "systems", form, name_of(damage));
    with_rhs("posv", posv, factor, input, layout, uplo, nrhs);
    if (damage == Damage::none) with_rhs("potrs", potrs, factor, input, layout, uplo, nrhs);
  }
}

/// Every argument wrong in turn, in both layouts.
template <class T, class OnMatrix, class WithRhs>
void wrong_arguments(OnMatrix on_matrix, WithRhs with_rhs) {
  SmallMatrix<T> A('L', 4, 4);
  const SmallMatrix<T> input = A;
  SmallRhs<T> B(A, 2, 4);
  for (const int layout : {LAPACK_ROW_MAJOR, LAPACK_COL_MAJOR, 7}) {
    for (const auto& [uplo, n, lda] :
         {std::tuple{'x', 4, 4}, {'L', -1, 4}, {'L', 4, 3}, {'U', 0, 0}})
      std::printf("%c matrix: %d\n", Lapacke<T>::letter, on_matrix(layout, uplo, n, A.data(), lda));
    for (const auto& [uplo, n, nrhs, lda, ldb] : {std::tuple{'x', 4, 2, 4, 4},
                                                  {'L', -1, 2, 4, 4},
                                                  {'L', 4, -1, 4, 4},
                                                  {'L', 4, 2, 3, 4},
                                                  {'U', 4, 2, 4, 1},
                                                  {'U', 0, 0, 0, 0}})
      std::printf("%c system: %d\n", Lapacke<T>::letter,
                  with_rhs(layout, uplo, n, nrhs, A.data(), lda, B.data(), ldb));
  }
  std::printf("the matrix is %s\n", A == input ? "untouched" : "changed");
}

template <class T>
void all() {
  using F = Lapacke<T>;
  for (const int layout : {LAPACK_ROW_MAJOR, LAPACK_COL_MAJOR})
    for (const char uplo : {'L', 'U'})
      for (const int n : {1, 2, 7, 40})
        for (const Damage damage : kDamages) {
          on_matrix<T>("", F::potrf, F::potri, layout, uplo, n, damage);
          on_matrix<T>("_work", F::potrf_work, F::potri_work, layout, uplo, n, damage);
          systems<T>("", F::posv, F::potrs, layout, uplo, n, damage);
          systems<T>("_work", F::posv_work, F::potrs_work, layout, uplo, n, damage);
        }
  wrong_arguments<T>(F::potrf, F::potrs);
  wrong_arguments<T>(F::potrf_work, F::potrs_work);
  wrong_arguments<T>(F::potri, F::posv);
  wrong_arguments<T>(F::potri_work, F::posv_work);
}

}  // namespace

int main() {
  // Without the NaN check LAPACK itself must find it.
  for (const int check : {1, 0}) {
    LAPACKE_set_nancheck(check);
    all<float>();
    all<double>();
    all<std::complex<float>>();
    all<std::complex<double>>();
  }
  return 0;
}
