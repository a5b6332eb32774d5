// C ABI: batches of one size behind an array of pointers.
#include "api/call.hpp"
#include "base/precisions.h"

namespace chol::api {
namespace {

template <class T>
struct Batched {
  Routine routine;
  chol_uplo_t uplo;
  int64_t n;
  int64_t nrhs = 0;
  T* const* A;
  int64_t lda;
  T* const* B = nullptr;
  int64_t ldb = INT64_MAX;
  int* info = nullptr;
  RealOf<T>* result = nullptr;
  int64_t batch;
};

template <class T>
chol_status_t batched(chol_handle_t handle, const char* function, const Batched<T>& call) {
  return enter(handle, function, [&](chol_handle_s& h) {
    const bool any_A = call.n > 0 && call.batch > 0;
    const bool any_B = has_rhs(call.routine) && any_A && call.nrhs > 0;
    Status status = check(
        function, {triangle(call.uplo), at_least("n", call.n, 0), countable("n", call.n),
                   at_least("nrhs", call.nrhs, 0), array("A", call.A, any_A),
                   leading_dimension("lda", call.lda, call.n), array("B", call.B, any_B),
                   leading_dimension("ldb", call.ldb, call.n),
                   array("info", call.info, has_info(call.routine) && call.batch > 0),
                   array("logdet", call.result, has_result(call.routine) && call.batch > 0),
                   at_least("batch", call.batch, 0), extent("A", sizeof(T*), call.batch, any_A),
                   extent("A", sizeof(T), call.lda, call.n),
                   extent("B", sizeof(T), any_B ? call.ldb : 0, call.nrhs)});
    if (!status.ok() || call.batch == 0) return status;
    routine::BackendSlot* slot = nullptr;
    status = slot_of(h, function,
                     {{"A", call.A}, {"B", call.B}, {"info", call.info}, {"logdet", call.result}},
                     &slot);
    if (status.ok() && reads_host_arrays(*slot) && any_A)
      status = check_pointers(function, "A", call.A, call.batch);
    if (status.ok() && reads_host_arrays(*slot) && any_B)
      status = check_pointers(function, "B", call.B, call.batch);
    if (!status.ok()) return status;
    backend::Problem<T> problem{call.routine, Form::batch, call.uplo, {}, {}, {}};
    problem.sizes = {call.batch, call.n, call.nrhs};
    problem.A = MatrixBatch<T>::pointer_array(call.A, call.lda);
    if (call.B) problem.B = MatrixBatch<T>::pointer_array(call.B, call.ldb);
    problem.info = call.info;
    problem.result = call.result;
    return routine::run(h, *slot, function, problem);
  });
}

}  // namespace
}  // namespace chol::api

using namespace chol;
using namespace chol::api;

#define CHOL_DEFINE_BATCHED(p, T, R)                                                              \
  extern "C" chol_status_t chol_##p##potrf_batched(chol_handle_t handle, chol_uplo_t uplo,        \
                                                   int64_t n, T* const A[], int64_t lda,          \
                                                   int info[], int64_t batch) {                   \
    return batched<T>(handle, "chol_" #p "potrf_batched",                                         \
                      {.routine = Routine::potrf,                                                 \
                       .uplo = uplo,                                                              \
                       .n = n,                                                                    \
                       .A = A,                                                                    \
                       .lda = lda,                                                                \
                       .info = info,                                                              \
                       .batch = batch});                                                          \
  }                                                                                               \
  extern "C" chol_status_t chol_##p##potrs_batched(                                               \
      chol_handle_t handle, chol_uplo_t uplo, int64_t n, int64_t nrhs, const T* const A[],        \
      int64_t lda, T* const B[], int64_t ldb, int64_t batch) {                                    \
    return batched<T>(handle, "chol_" #p "potrs_batched",                                         \
                      {.routine = Routine::potrs,                                                 \
                       .uplo = uplo,                                                              \
                       .n = n,                                                                    \
                       .nrhs = nrhs,                                                              \
                       .A = writable(A),                                                          \
                       .lda = lda,                                                                \
                       .B = B,                                                                    \
                       .ldb = ldb,                                                                \
                       .batch = batch});                                                          \
  }                                                                                               \
  extern "C" chol_status_t chol_##p##posv_batched(                                                \
      chol_handle_t handle, chol_uplo_t uplo, int64_t n, int64_t nrhs, T* const A[], int64_t lda, \
      T* const B[], int64_t ldb, int info[], int64_t batch) {                                     \
    return batched<T>(handle, "chol_" #p "posv_batched",                                          \
                      {.routine = Routine::posv,                                                  \
                       .uplo = uplo,                                                              \
                       .n = n,                                                                    \
                       .nrhs = nrhs,                                                              \
                       .A = A,                                                                    \
                       .lda = lda,                                                                \
                       .B = B,                                                                    \
                       .ldb = ldb,                                                                \
                       .info = info,                                                              \
                       .batch = batch});                                                          \
  }                                                                                               \
  extern "C" chol_status_t chol_##p##potri_batched(chol_handle_t handle, chol_uplo_t uplo,        \
                                                   int64_t n, T* const A[], int64_t lda,          \
                                                   int info[], int64_t batch) {                   \
    return batched<T>(handle, "chol_" #p "potri_batched",                                         \
                      {.routine = Routine::potri,                                                 \
                       .uplo = uplo,                                                              \
                       .n = n,                                                                    \
                       .A = A,                                                                    \
                       .lda = lda,                                                                \
                       .info = info,                                                              \
                       .batch = batch});                                                          \
  }                                                                                               \
  extern "C" chol_status_t chol_##p##logdet_batched(chol_handle_t handle, chol_uplo_t uplo,       \
                                                    int64_t n, const T* const A[], int64_t lda,   \
                                                    R logdet[], int64_t batch) {                  \
    return batched<T>(handle, "chol_" #p "logdet_batched",                                        \
                      {.routine = Routine::logdet,                                                \
                       .uplo = uplo,                                                              \
                       .n = n,                                                                    \
                       .A = writable(A),                                                          \
                       .lda = lda,                                                                \
                       .result = logdet,                                                          \
                       .batch = batch});                                                          \
  }
CHOL_FOR_EACH_PRECISION(CHOL_DEFINE_BATCHED)
