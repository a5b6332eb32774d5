// The intercepted names: routines and name decorations in use. Every wrapper is generated from
// these lists and from base/precisions.h.
#pragma once

// CHOL_FOR_EACH_DECORATION(X, ...) expands X(before, after, Integer, ...): dpotrf is called
// before##dpotrf##after, and its sizes and info are of type Integer.
//   LP64:  Fortran compilers; C sources and MKL; the OpenBLAS of SciPy's wheels
//   ILP64: reference LAPACK and OpenBLAS; MKL and Julia; the OpenBLAS of NumPy's wheels
#define CHOL_FOR_EACH_DECORATION(X, ...) \
  X(, _, int32_t, __VA_ARGS__)           \
  X(, , int32_t, __VA_ARGS__)            \
  X(scipy_, _, int32_t, __VA_ARGS__)     \
  X(scipy_, , int32_t, __VA_ARGS__)      \
  X(, _64_, int64_t, __VA_ARGS__)        \
  X(, 64_, int64_t, __VA_ARGS__)         \
  X(scipy_, _64_, int64_t, __VA_ARGS__)  \
  X(scipy_, 64_, int64_t, __VA_ARGS__)

// CHOL_FOR_EACH_FACTORIZATION(X, ...) expands X(routine, ...): LAPACK's names of one factorization.
#define CHOL_FOR_EACH_FACTORIZATION(X, ...) \
  X(potrf, __VA_ARGS__)                     \
  X(potrf2, __VA_ARGS__)                    \
  X(potf2, __VA_ARGS__)

// CHOL_FOR_EACH_LAPACKE_FORM(X, ...) expands X(work, after, Integer, ...):
// LAPACKE_dpotrf##work##after.
#define CHOL_FOR_EACH_LAPACKE_FORM(X, ...) \
  X(, , int32_t, __VA_ARGS__)              \
  X(_work, , int32_t, __VA_ARGS__)         \
  X(, _64, int64_t, __VA_ARGS__)           \
  X(_work, _64, int64_t, __VA_ARGS__)
