// Reference LAPACK, linked statically if the system has its archive, so that no other BLAS replaces
// it.
#pragma once

#include "support/dense.hpp"

namespace chol::test {

/// Factors the lower triangle; LAPACK's info. The strict upper triangle of L is zero.
template <class T>
int lapack_potrf(const Dense<T>& A, Dense<T>* L);

/// The inverse, whole, from the lower factor.
template <class T>
Dense<T> lapack_potri(const Dense<T>& L);

/// The reciprocal condition number that LAPACK estimates from the lower factor.
template <class T>
RealOf<T> lapack_pocon(const Dense<T>& L, RealOf<T> anorm);

/// A well-conditioned matrix of a given order with LAPACK's results, computed once.
template <class T>
struct Reference {
  Dense<T> A, L;
};
/// @param variant distinguishes matrices of one order.
template <class T>
const Reference<T>& reference(int64_t n, int variant = 0);

/// LAPACK's inverse of reference<T>(n).A, computed once.
template <class T>
const Dense<T>& reference_inverse(int64_t n, int variant = 0);

}  // namespace chol::test
