// C ABI: one matrix.
#include "api/call.hpp"
#include "api/named_devices.hpp"
#include "base/precisions.h"
#include "routine/host_on_devices.hpp"
#include "routine/team.hpp"

namespace chol::api {
namespace {

template <class T>
struct OneMatrix {
  Routine routine;
  chol_uplo_t uplo;
  int64_t n;
  int64_t nrhs = 1;
  const T* A;
  int64_t lda;
  T* B = nullptr;
  int64_t ldb = INT64_MAX;
  int* info = nullptr;
  RealOf<T>* result = nullptr;
  const char* result_name = "";
  RealOf<T> anorm = 0;
};

/// Whether no rule of the rows below can be broken: what a call on a small matrix can afford.
template <class T>
bool is_plainly_valid(const OneMatrix<T>& call, bool rhs) {
  constexpr int64_t kMost = int64_t{1} << 28;  // of a size whose products fit 63 bits in bytes
  const int64_t least = call.n > 1 ? call.n : 1;
  const bool triangle = call.uplo == CHOL_LOWER || call.uplo == CHOL_UPPER;
  const bool one = triangle && call.n >= 0 && call.A && call.lda >= least && call.lda <= kMost &&
                   (call.info || !has_info(call.routine)) && !has_result(call.routine);
  if (!rhs) return one;
  return one && call.nrhs >= 0 && call.nrhs <= kMost && call.B && call.ldb >= least &&
         call.ldb <= kMost;
}

template <class T>
Status check_one_matrix(const char* function, const OneMatrix<T>& call, bool rhs) {
  const int64_t nrhs = rhs ? call.nrhs : 0;
  return check(
      function,
      {triangle(call.uplo), at_least("n", call.n, 0), countable("n", call.n),
       at_least("nrhs", nrhs, 0), array("A", call.A, call.n > 0),
       leading_dimension("lda", call.lda, call.n),
       array("B", call.B, rhs && call.n > 0 && nrhs > 0),
       leading_dimension("ldb", call.ldb, call.n), finite_not_negative("anorm", call.anorm),
       array("info", call.info, has_info(call.routine)),
       array(call.result_name, call.result, has_result(call.routine)),
       extent("A", sizeof(T), call.lda, call.n), extent("B", sizeof(T), rhs ? call.ldb : 0, nrhs)});
}

template <class T>
chol_status_t one_matrix(chol_handle_t handle, const char* function, const OneMatrix<T>& call) {
  return enter(handle, function, [&](chol_handle_s& h) {
    const bool rhs = has_rhs(call.routine);
    const int64_t nrhs = rhs ? call.nrhs : 0;
    Status status;
    if (!is_plainly_valid(call, rhs)) status = check_one_matrix(function, call, rhs);
    if (!status.ok()) return status;
    const backend::Problem<T> problem{
        .routine = call.routine,
        .form = Form::one,
        .uplo = call.uplo,
        .sizes = {1, call.n, nrhs},
        .A = MatrixBatch<T>::strided(writable(call.A), call.lda, 0),
        .B = rhs ? MatrixBatch<T>::strided(call.B, call.ldb, 0) : MatrixBatch<T>{},
        .info = call.info,
        .result = call.result,
        .anorm = call.anorm};
    const routine::Handle::NamedArray arrays[] = {
        {"A", call.A}, {"B", call.B}, {"info", call.info}, {call.result_name, call.result}};
    if (routine::works_on_host_arrays(h, call.routine) && h.are_on_host(arrays, 4)) {
      status = check_named_devices(function, h);
      if (!status.ok()) return status;
      return routine::keep_failure(
          h, [&] { return routine::run_host_on_devices(h, function, problem); });
    }
    routine::BackendSlot* slot = nullptr;
    status = h.slot_for(arrays, 4, function, &slot);
    return status.ok() ? routine::run(h, *slot, function, problem) : status;
  });
}

template <class T>
chol_status_t potrf(chol_handle_t handle, const char* function, const OneMatrix<T>& call) {
  if (is_valid(handle) && is_plainly_valid(call, false) &&
      routine::run_small(*handle, call.uplo, call.n, writable(call.A), call.lda, call.info))
    return CHOL_STATUS_SUCCESS;
  return one_matrix(handle, function, call);
}

}  // namespace
}  // namespace chol::api

