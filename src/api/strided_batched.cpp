// C ABI: batches of one size at a constant stride.
#include "api/call.hpp"
#include "base/precisions.h"

namespace chol::api {
namespace {

template <class T>
struct StridedBatched {
  Routine routine;
  chol_uplo_t uplo;
  int64_t n;
  int64_t nrhs = 0;
  T* A;
  int64_t lda;
  int64_t strideA;
  T* B = nullptr;
  int64_t ldb = INT64_MAX;
  int64_t strideB = 0;
  int* info = nullptr;
  RealOf<T>* result = nullptr;
  int64_t batch;
};

template <class T>
chol_status_t strided_batched(chol_handle_t handle, const char* function,
                              const StridedBatched<T>& call) {
  return enter(handle, function, [&](chol_handle_s& h) {
    const bool rhs = has_rhs(call.routine);
    const bool any_A = call.n > 0 && call.batch > 0;
    const bool any_B = rhs && any_A && call.nrhs > 0;
    const int64_t steps = call.batch > 1 ? call.batch - 1 : 0;
    Status status = check(
        function, {triangle(call.uplo), at_least("n", call.n, 0), countable("n", call.n),
                   at_least("nrhs", call.nrhs, 0), array("A", call.A, any_A),
                   leading_dimension("lda", call.lda, call.n), array("B", call.B, any_B),
                   leading_dimension("ldb", call.ldb, call.n),
                   array("info", call.info, has_info(call.routine) && call.batch > 0),
                   array("logdet", call.result, has_result(call.routine) && call.batch > 0),
                   at_least("batch", call.batch, 0),
                   extent("A", sizeof(T), call.lda, call.n, call.strideA, steps),
                   extent("B", sizeof(T), rhs ? call.ldb : 0, call.nrhs, call.strideB, steps)});
    if (status.ok() && steps > 0)
      status = check(function, {at_least("strideA", call.strideA, call.lda * call.n, "lda * n"),
                                at_least("strideB", rhs ? call.strideB : 0,
                                         rhs ? call.ldb * call.nrhs : 0, "ldb * nrhs")});
    if (!status.ok() || call.batch == 0) return status;
    backend::Problem<T> problem{call.routine, Form::batch, call.uplo, {}, {}, {}};
    problem.sizes = {call.batch, call.n, call.nrhs};
    problem.A = MatrixBatch<T>::strided(call.A, call.lda, call.strideA);
    if (rhs) problem.B = MatrixBatch<T>::strided(call.B, call.ldb, call.strideB);
    problem.info = call.info;
    problem.result = call.result;
    routine::BackendSlot* slot = nullptr;
    status = slot_of(h, function,
                     {{"A", call.A}, {"B", call.B}, {"info", call.info}, {"logdet", call.result}},
                     &slot);
    return status.ok() ? routine::run(h, *slot, function, problem) : status;
  });
}

}  // namespace
}  // namespace chol::api

using namespace chol;
using namespace chol::api;

#define CHOL_DEFINE_STRIDED_BATCHED(p, T, R)                                                       \
  extern "C" chol_status_t chol_##p##potrf_strided_batched(                                        \
      chol_handle_t handle, chol_uplo_t uplo, int64_t n, T* A, int64_t lda, int64_t strideA,       \
      int info[], int64_t batch) {                                                                 \
    return strided_batched<T>(handle, "chol_" #p "potrf_strided_batched",                          \
                              {.routine = Routine::potrf,                                          \
                               .uplo = uplo,                                                       \
                               .n = n,                                                             \
                               .A = A,                                                             \
                               .lda = lda,                                                         \
                               .strideA = strideA,                                                 \
                               .info = info,                                                       \
                               .batch = batch});                                                   \
  }                                                                                                \
  extern "C" chol_status_t chol_##p##potrs_strided_batched(                                        \
      chol_handle_t handle, chol_uplo_t uplo, int64_t n, int64_t nrhs, const T* A, int64_t lda,    \
      int64_t strideA, T* B, int64_t ldb, int64_t strideB, int64_t batch) {                        \
    return strided_batched<T>(handle, "chol_" #p "potrs_strided_batched",                          \
                              {.routine = Routine::potrs,                                          \
                               .uplo = uplo,                                                       \
                               .n = n,                                                             \
                               .nrhs = nrhs,                                                       \
                               .A = writable(A),                                                   \
                               .lda = lda,                                                         \
                               .strideA = strideA,                                                 \
                               .B = B,                                                             \
                               .ldb = ldb,                                                         \
                               .strideB = strideB,                                                 \
                               .batch = batch});                                                   \
  }                                                                                                \
  extern "C" chol_status_t chol_##p##posv_strided_batched(                                         \
      chol_handle_t handle, chol_uplo_t uplo, int64_t n, int64_t nrhs, T* A, int64_t lda,          \
      int64_t strideA, T* B, int64_t ldb, int64_t strideB, int info[], int64_t batch) {            \
    return strided_batched<T>(handle, "chol_" #p "posv_strided_batched",                           \
                              {.routine = Routine::posv,                                           \
                               .uplo = uplo,                                                       \
                               .n = n,                                                             \
                               .nrhs = nrhs,                                                       \
                               .A = A,                                                             \
                               .lda = lda,                                                         \
                               .strideA = strideA,                                                 \
                               .B = B,                                                             \
                               .ldb = ldb,                                                         \
                               .strideB = strideB,                                                 \
                               .info = info,                                                       \
                               .batch = batch});                                                   \
  }                                                                                                \
  extern "C" chol_status_t chol_##p##potri_strided_batched(                                        \
      chol_handle_t handle, chol_uplo_t uplo, int64_t n, T* A, int64_t lda, int64_t strideA,       \
      int info[], int64_t batch) {                                                                 \
    return strided_batched<T>(handle, "chol_" #p "potri_strided_batched",                          \
                              {.routine = Routine::potri,                                          \
                               .uplo = uplo,                                                       \
                               .n = n,                                                             \
                               .A = A,                                                             \
                               .lda = lda,                                                         \
                               .strideA = strideA,                                                 \
                               .info = info,                                                       \
                               .batch = batch});                                                   \
  }                                                                                                \
  extern "C" chol_status_t chol_##p##logdet_strided_batched(                                       \
      chol_handle_t handle, chol_uplo_t uplo, int64_t n, const T* A, int64_t lda, int64_t strideA, \
      R logdet[], int64_t batch) {                                                                 \
    return strided_batched<T>(handle, "chol_" #p "logdet_strided_batched",                         \
                              {.routine = Routine::logdet,                                         \
                               .uplo = uplo,                                                       \
                               .n = n,                                                             \
                               .A = writable(A),                                                   \
                               .lda = lda,                                                         \
                               .strideA = strideA,                                                 \
                               .result = logdet,                                                   \
                               .batch = batch});                                                   \
  }
CHOL_FOR_EACH_PRECISION(CHOL_DEFINE_STRIDED_BATCHED)
