// C ABI: batches of different sizes.
#include <cinttypes>
#include <cstdio>

#include "api/call.hpp"
#include "base/precisions.h"

namespace chol::api {
namespace {

template <class T>
struct VariableBatched {
  Routine routine;
  chol_uplo_t uplo;
  int64_t max_n;
  int64_t max_nrhs = 0;
  const int64_t* n;
  const int64_t* nrhs = nullptr;
  T* const* A;
  const int64_t* lda;
  T* const* B = nullptr;
  const int64_t* ldb = nullptr;
  int* info = nullptr;
  RealOf<T>* result = nullptr;
  int64_t batch;
};

/// One rule on element b of an array that lies in host memory.
Status broken_element(const char* function, const char* name, int64_t b, int64_t value,
                      const char* relation, int64_t bound) {
  return Status::error(CHOL_STATUS_INVALID_VALUE,
                       "%s: %s[%" PRId64 "] = %" PRId64 ", must be at %s %" PRId64, function, name,
                       b, value, relation, bound);
}

/// What is wrong with matrix b of the pointer array `name`: it is not there, or has no size in 63
/// bits.
template <class T>
Status check_array(const char* function, const char* name, int64_t b, const T* matrix, int64_t ld,
                   int64_t columns) {
  char element[32];
  std::snprintf(element, sizeof element, "%s[%" PRId64 "]", name, b);
  return check(function, {array(element, matrix, true), extent(element, sizeof(T), ld, columns)});
}

template <class T>
Status check_matrix(const char* function, const VariableBatched<T>& call, int64_t b) {
  const int64_t n = call.n[b], floor = n > 1 ? n : 1;
  if (n < 0) return broken_element(function, "n", b, n, "least", 0);
  if (call.max_n > 0 && n > call.max_n)
    return broken_element(function, "n", b, n, "most max_n =", call.max_n);
  if (n > std::numeric_limits<int>::max()) {
    char element[32];
    std::snprintf(element, sizeof element, "n[%" PRId64 "]", b);
    return check(function, {countable(element, n)});
  }
  if (call.lda[b] < floor) return broken_element(function, "lda", b, call.lda[b], "least", floor);
  if (n > 0 && (!call.A[b] || spans_too_much(sizeof(T), call.lda[b], n)))
    return check_array(function, "A", b, call.A[b], call.lda[b], n);
  if (!has_rhs(call.routine)) return Status::success();
  const int64_t nrhs = call.nrhs[b];
  if (nrhs < 0) return broken_element(function, "nrhs", b, nrhs, "least", 0);
  if (call.max_nrhs > 0 && nrhs > call.max_nrhs)
    return broken_element(function, "nrhs", b, nrhs, "most max_nrhs =", call.max_nrhs);
  if (call.ldb[b] < floor) return broken_element(function, "ldb", b, call.ldb[b], "least", floor);
  if (n > 0 && nrhs > 0 && (!call.B[b] || spans_too_much(sizeof(T), call.ldb[b], nrhs)))
    return check_array(function, "B", b, call.B[b], call.ldb[b], nrhs);
  return Status::success();
}

/// Checks every element of arrays in host memory, O(batch), and takes the true bounds from them.
template <class T>
Status check_elements(const char* function, const VariableBatched<T>& call, BatchSizes* sizes) {
  sizes->n = sizes->nrhs = 0;
  for (int64_t b = 0; b < call.batch; ++b) {
    Status status = check_matrix(function, call, b);
    if (!status.ok()) return status;
    if (call.n[b] > sizes->n) sizes->n = call.n[b];
    if (call.nrhs && call.nrhs[b] > sizes->nrhs) sizes->nrhs = call.nrhs[b];
  }
  return Status::success();
}

template <class T>
chol_status_t vbatched(chol_handle_t handle, const char* function, const VariableBatched<T>& call) {
  return enter(handle, function, [&](chol_handle_s& h) {
    const bool rhs = has_rhs(call.routine), any = call.batch > 0;
    Status status = check(
        function,
        {triangle(call.uplo), at_least("max_n", call.max_n, 0), countable("max_n", call.max_n),
         at_least("max_nrhs", call.max_nrhs, 0), array("n", call.n, any),
         array("nrhs", call.nrhs, rhs && any), array("A", call.A, any), array("lda", call.lda, any),
         array("B", call.B, rhs && any), array("ldb", call.ldb, rhs && any),
         array("info", call.info, has_info(call.routine) && any),
         array("logdet", call.result, has_result(call.routine) && any),
         at_least("batch", call.batch, 0), extent("A", sizeof(T*), call.batch, any)});
    if (!status.ok() || !any) return status;
    routine::BackendSlot* slot = nullptr;
    status = slot_of(h, function,
                     {{"n", call.n},
                      {"nrhs", call.nrhs},
                      {"A", call.A},
                      {"lda", call.lda},
                      {"B", call.B},
                      {"ldb", call.ldb},
                      {"info", call.info},
                      {"logdet", call.result}},
                     &slot);
    if (!status.ok()) return status;
    backend::Problem<T> problem{call.routine, Form::batch, call.uplo, {}, {}, {}};
    problem.sizes = {call.batch, call.max_n, call.max_nrhs, call.n, call.nrhs};
    if (reads_host_arrays(*slot)) status = check_elements(function, call, &problem.sizes);
    if (!status.ok()) return status;
    problem.A = MatrixBatch<T>::variable(call.A, call.lda);
    if (rhs) problem.B = MatrixBatch<T>::variable(call.B, call.ldb);
    problem.info = call.info;
    problem.result = call.result;
    return routine::run(h, *slot, function, problem);
  });
}

}  // namespace
}  // namespace chol::api

