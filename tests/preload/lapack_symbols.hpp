// LAPACK as the programs of this folder call it: declared by name, found by the linker.
#pragma once

#include <complex>
#include <cstddef>

#include "base/precisions.h"

#define CHOL_DECLARE_LAPACK(p, T, R)                                                              \
  extern "C" {                                                                                    \
  void p##potrf_(const char*, const int*, T*, const int*, int*, size_t);                          \
  void p##potrf2_(const char*, const int*, T*, const int*, int*, size_t);                         \
  void p##potf2_(const char*, const int*, T*, const int*, int*, size_t);                          \
  void p##potri_(const char*, const int*, T*, const int*, int*, size_t);                          \
  void p##potrs_(const char*, const int*, const int*, const T*, const int*, T*, const int*, int*, \
                 size_t);                                                                         \
  void p##posv_(const char*, const int*, const int*, T*, const int*, T*, const int*, int*,        \
                size_t);                                                                          \
  }
CHOL_FOR_EACH_PRECISION(CHOL_DECLARE_LAPACK)
#undef CHOL_DECLARE_LAPACK

namespace chol::test::preload {

template <class T>
struct Lapack;
#define CHOL_DEFINE_LAPACK(p, T, R)                                                                \
  template <>                                                                                      \
  struct Lapack<T> {                                                                               \
    static constexpr char letter = #p[0];                                                          \
    static constexpr auto potrf = p##potrf_;                                                       \
    static constexpr auto potrf2 = p##potrf2_;                                                     \
    static constexpr auto potf2 = p##potf2_;                                                       \
    static constexpr auto potri = p##potri_;                                                       \
    static void potrs(const char* uplo, const int* n, const int* nrhs, T* A, const int* lda, T* B, \
                      const int* ldb, int* info, size_t length) {                                  \
      p##potrs_(uplo, n, nrhs, A, lda, B, ldb, info, length);                                      \
    }                                                                                              \
    static constexpr auto posv = p##posv_;                                                         \
  };
CHOL_FOR_EACH_PRECISION(CHOL_DEFINE_LAPACK)
#undef CHOL_DEFINE_LAPACK

template <class T>
inline constexpr char letter_of = Lapack<T>::letter;

}  // namespace chol::test::preload