using namespace chol;
using chol::api::one_matrix;

#define CHOL_DEFINE_ONE(p, T, R)                                                               \
  extern "C" chol_status_t chol_##p##potrf(chol_handle_t handle, chol_uplo_t uplo, int64_t n,  \
                                           T* A, int64_t lda, int* info) {                     \
    return chol::api::potrf<T>(                                                                \
        handle, "chol_" #p "potrf",                                                            \
        {.routine = Routine::potrf, .uplo = uplo, .n = n, .A = A, .lda = lda, .info = info});  \
  }                                                                                            \
  extern "C" chol_status_t chol_##p##potrs(chol_handle_t handle, chol_uplo_t uplo, int64_t n,  \
                                           int64_t nrhs, const T* A, int64_t lda, T* B,        \
                                           int64_t ldb) {                                      \
    return one_matrix<T>(handle, "chol_" #p "potrs",                                           \
                         {.routine = Routine::potrs,                                           \
                          .uplo = uplo,                                                        \
                          .n = n,                                                              \
                          .nrhs = nrhs,                                                        \
                          .A = A,                                                              \
                          .lda = lda,                                                          \
                          .B = B,                                                              \
                          .ldb = ldb});                                                        \
  }                                                                                            \
  extern "C" chol_status_t chol_##p##posv(chol_handle_t handle, chol_uplo_t uplo, int64_t n,   \
                                          int64_t nrhs, T* A, int64_t lda, T* B, int64_t ldb,  \
                                          int* info) {                                         \
    return one_matrix<T>(handle, "chol_" #p "posv",                                            \
                         {.routine = Routine::posv,                                            \
                          .uplo = uplo,                                                        \
                          .n = n,                                                              \
                          .nrhs = nrhs,                                                        \
                          .A = A,                                                              \
                          .lda = lda,                                                          \
                          .B = B,                                                              \
                          .ldb = ldb,                                                          \
                          .info = info});                                                      \
  }                                                                                            \
  extern "C" chol_status_t chol_##p##potri(chol_handle_t handle, chol_uplo_t uplo, int64_t n,  \
                                           T* A, int64_t lda, int* info) {                     \
    return one_matrix<T>(                                                                      \
        handle, "chol_" #p "potri",                                                            \
        {.routine = Routine::potri, .uplo = uplo, .n = n, .A = A, .lda = lda, .info = info});  \
  }                                                                                            \
  extern "C" chol_status_t chol_##p##pocon(chol_handle_t handle, chol_uplo_t uplo, int64_t n,  \
                                           const T* A, int64_t lda, R anorm, R* rcond) {       \
    return one_matrix<T>(handle, "chol_" #p "pocon",                                           \
                         {.routine = Routine::pocon,                                           \
                          .uplo = uplo,                                                        \
                          .n = n,                                                              \
                          .A = A,                                                              \
                          .lda = lda,                                                          \
                          .result = rcond,                                                     \
                          .result_name = "rcond",                                              \
                          .anorm = anorm});                                                    \
  }                                                                                            \
  extern "C" chol_status_t chol_##p##logdet(chol_handle_t handle, chol_uplo_t uplo, int64_t n, \
                                            const T* A, int64_t lda, R* logdet) {              \
    return one_matrix<T>(handle, "chol_" #p "logdet",                                          \
                         {.routine = Routine::logdet,                                          \
                          .uplo = uplo,                                                        \
                          .n = n,                                                              \
                          .A = A,                                                              \
                          .lda = lda,                                                          \
                          .result = logdet,                                                    \
                          .result_name = "logdet"});                                           \
  }
CHOL_FOR_EACH_PRECISION(CHOL_DEFINE_ONE)
