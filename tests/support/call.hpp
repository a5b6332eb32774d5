// One call of a routine in any of its forms: every argument of a form, and the C function that
// takes them.
#pragma once

#include <string>

#include "base/scalar.hpp"
#include "support/api.hpp"

namespace chol::test {

enum class Function { potrf, potrs, posv, potri, pocon, logdet };
inline constexpr Function kFunctions[] = {Function::potrf, Function::potrs, Function::posv,
                                          Function::potri, Function::pocon, Function::logdet};

/// The one-matrix form and the four batch layouts.
enum class Layout { one, batched, strided, variable, interleaved };
inline constexpr Layout kLayouts[] = {Layout::one, Layout::batched, Layout::strided,
                                      Layout::variable, Layout::interleaved};
/// Whether matrices of different orders go into one call, or into one call each.
constexpr bool mixes_orders(Layout layout) {
  return layout == Layout::one || layout == Layout::variable;
}

constexpr bool has_rhs(Function f) { return f == Function::potrs || f == Function::posv; }
constexpr bool has_info(Function f) {
  return f == Function::potrf || f == Function::posv || f == Function::potri;
}
constexpr bool has_result(Function f) { return f == Function::pocon || f == Function::logdet; }
constexpr bool writes_matrix(Function f) { return has_info(f); }
/// pocon has the one-matrix form only.
constexpr bool exists(Function f, Layout layout) {
  return f != Function::pocon || layout == Layout::one;
}

inline const char* layout_name(Layout layout) {
  constexpr const char* kNames[] = {"one", "batched", "strided", "variable", "interleaved"};
  return kNames[static_cast<int>(layout)];
}

/// The public name, such as chol_dpotrf_vbatched.
inline std::string public_name(char precision, Function f, Layout layout) {
  constexpr const char* kNames[] = {"potrf", "potrs", "posv", "potri", "pocon", "logdet"};
  constexpr const char* kSuffixes[] = {"", "_batched", "_strided_batched", "_vbatched",
                                       "_interleaved"};
  return std::string("chol_") + precision + kNames[static_cast<int>(f)] +
         kSuffixes[static_cast<int>(layout)];
}

template <class T>
struct Call {
  Function function = Function::potrf;
  Layout layout = Layout::one;
  chol_uplo_t uplo = CHOL_LOWER;
  int64_t n = 0;           ///< max_n in the variable form
  int64_t nrhs = 0;        ///< max_nrhs in the variable form
  T* A = nullptr;          ///< one, strided
  T* const* As = nullptr;  ///< batched, variable
  int64_t lda = 1;
  int64_t strideA = 0;
  T* B = nullptr;
  T* const* Bs = nullptr;
  int64_t ldb = 1;
  int64_t strideB = 0;
  const int64_t* ns = nullptr;  ///< variable: the arrays of sizes
  const int64_t* nrhss = nullptr;
  const int64_t* ldas = nullptr;
  const int64_t* ldbs = nullptr;
  int64_t chunk = 1;  ///< interleaved
  int* info = nullptr;
  RealOf<T>* result = nullptr;
  RealOf<T> anorm = 0;
  int64_t batch = 1;
};

template <class T>
chol_status_t invoke_one(chol_handle_t h, const Call<T>& c) {
  switch (c.function) {
    case Function::potrf:
      return Api<T>::potrf(h, c.uplo, c.n, c.A, c.lda, c.info);
    case Function::potrs:
      return Api<T>::potrs(h, c.uplo, c.n, c.nrhs, c.A, c.lda, c.B, c.ldb);
    case Function::posv:
      return Api<T>::posv(h, c.uplo, c.n, c.nrhs, c.A, c.lda, c.B, c.ldb, c.info);
    case Function::potri:
      return Api<T>::potri(h, c.uplo, c.n, c.A, c.lda, c.info);
    case Function::pocon:
      return Api<T>::pocon(h, c.uplo, c.n, c.A, c.lda, c.anorm, c.result);
    case Function::logdet:
      return Api<T>::logdet(h, c.uplo, c.n, c.A, c.lda, c.result);
  }
  return CHOL_STATUS_INTERNAL;
}

template <class T>
chol_status_t invoke_batched(chol_handle_t h, const Call<T>& c) {
  switch (c.function) {
    case Function::potrf:
      return Api<T>::potrf_batched(h, c.uplo, c.n, c.As, c.lda, c.info, c.batch);
    case Function::potrs:
      return Api<T>::potrs_batched(h, c.uplo, c.n, c.nrhs, c.As, c.lda, c.Bs, c.ldb, c.batch);
    case Function::posv:
      return Api<T>::posv_batched(h, c.uplo, c.n, c.nrhs, c.As, c.lda, c.Bs, c.ldb, c.info,
                                  c.batch);
    case Function::potri:
      return Api<T>::potri_batched(h, c.uplo, c.n, c.As, c.lda, c.info, c.batch);
    case Function::logdet:
      return Api<T>::logdet_batched(h, c.uplo, c.n, c.As, c.lda, c.result, c.batch);
    case Function::pocon:
      break;
  }
  return CHOL_STATUS_INTERNAL;
}

template <class T>
chol_status_t invoke_strided(chol_handle_t h, const Call<T>& c) {
  switch (c.function) {
    case Function::potrf:
      return Api<T>::potrf_strided_batched(h, c.uplo, c.n, c.A, c.lda, c.strideA, c.info, c.batch);
    case Function::potrs:
      return Api<T>::potrs_strided_batched(h, c.uplo, c.n, c.nrhs, c.A, c.lda, c.strideA, c.B,
                                           c.ldb, c.strideB, c.batch);
    case Function::posv:
      return Api<T>::posv_strided_batched(h, c.uplo, c.n, c.nrhs, c.A, c.lda, c.strideA, c.B, c.ldb,
                                          c.strideB, c.info, c.batch);
    case Function::potri:
      return Api<T>::potri_strided_batched(h, c.uplo, c.n, c.A, c.lda, c.strideA, c.info, c.batch);
    case Function::logdet:
      return Api<T>::logdet_strided_batched(h, c.uplo, c.n, c.A, c.lda, c.strideA, c.result,
                                            c.batch);
    case Function::pocon:
      break;
  }
  return CHOL_STATUS_INTERNAL;
}

template <class T>
chol_status_t invoke_variable(chol_handle_t h, const Call<T>& c) {
  switch (c.function) {
    case Function::potrf:
      return Api<T>::potrf_vbatched(h, c.uplo, c.n, c.ns, c.As, c.ldas, c.info, c.batch);
    case Function::potrs:
      return Api<T>::potrs_vbatched(h, c.uplo, c.n, c.nrhs, c.ns, c.nrhss, c.As, c.ldas, c.Bs,
                                    c.ldbs, c.batch);
    case Function::posv:
      return Api<T>::posv_vbatched(h, c.uplo, c.n, c.nrhs, c.ns, c.nrhss, c.As, c.ldas, c.Bs,
                                   c.ldbs, c.info, c.batch);
    case Function::potri:
      return Api<T>::potri_vbatched(h, c.uplo, c.n, c.ns, c.As, c.ldas, c.info, c.batch);
    case Function::logdet:
      return Api<T>::logdet_vbatched(h, c.uplo, c.n, c.ns, c.As, c.ldas, c.result, c.batch);
    case Function::pocon:
      break;
  }
  return CHOL_STATUS_INTERNAL;
}

template <class T>
chol_status_t invoke_interleaved(chol_handle_t h, const Call<T>& c) {
  switch (c.function) {
    case Function::potrf:
      return Api<T>::potrf_interleaved(h, c.uplo, c.n, c.A, c.lda, c.chunk, c.info, c.batch);
    case Function::potrs:
      return Api<T>::potrs_interleaved(h, c.uplo, c.n, c.nrhs, c.A, c.lda, c.B, c.ldb, c.chunk,
                                       c.batch);
    case Function::posv:
      return Api<T>::posv_interleaved(h, c.uplo, c.n, c.nrhs, c.A, c.lda, c.B, c.ldb, c.chunk,
                                      c.info, c.batch);
    case Function::potri:
      return Api<T>::potri_interleaved(h, c.uplo, c.n, c.A, c.lda, c.chunk, c.info, c.batch);
    case Function::logdet:
      return Api<T>::logdet_interleaved(h, c.uplo, c.n, c.A, c.lda, c.chunk, c.result, c.batch);
    case Function::pocon:
      break;
  }
  return CHOL_STATUS_INTERNAL;
}

template <class T>
chol_status_t invoke(chol_handle_t handle, const Call<T>& call) {
  switch (call.layout) {
    case Layout::one:
      return invoke_one(handle, call);
    case Layout::batched:
      return invoke_batched(handle, call);
    case Layout::strided:
      return invoke_strided(handle, call);
    case Layout::variable:
      return invoke_variable(handle, call);
    case Layout::interleaved:
      return invoke_interleaved(handle, call);
  }
  return CHOL_STATUS_INTERNAL;
}

}  // namespace chol::test
