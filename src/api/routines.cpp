// C ABI: potrf, potrs, posv, potri, pocon and logdet in every form.
#include "api/call.hpp"
#include "api/named_devices.hpp"
#include "base/precisions.h"
#include "routine/host_on_devices.hpp"
#include "routine/team.hpp"

namespace chol::api {
namespace {

template <class T>
backend::Problem<T> problem_of(const Call<T>& call) {
  backend::Problem<T> problem{call.routine, Form::batch, call.uplo, call.sizes, call.A.view, {}};
  if (has_rhs(call.routine)) problem.B = call.B.view;
  problem.info = call.info;
  problem.result = call.result;
  problem.anorm = call.anorm;
  if (call.layout() == Layout::one) problem.form = Form::one;
  if (call.layout() != Layout::interleaved) return problem;
  // One matrix a chunk is column-major, at the distance of the chunks.
  if (problem.A.chunk > 1) {
    problem.form = Form::interleaved;
    return problem;
  }
  const auto by_stride = [](const MatrixBatch<T>& view, int64_t columns) {
    return MatrixBatch<T>::strided(view.first, view.ld, view.ld * columns);
  };
  problem.A = by_stride(problem.A, call.sizes.n);
  if (has_rhs(call.routine)) problem.B = by_stride(problem.B, call.sizes.nrhs);
  return problem;
}

/// A call on one matrix in host memory whose handle has named devices.
template <class T>
Status run_on_named_devices(chol_handle_s& h, const char* function,
                            const backend::Problem<T>& problem) {
  const Status status = check_named_devices(function, h);
  if (!status.ok()) return status;
  return routine::keep_failure(h,
                               [&] { return routine::run_host_on_devices(h, function, problem); });
}

/// Runs a call whose arguments were checked.
template <class T>
Status run_checked(chol_handle_s& h, const char* function, const Call<T>& call) {
  const routine::Handle::NamedArray arrays[] = {
      {"n", call.sizes.orders}, {"nrhs", call.sizes.rhs_counts},  {"A", call.A.argument()},
      {"lda", call.A.view.lds}, {"B", call.B.argument()},         {"ldb", call.B.view.lds},
      {"info", call.info},      {call.result_name(), call.result}};
  constexpr int kArrays = std::size(arrays);
  backend::Problem<T> problem = problem_of(call);
  if (call.layout() == Layout::one && routine::works_on_host_arrays(h, call.routine) &&
      h.are_on_host(arrays, kArrays))
    return run_on_named_devices(h, function, problem);
  routine::BackendSlot* slot = nullptr;
  Status status = h.slot_for(arrays, kArrays, function, &slot);
  if (status.ok() && reads_host_arrays(*slot))
    status = check_elements(function, call, &problem.sizes);
  return status.ok() ? routine::run(h, *slot, function, problem) : status;
}

/// Of sizes whose products fit 63 bits in bytes.
constexpr int64_t kMostPlain = int64_t{1} << 28;

inline bool is_plain_triangle(chol_uplo_t uplo, int64_t n, int64_t lda) {
  return (uplo == CHOL_LOWER || uplo == CHOL_UPPER) && n >= 0 && lda >= (n > 1 ? n : 1) &&
         lda <= kMostPlain;
}
template <class T>
bool is_plain(const MatrixBatch<T>& view, const Call<T>& call, int64_t columns) {
  const int64_t least = call.sizes.n > 1 ? call.sizes.n : 1;
  const bool fits = view.first && columns >= 0 && columns <= kMostPlain && view.ld >= least &&
                    view.ld <= kMostPlain && view.stride <= kMostPlain;
  return fits && (call.layout() == Layout::one || view.stride >= view.ld * columns);
}
/// Whether certainly no rule is broken: a test cheap enough for a call on few small matrices.
template <class T>
bool is_plainly_valid(const Call<T>& call) {
  if (call.layout() != Layout::one && call.layout() != Layout::strided) return false;
  const Routine routine = call.routine;
  return is_plain_triangle(call.uplo, call.sizes.n, call.A.view.ld) && call.sizes.count >= 0 &&
         call.sizes.count <= kMostPlain && is_plain(call.A.view, call, call.sizes.n) &&
         (call.info || !has_info(routine)) && routine != Routine::pocon &&
         (call.result || !has_result(routine)) &&
         (!has_rhs(routine) || is_plain(call.B.view, call, call.sizes.nrhs));
}

template <class T>
chol_status_t run(chol_handle_t handle, const char* function, const Call<T>& call) {
  return enter(handle, function, [&](chol_handle_s& h) {
    Status status;
    if (!is_plainly_valid(call)) status = check(function, call);
    return status.ok() && call.has_any() ? run_checked(h, function, call) : status;
  });
}

/// Not inlined, so that the short path of potrf needs no stack frame.
template <class T>
[[gnu::noinline]] chol_status_t run_potrf(chol_handle_t handle, const char* function,
                                          chol_uplo_t uplo, int64_t n, T* A, int64_t lda,
                                          int* info) {
  return run<T>(
      handle, function,
      {.routine = Routine::potrf, .uplo = uplo, .sizes = {1, n}, .A = one(A, lda), .info = info});
}
/// potrf of one matrix: small orders on the host take a short path.
template <class T>
chol_status_t potrf(chol_handle_t handle, const char* function, chol_uplo_t uplo, int64_t n, T* A,
                    int64_t lda, int* info) {
  if (is_valid(handle) && is_plain_triangle(uplo, n, lda) && A && info &&
      routine::run_small(*handle, uplo, n, A, lda, info))
    return CHOL_STATUS_SUCCESS;
  return run_potrf(handle, function, uplo, n, A, lda, info);
}

}  // namespace
}  // namespace chol::api

