// Calls every LAPACK routine that the preload intercepts, on good and on bad arguments, and prints
// everything that a caller can see except rounding: info, arguments of xerbla_, modified elements,
// accuracy of the result. It does not use chol: its output must be the same with and without the
// preload.
#include <cstdio>
#include <utility>

#include "preload/lapack_symbols.hpp"
#include "preload/small_matrix.hpp"

using namespace chol::test::preload;

/// The program's own xerbla_: LAPACK's would end the program.
extern "C" __attribute__((visibility("default"))) void xerbla_(const char* name,
                                                               const int* position, size_t length) {
  std::printf("  xerbla_ %.*s, argument %d\n", static_cast<int>(length), name, *position);
}

namespace {

template <class T>
void print(const char* what, char uplo, int n, const char* matrix, int info, const char* rest) {
  std::printf("%c%s %c n=%d %s: info=%d %s\n", letter_of<T>, what, uplo, n, matrix, info, rest);
}

template <class T>
void factorizations(char uplo, int n, Damage damage, int where) {
  const int lda = n + 3;
  for (const auto& [name, routine] :
       {std::pair{"potrf", Lapack<T>::potrf}, std::pair{"potrf2", Lapack<T>::potrf2},
        std::pair{"potf2", Lapack<T>::potf2}}) {
    SmallMatrix<T> A(uplo, n, lda);
    A.damage(damage, where);
    const SmallMatrix<T> input = A;
    int info = -99;
    routine(&uplo, &n, A.data(), &lda, &info, 1);
    print<T>(name, uplo, n, name_of(damage), info, A.judge_factor(input, info));
  }
}

template <class T>
void systems(char uplo, int n, int nrhs, Damage damage, int where) {
  const int lda = n + 1, ldb = n + 2;
  SmallMatrix<T> A(uplo, n, lda);
  A.damage(damage, where);
  const SmallMatrix<T> input = A;
  SmallRhs<T> B(input, nrhs, ldb);
  int info = -99;
  Lapack<T>::posv(&uplo, &n, &nrhs, A.data(), &lda, B.data(), &ldb, &info, 1);
  print<T>("posv", uplo, n, name_of(damage), info, B.judge(info == 0));
  if (info != 0) return;
  SmallRhs<T> C(input, nrhs, ldb);
  Lapack<T>::potrs(&uplo, &n, &nrhs, A.data(), &lda, C.data(), &ldb, &info, 1);
  print<T>("potrs", uplo, n, name_of(damage), info, C.judge(true));
  Lapack<T>::potri(&uplo, &n, A.data(), &lda, &info, 1);
  print<T>("potri", uplo, n, name_of(damage), info, A.judge_inverse(input));
}

template <class T>
void zero_pivot(char uplo, int n, int where) {
  SmallMatrix<T> A(uplo, n, n);
  int info = -99;
  Lapack<T>::potrf(&uplo, &n, A.data(), &n, &info, 1);
  A.at(where, where) = 0;
  Lapack<T>::potri(&uplo, &n, A.data(), &n, &info, 1);
  print<T>("potri", uplo, n, "with a zero on the factor's diagonal", info, "");
}

/// Every argument invalid in turn; of several the first is reported.
template <class T>
void wrong_arguments() {
  SmallMatrix<T> A('L', 4, 4);
  const SmallMatrix<T> input = A;
  SmallRhs<T> B(A, 2, 4);
  struct Case {
    char uplo;
    int n, nrhs, lda, ldb;
  };
  for (const Case& c :
       {Case{'x', 4, 2, 4, 4}, Case{'L', -1, 2, 4, 4}, Case{'L', 4, -2, 4, 4},
        Case{'U', 4, 2, 3, 4}, Case{'L', 4, 2, 4, 3}, Case{'L', 0, 2, 0, 1}, Case{'L', 0, 2, 1, 0},
        Case{'?', -1, -1, -1, -1}, Case{'L', -1, -1, 0, 0}}) {
    int info = -99;
    for (auto* routine : {Lapack<T>::potrf, Lapack<T>::potrf2, Lapack<T>::potf2, Lapack<T>::potri})
      if (c.nrhs >= 0 && c.ldb >= c.n && !(c.n == 4 && c.uplo == 'L' && c.lda == 4)) {
        routine(&c.uplo, &c.n, A.data(), &c.lda, &info, 1);
        std::printf("%c matrix: info=%d\n", letter_of<T>, info);
      }
    for (auto* routine : {Lapack<T>::potrs, Lapack<T>::posv}) {
      info = -99;
      routine(&c.uplo, &c.n, &c.nrhs, A.data(), &c.lda, B.data(), &c.ldb, &info, 1);
      std::printf("%c system: info=%d\n", letter_of<T>, info);
    }
  }
  std::printf("the matrix is %s\n", A == input ? "untouched" : "changed");
}

template <class T>
void damaged(char uplo, int n, Damage damage) {
  for (const int where : {0, n / 2, n - 1}) {
    if (where > 0 && (damage == Damage::none || n <= 2)) continue;
    factorizations<T>(uplo, n, damage, where);
    systems<T>(uplo, n, 1, damage, where);
  }
}

template <class T>
void all() {
  for (const char uplo : {'L', 'U', 'l', 'u'}) {
    for (const int n : {1, 2, 3, 8, 17, 50})
      for (const Damage damage : kDamages) damaged<T>(uplo, n, damage);
    for (const int n : {0, 1, 2, 3, 8, 17, 50, 131}) {
      systems<T>(uplo, n, 0, Damage::none, 0);
      systems<T>(uplo, n, 5, Damage::none, 0);
      if (n > 0) zero_pivot<T>(uplo, n, n / 3);
    }
  }
  // Orders with blocked and threaded algorithms.
  for (const char uplo : {'L', 'U'})
    for (const Damage damage : {Damage::none, Damage::negative, Damage::infinite})
      factorizations<T>(uplo, 400, damage, 300);
  wrong_arguments<T>();
}

}  // namespace

int main() {
  all<float>();
  all<double>();
  all<std::complex<float>>();
  all<std::complex<double>>();
  return 0;
}
