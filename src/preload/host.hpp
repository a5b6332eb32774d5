// Routines on host arrays by chol, with LAPACK's meaning of every result. Cases in which chol's
// results differ from LAPACK's are left to the original.
#pragma once

#include <cmath>
#include <limits>

#include "base/precisions.h"
#include "base/scalar.hpp"
#include "preload/thread_handle.hpp"

namespace chol::preload {

/// The C ABI by element type.
template <class T>
struct Api;
#define CHOL_DEFINE_API(p, T, R)                   \
  template <>                                      \
  struct Api<T> {                                  \
    static constexpr auto potrf = chol_##p##potrf; \
    static constexpr auto potrs = chol_##p##potrs; \
    static constexpr auto posv = chol_##p##posv;   \
    static constexpr auto potri = chol_##p##potri; \
  };
CHOL_FOR_EACH_PRECISION(CHOL_DEFINE_API)
#undef CHOL_DEFINE_API
template <class T>
inline constexpr auto posv_mixed = nullptr;
template <>
inline constexpr auto posv_mixed<double> = chol_dsposv;
template <>
inline constexpr auto posv_mixed<std::complex<double>> = chol_zcposv;

/// One system with checked arguments, in the form that all wrappers share.
template <class T>
struct System {
  chol_uplo_t uplo;
  int64_t n;
  int64_t nrhs;
  T* A;
  int64_t lda;
  T* B = nullptr;
  int64_t ldb = 1;
};

/// LAPACK accepts an infinite pivot as positive, chol does not. Updates cannot make a finite pivot
/// infinite.
template <class T>
bool has_infinite_pivot(const System<T>& system) {
  for (int64_t k = 0; k < system.n; ++k)
    if (std::real(system.A[k * (system.lda + 1)]) > std::numeric_limits<RealOf<T>>::max())
      return true;
  return false;
}

/// LAPACK solves with the diagonal as stored, chol with its real part; the diagonal of a Cholesky
/// factor is real.
template <class T>
bool has_complex_pivot(const System<T>& system) {
  if constexpr (is_complex<T>)
    for (int64_t k = 0; k < system.n; ++k)
      if (std::imag(system.A[k * (system.lda + 1)]) != 0) return true;
  return false;
}

/// Order 1 is a square root, which needs no handle. Returns info.
template <class T>
int factor_one(T& pivot) {
  const RealOf<T> value = std::real(pivot);
  const bool positive = value > 0;
  pivot = positive ? std::sqrt(value) : value;
  return positive ? 0 : 1;
}

/// Result of a routine computed by chol.
struct Outcome {
  int info = 0;  ///< what LAPACK's would be
  Place place = Place::host;
};

/// Calls chol with a handle and records where it ran.
template <class Call>
bool on_handle(int64_t n, Original& original, Outcome* outcome, Call&& call) {
  const HandleLease handle(n, original);
  if (!handle || call(static_cast<chol_handle_t>(handle)) != CHOL_STATUS_SUCCESS) return false;
  outcome->place = handle.place();
  return true;
}

// Each returns whether the routine was computed. Otherwise nothing was changed and the original
// must do it.

template <class T>
bool potrf(const System<T>& system, Original& original, Outcome* outcome) {
  if (system.n == 0) return true;
  if (system.n == 1) {
    outcome->info = factor_one(*system.A);
    return true;
  }
  if (has_infinite_pivot(system)) return false;
  return on_handle(system.n, original, outcome, [&](chol_handle_t handle) {
    return Api<T>::potrf(handle, system.uplo, system.n, system.A, system.lda, &outcome->info);
  });
}

template <class T>
bool potrs(const System<T>& system, Original& original, Outcome* outcome) {
  if (system.n == 0 || system.nrhs == 0) return true;
  if (has_complex_pivot(system)) return false;
  return on_handle(system.n, original, outcome, [&](chol_handle_t handle) {
    return Api<T>::potrs(handle, system.uplo, system.n, system.nrhs, system.A, system.lda, system.B,
                         system.ldb);
  });
}

template <class T>
bool posv(const System<T>& system, Original& original, Outcome* outcome) {
  if (system.n == 0) return true;
  if (has_infinite_pivot(system)) return false;
  return on_handle(system.n, original, outcome, [&](chol_handle_t handle) {
    return Api<T>::posv(handle, system.uplo, system.n, system.nrhs, system.A, system.lda, system.B,
                        system.ldb, &outcome->info);
  });
}

/// X of dsposv and zcposv, in addition to A and B.
template <class T>
struct MixedResult {
  T* X;
  int64_t ldx;
  int iter = 0;
};
template <class T>
bool sposv(const System<T>& system, MixedResult<T>& result, Original& original, Outcome* outcome) {
  if (system.n == 0) return true;
  if (system.nrhs == 0 || system.B == result.X || has_infinite_pivot(system)) return false;
  return on_handle(system.n, original, outcome, [&](chol_handle_t handle) {
    return posv_mixed<T>(handle, system.uplo, system.n, system.nrhs, system.A, system.lda, system.B,
                         system.ldb, result.X, result.ldx, &result.iter, &outcome->info);
  });
}

template <class T>
bool potri(const System<T>& system, Original& original, Outcome* outcome) {
  if (system.n == 0) return true;
  if (has_complex_pivot(system)) return false;
  return on_handle(system.n, original, outcome, [&](chol_handle_t handle) {
    return Api<T>::potri(handle, system.uplo, system.n, system.A, system.lda, &outcome->info);
  });
}

}  // namespace chol::preload