using namespace chol;
using namespace chol::api;

// One matrix.
#define CHOL_DEFINE_ONE(p, T, R)                                                                   \
  CHOL_ENTRY(p, potrf,                                                                             \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t n, T * A, int64_t lda, int* info),   \
             potrf<T>, uplo, n, A, lda, info)                                                      \
  CHOL_ENTRY(p, potrs,                                                                             \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t n, int64_t nrhs, const T* A,         \
              int64_t lda, T* B, int64_t ldb),                                                     \
             run<T>,                                                                               \
             {.routine = Routine::potrs,                                                           \
              .uplo = uplo,                                                                        \
              .sizes = {1, n, nrhs},                                                               \
              .A = one(A, lda),                                                                    \
              .B = one(B, ldb)})                                                                   \
  CHOL_ENTRY(p, posv,                                                                              \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t n, int64_t nrhs, T * A, int64_t lda, \
              T * B, int64_t ldb, int* info),                                                      \
             run<T>,                                                                               \
             {.routine = Routine::posv,                                                            \
              .uplo = uplo,                                                                        \
              .sizes = {1, n, nrhs},                                                               \
              .A = one(A, lda),                                                                    \
              .B = one(B, ldb),                                                                    \
              .info = info})                                                                       \
  CHOL_ENTRY(                                                                                      \
      p, potri,                                                                                    \
      (chol_handle_t handle, chol_uplo_t uplo, int64_t n, T * A, int64_t lda, int* info), run<T>,  \
      {.routine = Routine::potri, .uplo = uplo, .sizes = {1, n}, .A = one(A, lda), .info = info})  \
  CHOL_ENTRY(p, pocon,                                                                             \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t n, const T* A, int64_t lda, R anorm, \
              R* rcond),                                                                           \
             run<T>,                                                                               \
             {.routine = Routine::pocon,                                                           \
              .uplo = uplo,                                                                        \
              .sizes = {1, n},                                                                     \
              .A = one(A, lda),                                                                    \
              .result = rcond,                                                                     \
              .anorm = anorm})                                                                     \
  CHOL_ENTRY(                                                                                      \
      p, logdet,                                                                                   \
      (chol_handle_t handle, chol_uplo_t uplo, int64_t n, const T* A, int64_t lda, R* logdet),     \
      run<T>,                                                                                      \
      {.routine = Routine::logdet,                                                                 \
       .uplo = uplo,                                                                               \
       .sizes = {1, n},                                                                            \
       .A = one(A, lda),                                                                           \
       .result = logdet})
CHOL_FOR_EACH_PRECISION(CHOL_DEFINE_ONE)