using namespace chol;
using namespace chol::api;

#define CHOL_DEFINE_VBATCHED(p, T, R)                                                             \
  extern "C" chol_status_t chol_##p##potrf_vbatched(                                              \
      chol_handle_t handle, chol_uplo_t uplo, int64_t max_n, const int64_t n[], T* const A[],     \
      const int64_t lda[], int info[], int64_t batch) {                                           \
    return vbatched<T>(handle, "chol_" #p "potrf_vbatched",                                       \
                       {.routine = Routine::potrf,                                                \
                        .uplo = uplo,                                                             \
                        .max_n = max_n,                                                           \
                        .n = n,                                                                   \
                        .A = A,                                                                   \
                        .lda = lda,                                                               \
                        .info = info,                                                             \
                        .batch = batch});                                                         \
  }                                                                                               \
  extern "C" chol_status_t chol_##p##potrs_vbatched(                                              \
      chol_handle_t handle, chol_uplo_t uplo, int64_t max_n, int64_t max_nrhs, const int64_t n[], \
      const int64_t nrhs[], const T* const A[], const int64_t lda[], T* const B[],                \
      const int64_t ldb[], int64_t batch) {                                                       \
    return vbatched<T>(handle, "chol_" #p "potrs_vbatched",                                       \
                       {.routine = Routine::potrs,                                                \
                        .uplo = uplo,                                                             \
                        .max_n = max_n,                                                           \
                        .max_nrhs = max_nrhs,                                                     \
                        .n = n,                                                                   \
                        .nrhs = nrhs,                                                             \
                        .A = writable(A),                                                         \
                        .lda = lda,                                                               \
                        .B = B,                                                                   \
                        .ldb = ldb,                                                               \
                        .batch = batch});                                                         \
  }                                                                                               \
  extern "C" chol_status_t chol_##p##posv_vbatched(                                               \
      chol_handle_t handle, chol_uplo_t uplo, int64_t max_n, int64_t max_nrhs, const int64_t n[], \
      const int64_t nrhs[], T* const A[], const int64_t lda[], T* const B[], const int64_t ldb[], \
      int info[], int64_t batch) {                                                                \
    return vbatched<T>(handle, "chol_" #p "posv_vbatched",                                        \
                       {.routine = Routine::posv,                                                 \
                        .uplo = uplo,                                                             \
                        .max_n = max_n,                                                           \
                        .max_nrhs = max_nrhs,                                                     \
                        .n = n,                                                                   \
                        .nrhs = nrhs,                                                             \
                        .A = A,                                                                   \
                        .lda = lda,                                                               \
                        .B = B,                                                                   \
                        .ldb = ldb,                                                               \
                        .info = info,                                                             \
                        .batch = batch});                                                         \
  }                                                                                               \
  extern "C" chol_status_t chol_##p##potri_vbatched(                                              \
      chol_handle_t handle, chol_uplo_t uplo, int64_t max_n, const int64_t n[], T* const A[],     \
      const int64_t lda[], int info[], int64_t batch) {                                           \
    return vbatched<T>(handle, "chol_" #p "potri_vbatched",                                       \
                       {.routine = Routine::potri,                                                \
                        .uplo = uplo,                                                             \
                        .max_n = max_n,                                                           \
                        .n = n,                                                                   \
                        .A = A,                                                                   \
                        .lda = lda,                                                               \
                        .info = info,                                                             \
                        .batch = batch});                                                         \
  }                                                                                               \
  extern "C" chol_status_t chol_##p##logdet_vbatched(                                             \
      chol_handle_t handle, chol_uplo_t uplo, int64_t max_n, const int64_t n[],                   \
      const T* const A[], const int64_t lda[], R logdet[], int64_t batch) {                       \
    return vbatched<T>(handle, "chol_" #p "logdet_vbatched",                                      \
                       {.routine = Routine::logdet,                                               \
                        .uplo = uplo,                                                             \
                        .max_n = max_n,                                                           \
                        .n = n,                                                                   \
                        .A = writable(A),                                                         \
                        .lda = lda,                                                               \
                        .result = logdet,                                                         \
                        .batch = batch});                                                         \
  }
CHOL_FOR_EACH_PRECISION(CHOL_DEFINE_VBATCHED)