// Matrices of one size behind pointers.
#define CHOL_DEFINE_BATCHED(p, T, R)                                                               \
  CHOL_ENTRY(p, potrf_batched,                                                                     \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t n, T* const A[], int64_t lda,        \
              int info[], int64_t batch),                                                          \
             run<T>,                                                                               \
             {.routine = Routine::potrf,                                                           \
              .uplo = uplo,                                                                        \
              .sizes = {batch, n},                                                                 \
              .A = pointers(A, lda),                                                               \
              .info = info})                                                                       \
  CHOL_ENTRY(p, potrs_batched,                                                                     \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t n, int64_t nrhs, const T* const A[], \
              int64_t lda, T* const B[], int64_t ldb, int64_t batch),                              \
             run<T>,                                                                               \
             {.routine = Routine::potrs,                                                           \
              .uplo = uplo,                                                                        \
              .sizes = {batch, n, nrhs},                                                           \
              .A = pointers(A, lda),                                                               \
              .B = pointers(B, ldb)})                                                              \
  CHOL_ENTRY(p, posv_batched,                                                                      \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t n, int64_t nrhs, T* const A[],       \
              int64_t lda, T* const B[], int64_t ldb, int info[], int64_t batch),                  \
             run<T>,                                                                               \
             {.routine = Routine::posv,                                                            \
              .uplo = uplo,                                                                        \
              .sizes = {batch, n, nrhs},                                                           \
              .A = pointers(A, lda),                                                               \
              .B = pointers(B, ldb),                                                               \
              .info = info})                                                                       \
  CHOL_ENTRY(p, potri_batched,                                                                     \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t n, T* const A[], int64_t lda,        \
              int info[], int64_t batch),                                                          \
             run<T>,                                                                               \
             {.routine = Routine::potri,                                                           \
              .uplo = uplo,                                                                        \
              .sizes = {batch, n},                                                                 \
              .A = pointers(A, lda),                                                               \
              .info = info})                                                                       \
  CHOL_ENTRY(p, logdet_batched,                                                                    \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t n, const T* const A[], int64_t lda,  \
              R logdet[], int64_t batch),                                                          \
             run<T>,                                                                               \
             {.routine = Routine::logdet,                                                          \
              .uplo = uplo,                                                                        \
              .sizes = {batch, n},                                                                 \
              .A = pointers(A, lda),                                                               \
              .result = logdet})
CHOL_FOR_EACH_PRECISION(CHOL_DEFINE_BATCHED)

// Matrices of one size at a constant stride.
#define CHOL_DEFINE_STRIDED_BATCHED(p, T, R)                                                       \
  CHOL_ENTRY(p, potrf_strided_batched,                                                             \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t n, T * A, int64_t lda,               \
              int64_t strideA, int info[], int64_t batch),                                         \
             run<T>,                                                                               \
             {.routine = Routine::potrf,                                                           \
              .uplo = uplo,                                                                        \
              .sizes = {batch, n},                                                                 \
              .A = strided(A, lda, strideA),                                                       \
              .info = info})                                                                       \
  CHOL_ENTRY(p, potrs_strided_batched,                                                             \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t n, int64_t nrhs, const T* A,         \
              int64_t lda, int64_t strideA, T* B, int64_t ldb, int64_t strideB, int64_t batch),    \
             run<T>,                                                                               \
             {.routine = Routine::potrs,                                                           \
              .uplo = uplo,                                                                        \
              .sizes = {batch, n, nrhs},                                                           \
              .A = strided(A, lda, strideA),                                                       \
              .B = strided(B, ldb, strideB)})                                                      \
  CHOL_ENTRY(p, posv_strided_batched,                                                              \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t n, int64_t nrhs, T * A, int64_t lda, \
              int64_t strideA, T * B, int64_t ldb, int64_t strideB, int info[], int64_t batch),    \
             run<T>,                                                                               \
             {.routine = Routine::posv,                                                            \
              .uplo = uplo,                                                                        \
              .sizes = {batch, n, nrhs},                                                           \
              .A = strided(A, lda, strideA),                                                       \
              .B = strided(B, ldb, strideB),                                                       \
              .info = info})                                                                       \
  CHOL_ENTRY(p, potri_strided_batched,                                                             \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t n, T * A, int64_t lda,               \
              int64_t strideA, int info[], int64_t batch),                                         \
             run<T>,                                                                               \
             {.routine = Routine::potri,                                                           \
              .uplo = uplo,                                                                        \
              .sizes = {batch, n},                                                                 \
              .A = strided(A, lda, strideA),                                                       \
              .info = info})                                                                       \
  CHOL_ENTRY(p, logdet_strided_batched,                                                            \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t n, const T* A, int64_t lda,          \
              int64_t strideA, R logdet[], int64_t batch),                                         \
             run<T>,                                                                               \
             {.routine = Routine::logdet,                                                          \
              .uplo = uplo,                                                                        \
              .sizes = {batch, n},                                                                 \
              .A = strided(A, lda, strideA),                                                       \
              .result = logdet})
CHOL_FOR_EACH_PRECISION(CHOL_DEFINE_STRIDED_BATCHED)

// Matrices of different sizes.
#define CHOL_DEFINE_VBATCHED(p, T, R)                                                           \
  CHOL_ENTRY(p, potrf_vbatched,                                                                 \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t max_n, const int64_t n[],         \
              T* const A[], const int64_t lda[], int info[], int64_t batch),                    \
             run<T>,                                                                            \
             {.routine = Routine::potrf,                                                        \
              .uplo = uplo,                                                                     \
              .sizes = {batch, max_n, 0, n},                                                    \
              .A = variable(A, lda),                                                            \
              .info = info})                                                                    \
  CHOL_ENTRY(p, potrs_vbatched,                                                                 \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t max_n, int64_t max_nrhs,          \
              const int64_t n[], const int64_t nrhs[], const T* const A[], const int64_t lda[], \
              T* const B[], const int64_t ldb[], int64_t batch),                                \
             run<T>,                                                                            \
             {.routine = Routine::potrs,                                                        \
              .uplo = uplo,                                                                     \
              .sizes = {batch, max_n, max_nrhs, n, nrhs},                                       \
              .A = variable(A, lda),                                                            \
              .B = variable(B, ldb)})                                                           \
  CHOL_ENTRY(p, posv_vbatched,                                                                  \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t max_n, int64_t max_nrhs,          \
              const int64_t n[], const int64_t nrhs[], T* const A[], const int64_t lda[],       \
              T* const B[], const int64_t ldb[], int info[], int64_t batch),                    \
             run<T>,                                                                            \
             {.routine = Routine::posv,                                                         \
              .uplo = uplo,                                                                     \
              .sizes = {batch, max_n, max_nrhs, n, nrhs},                                       \
              .A = variable(A, lda),                                                            \
              .B = variable(B, ldb),                                                            \
              .info = info})                                                                    \
  CHOL_ENTRY(p, potri_vbatched,                                                                 \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t max_n, const int64_t n[],         \
              T* const A[], const int64_t lda[], int info[], int64_t batch),                    \
             run<T>,                                                                            \
             {.routine = Routine::potri,                                                        \
              .uplo = uplo,                                                                     \
              .sizes = {batch, max_n, 0, n},                                                    \
              .A = variable(A, lda),                                                            \
              .info = info})                                                                    \
  CHOL_ENTRY(p, logdet_vbatched,                                                                \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t max_n, const int64_t n[],         \
              const T* const A[], const int64_t lda[], R logdet[], int64_t batch),              \
             run<T>,                                                                            \
             {.routine = Routine::logdet,                                                       \
              .uplo = uplo,                                                                     \
              .sizes = {batch, max_n, 0, n},                                                    \
              .A = variable(A, lda),                                                            \
              .result = logdet})
CHOL_FOR_EACH_PRECISION(CHOL_DEFINE_VBATCHED)

// Interleaved matrices.
#define CHOL_DEFINE_INTERLEAVED(p, T, R)                                                           \
  CHOL_ENTRY(p, potrf_interleaved,                                                                 \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t n, T * A, int64_t lda,               \
              int64_t chunk, int info[], int64_t batch),                                           \
             run<T>,                                                                               \
             {.routine = Routine::potrf,                                                           \
              .uplo = uplo,                                                                        \
              .sizes = {batch, n},                                                                 \
              .A = interleaved(A, lda, chunk),                                                     \
              .info = info})                                                                       \
  CHOL_ENTRY(p, potrs_interleaved,                                                                 \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t n, int64_t nrhs, const T* A,         \
              int64_t lda, T* B, int64_t ldb, int64_t chunk, int64_t batch),                       \
             run<T>,                                                                               \
             {.routine = Routine::potrs,                                                           \
              .uplo = uplo,                                                                        \
              .sizes = {batch, n, nrhs},                                                           \
              .A = interleaved(A, lda, chunk),                                                     \
              .B = interleaved(B, ldb, chunk)})                                                    \
  CHOL_ENTRY(p, posv_interleaved,                                                                  \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t n, int64_t nrhs, T * A, int64_t lda, \
              T * B, int64_t ldb, int64_t chunk, int info[], int64_t batch),                       \
             run<T>,                                                                               \
             {.routine = Routine::posv,                                                            \
              .uplo = uplo,                                                                        \
              .sizes = {batch, n, nrhs},                                                           \
              .A = interleaved(A, lda, chunk),                                                     \
              .B = interleaved(B, ldb, chunk),                                                     \
              .info = info})                                                                       \
  CHOL_ENTRY(p, potri_interleaved,                                                                 \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t n, T * A, int64_t lda,               \
              int64_t chunk, int info[], int64_t batch),                                           \
             run<T>,                                                                               \
             {.routine = Routine::potri,                                                           \
              .uplo = uplo,                                                                        \
              .sizes = {batch, n},                                                                 \
              .A = interleaved(A, lda, chunk),                                                     \
              .info = info})                                                                       \
  CHOL_ENTRY(p, logdet_interleaved,                                                                \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t n, const T* A, int64_t lda,          \
              int64_t chunk, R logdet[], int64_t batch),                                           \
             run<T>,                                                                               \
             {.routine = Routine::logdet,                                                          \
              .uplo = uplo,                                                                        \
              .sizes = {batch, n},                                                                 \
              .A = interleaved(A, lda, chunk),                                                     \
              .result = logdet})
CHOL_FOR_EACH_PRECISION(CHOL_DEFINE_INTERLEAVED)
