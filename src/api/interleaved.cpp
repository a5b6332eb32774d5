// C ABI: interleaved batches, and packing into and out of them.
#include "api/call.hpp"
#include "base/precisions.h"

namespace chol::api {
namespace {

template <class T>
struct Interleaved {
  Routine routine;
  chol_uplo_t uplo;
  int64_t n;
  int64_t nrhs = 0;
  T* A;
  int64_t lda;
  T* B = nullptr;
  int64_t ldb = INT64_MAX;
  int64_t chunk;
  int* info = nullptr;
  RealOf<T>* result = nullptr;
  int64_t batch;
};

template <class T>
Status check_arguments(const char* function, const Interleaved<T>& call) {
  const bool any_A = call.n > 0 && call.batch > 0;
  const bool any_B = has_rhs(call.routine) && any_A && call.nrhs > 0;
  Status status =
      check(function, {triangle(call.uplo), at_least("n", call.n, 0), countable("n", call.n),
                       at_least("nrhs", call.nrhs, 0), array("A", call.A, any_A),
                       leading_dimension("lda", call.lda, call.n), array("B", call.B, any_B),
                       leading_dimension("ldb", call.ldb, call.n), at_least("chunk", call.chunk, 1),
                       array("info", call.info, has_info(call.routine) && call.batch > 0),
                       array("logdet", call.result, has_result(call.routine) && call.batch > 0),
                       at_least("batch", call.batch, 0)});
  if (!status.ok()) return status;
  return check(function, {interleaved_extent("A", sizeof(T), call.lda, call.n, call.chunk,
                                             any_A ? call.batch : 0),
                          interleaved_extent("B", sizeof(T), any_B ? call.ldb : 0, call.nrhs,
                                             call.chunk, call.batch)});
}

template <class T>
chol_status_t interleaved(chol_handle_t handle, const char* function, const Interleaved<T>& call) {
  return enter(handle, function, [&](chol_handle_s& h) {
    Status status = check_arguments(function, call);
    if (!status.ok() || call.batch == 0) return status;
    // One matrix a chunk is column-major, at the distance of the chunks.
    const bool strided = call.chunk == 1;
    const auto view = [&](T* array, int64_t ld, int64_t columns) {
      return strided ? MatrixBatch<T>::strided(array, ld, ld * columns)
                     : MatrixBatch<T>::interleaved(array, ld, call.chunk);
    };
    const Form form = strided ? Form::batch : Form::interleaved;
    backend::Problem<T> problem{call.routine, form, call.uplo, {}, {}, {}};
    problem.sizes = {call.batch, call.n, call.nrhs};
    problem.A = view(call.A, call.lda, call.n);
    if (has_rhs(call.routine)) problem.B = view(call.B, call.ldb, call.nrhs);
    problem.info = call.info;
    problem.result = call.result;
    routine::BackendSlot* slot = nullptr;
    status = slot_of(h, function,
                     {{"A", call.A}, {"B", call.B}, {"info", call.info}, {"logdet", call.result}},
                     &slot);
    return status.ok() ? routine::run(h, *slot, function, problem) : status;
  });
}

/// What the arguments of a packing function are called.
struct PackNames {
  const char *matrices, *ld, *stride, *least_stride;
};
constexpr PackNames kTriangles{"A", "lda", "strideA", "lda * n"};
constexpr PackNames kRightHandSides{"B", "ldb", "strideB", "ldb * nrhs"};

/// Column-major matrices on one side, the interleaved array P on the other.
template <class T>
struct Packing {
  Routine routine;
  PackNames names = kTriangles;
  chol_uplo_t uplo = CHOL_LOWER;
  int64_t n;
  int64_t columns;
  T* matrices = nullptr;         ///< at a constant stride,
  T* const* pointers = nullptr;  ///< or behind an array of pointers
  bool strided;
  int64_t ld;
  int64_t stride = 0;
  T* P;
  int64_t ldp;
  int64_t chunk;
  int64_t batch;

  const void* array() const {
    return strided ? static_cast<const void*>(matrices) : static_cast<const void*>(pointers);
  }
  bool whole() const { return names.ld == kRightHandSides.ld; }
};

template <class T>
Status check_arguments(const char* function, const Packing<T>& call) {
  const bool any = call.n > 0 && call.columns > 0 && call.batch > 0;
  const PackNames& names = call.names;
  const int64_t steps = call.strided && call.batch > 1 ? call.batch - 1 : 0;
  Status status =
      check(function, {triangle(call.uplo), at_least("n", call.n, 0), countable("n", call.n),
                       at_least("nrhs", call.columns, 0), array(names.matrices, call.array(), any),
                       leading_dimension(names.ld, call.ld, call.n), array("P", call.P, any),
                       leading_dimension("ldp", call.ldp, call.n), at_least("chunk", call.chunk, 1),
                       at_least("batch", call.batch, 0)});
  if (!status.ok() || !any) return status;
  status = check(
      function,
      {extent(names.matrices, sizeof(T), call.ld, call.columns, steps > 0 ? call.stride : 0, steps),
       extent(names.matrices, sizeof(T*), call.strided ? 0 : call.batch, 1),
       interleaved_extent("P", sizeof(T), call.ldp, call.columns, call.chunk, call.batch)});
  if (status.ok() && steps > 0)
    status =
        check(function,
              {at_least(names.stride, call.stride, call.ld * call.columns, names.least_stride)});
  return status;
}

template <class T>
chol_status_t packing(chol_handle_t handle, const char* function, const Packing<T>& call) {
  return enter(handle, function, [&](chol_handle_s& h) {
    Status status = check_arguments(function, call);
    const bool any = call.n > 0 && call.columns > 0 && call.batch > 0;
    if (!status.ok() || !any) return status;
    routine::BackendSlot* slot = nullptr;
    status = slot_of(h, function, {{call.names.matrices, call.array()}, {"P", call.P}}, &slot);
    if (status.ok() && reads_host_arrays(*slot) && !call.strided)
      status = check_pointers(function, call.names.matrices, call.pointers, call.batch);
    if (!status.ok()) return status;
    const auto matrices = call.strided
                              ? MatrixBatch<T>::strided(call.matrices, call.ld, call.stride)
                              : MatrixBatch<T>::pointer_array(call.pointers, call.ld);
    const auto packed = MatrixBatch<T>::interleaved(call.P, call.ldp, call.chunk);
    const bool packs = call.routine == Routine::pack;
    backend::Problem<T> problem{call.routine, Form::interleaved, call.uplo, {}, {}, {}};
    problem.sizes = {call.batch, call.n, call.columns};
    problem.A = packs ? matrices : packed;
    problem.B = packs ? packed : matrices;
    problem.whole = call.whole();
    return routine::run(h, *slot, function, problem);
  });
}

}  // namespace
}  // namespace chol::api

using namespace chol;
using namespace chol::api;

#define CHOL_DEFINE_INTERLEAVED(p, T, R)                                                           \
  extern "C" chol_status_t chol_##p##potrf_interleaved(chol_handle_t handle, chol_uplo_t uplo,     \
                                                       int64_t n, T* A, int64_t lda,               \
                                                       int64_t chunk, int info[], int64_t batch) { \
    return interleaved<T>(handle, "chol_" #p "potrf_interleaved",                                  \
                          {.routine = Routine::potrf,                                              \
                           .uplo = uplo,                                                           \
                           .n = n,                                                                 \
                           .A = A,                                                                 \
                           .lda = lda,                                                             \
                           .chunk = chunk,                                                         \
                           .info = info,                                                           \
                           .batch = batch});                                                       \
  }                                                                                                \
  extern "C" chol_status_t chol_##p##potrs_interleaved(                                            \
      chol_handle_t handle, chol_uplo_t uplo, int64_t n, int64_t nrhs, const T* A, int64_t lda,    \
      T* B, int64_t ldb, int64_t chunk, int64_t batch) {                                           \
    return interleaved<T>(handle, "chol_" #p "potrs_interleaved",                                  \
                          {.routine = Routine::potrs,                                              \
                           .uplo = uplo,                                                           \
                           .n = n,                                                                 \
                           .nrhs = nrhs,                                                           \
                           .A = writable(A),                                                       \
                           .lda = lda,                                                             \
                           .B = B,                                                                 \
                           .ldb = ldb,                                                             \
                           .chunk = chunk,                                                         \
                           .batch = batch});                                                       \
  }                                                                                                \
  extern "C" chol_status_t chol_##p##posv_interleaved(                                             \
      chol_handle_t handle, chol_uplo_t uplo, int64_t n, int64_t nrhs, T* A, int64_t lda, T* B,    \
      int64_t ldb, int64_t chunk, int info[], int64_t batch) {                                     \
    return interleaved<T>(handle, "chol_" #p "posv_interleaved",                                   \
                          {.routine = Routine::posv,                                               \
                           .uplo = uplo,                                                           \
                           .n = n,                                                                 \
                           .nrhs = nrhs,                                                           \
                           .A = A,                                                                 \
                           .lda = lda,                                                             \
                           .B = B,                                                                 \
                           .ldb = ldb,                                                             \
                           .chunk = chunk,                                                         \
                           .info = info,                                                           \
                           .batch = batch});                                                       \
  }                                                                                                \
  extern "C" chol_status_t chol_##p##potri_interleaved(chol_handle_t handle, chol_uplo_t uplo,     \
                                                       int64_t n, T* A, int64_t lda,               \
                                                       int64_t chunk, int info[], int64_t batch) { \
    return interleaved<T>(handle, "chol_" #p "potri_interleaved",                                  \
                          {.routine = Routine::potri,                                              \
                           .uplo = uplo,                                                           \
                           .n = n,                                                                 \
                           .A = A,                                                                 \
                           .lda = lda,                                                             \
                           .chunk = chunk,                                                         \
                           .info = info,                                                           \
                           .batch = batch});                                                       \
  }                                                                                                \
  extern "C" chol_status_t chol_##p##logdet_interleaved(                                           \
      chol_handle_t handle, chol_uplo_t uplo, int64_t n, const T* A, int64_t lda, int64_t chunk,   \
      R logdet[], int64_t batch) {                                                                 \
    return interleaved<T>(handle, "chol_" #p "logdet_interleaved",                                 \
                          {.routine = Routine::logdet,                                             \
                           .uplo = uplo,                                                           \
                           .n = n,                                                                 \
                           .A = writable(A),                                                       \
                           .lda = lda,                                                             \
                           .chunk = chunk,                                                         \
                           .result = logdet,                                                       \
                           .batch = batch});                                                       \
  }
CHOL_FOR_EACH_PRECISION(CHOL_DEFINE_INTERLEAVED)

#define CHOL_DEFINE_PACK(p, T, R)                                                                  \
  extern "C" chol_status_t chol_##p##pack_interleaved(                                             \
      chol_handle_t handle, chol_uplo_t uplo, int64_t n, const T* A, int64_t lda, int64_t strideA, \
      T* P, int64_t ldp, int64_t chunk, int64_t batch) {                                           \
    return packing<T>(handle, "chol_" #p "pack_interleaved",                                       \
                      {.routine = Routine::pack,                                                   \
                       .uplo = uplo,                                                               \
                       .n = n,                                                                     \
                       .columns = n,                                                               \
                       .matrices = writable(A),                                                    \
                       .strided = true,                                                            \
                       .ld = lda,                                                                  \
                       .stride = strideA,                                                          \
                       .P = P,                                                                     \
                       .ldp = ldp,                                                                 \
                       .chunk = chunk,                                                             \
                       .batch = batch});                                                           \
  }                                                                                                \
  extern "C" chol_status_t chol_##p##unpack_interleaved(                                           \
      chol_handle_t handle, chol_uplo_t uplo, int64_t n, const T* P, int64_t ldp, T* A,            \
      int64_t lda, int64_t strideA, int64_t chunk, int64_t batch) {                                \
    return packing<T>(handle, "chol_" #p "unpack_interleaved",                                     \
                      {.routine = Routine::unpack,                                                 \
                       .uplo = uplo,                                                               \
                       .n = n,                                                                     \
                       .columns = n,                                                               \
                       .matrices = A,                                                              \
                       .strided = true,                                                            \
                       .ld = lda,                                                                  \
                       .stride = strideA,                                                          \
                       .P = writable(P),                                                           \
                       .ldp = ldp,                                                                 \
                       .chunk = chunk,                                                             \
                       .batch = batch});                                                           \
  }                                                                                                \
  extern "C" chol_status_t chol_##p##pack_interleaved_batched(                                     \
      chol_handle_t handle, chol_uplo_t uplo, int64_t n, const T* const A[], int64_t lda, T* P,    \
      int64_t ldp, int64_t chunk, int64_t batch) {                                                 \
    return packing<T>(handle, "chol_" #p "pack_interleaved_batched",                               \
                      {.routine = Routine::pack,                                                   \
                       .uplo = uplo,                                                               \
                       .n = n,                                                                     \
                       .columns = n,                                                               \
                       .pointers = writable(A),                                                    \
                       .strided = false,                                                           \
                       .ld = lda,                                                                  \
                       .P = P,                                                                     \
                       .ldp = ldp,                                                                 \
                       .chunk = chunk,                                                             \
                       .batch = batch});                                                           \
  }                                                                                                \
  extern "C" chol_status_t chol_##p##unpack_interleaved_batched(                                   \
      chol_handle_t handle, chol_uplo_t uplo, int64_t n, const T* P, int64_t ldp, T* const A[],    \
      int64_t lda, int64_t chunk, int64_t batch) {                                                 \
    return packing<T>(handle, "chol_" #p "unpack_interleaved_batched",                             \
                      {.routine = Routine::unpack,                                                 \
                       .uplo = uplo,                                                               \
                       .n = n,                                                                     \
                       .columns = n,                                                               \
                       .pointers = A,                                                              \
                       .strided = false,                                                           \
                       .ld = lda,                                                                  \
                       .P = writable(P),                                                           \
                       .ldp = ldp,                                                                 \
                       .chunk = chunk,                                                             \
                       .batch = batch});                                                           \
  }
CHOL_FOR_EACH_PRECISION(CHOL_DEFINE_PACK)

#define CHOL_DEFINE_PACK_RHS(p, T, R)                                                            \
  extern "C" chol_status_t chol_##p##pack_interleaved_rhs(                                       \
      chol_handle_t handle, int64_t n, int64_t nrhs, const T* B, int64_t ldb, int64_t strideB,   \
      T* P, int64_t ldp, int64_t chunk, int64_t batch) {                                         \
    return packing<T>(handle, "chol_" #p "pack_interleaved_rhs",                                 \
                      {.routine = Routine::pack,                                                 \
                       .names = kRightHandSides,                                                 \
                       .n = n,                                                                   \
                       .columns = nrhs,                                                          \
                       .matrices = writable(B),                                                  \
                       .strided = true,                                                          \
                       .ld = ldb,                                                                \
                       .stride = strideB,                                                        \
                       .P = P,                                                                   \
                       .ldp = ldp,                                                               \
                       .chunk = chunk,                                                           \
                       .batch = batch});                                                         \
  }                                                                                              \
  extern "C" chol_status_t chol_##p##unpack_interleaved_rhs(                                     \
      chol_handle_t handle, int64_t n, int64_t nrhs, const T* P, int64_t ldp, T* B, int64_t ldb, \
      int64_t strideB, int64_t chunk, int64_t batch) {                                           \
    return packing<T>(handle, "chol_" #p "unpack_interleaved_rhs",                               \
                      {.routine = Routine::unpack,                                               \
                       .names = kRightHandSides,                                                 \
                       .n = n,                                                                   \
                       .columns = nrhs,                                                          \
                       .matrices = B,                                                            \
                       .strided = true,                                                          \
                       .ld = ldb,                                                                \
                       .stride = strideB,                                                        \
                       .P = writable(P),                                                         \
                       .ldp = ldp,                                                               \
                       .chunk = chunk,                                                           \
                       .batch = batch});                                                         \
  }                                                                                              \
  extern "C" chol_status_t chol_##p##pack_interleaved_rhs_batched(                               \
      chol_handle_t handle, int64_t n, int64_t nrhs, const T* const B[], int64_t ldb, T* P,      \
      int64_t ldp, int64_t chunk, int64_t batch) {                                               \
    return packing<T>(handle, "chol_" #p "pack_interleaved_rhs_batched",                         \
                      {.routine = Routine::pack,                                                 \
                       .names = kRightHandSides,                                                 \
                       .n = n,                                                                   \
                       .columns = nrhs,                                                          \
                       .pointers = writable(B),                                                  \
                       .strided = false,                                                         \
                       .ld = ldb,                                                                \
                       .P = P,                                                                   \
                       .ldp = ldp,                                                               \
                       .chunk = chunk,                                                           \
                       .batch = batch});                                                         \
  }                                                                                              \
  extern "C" chol_status_t chol_##p##unpack_interleaved_rhs_batched(                             \
      chol_handle_t handle, int64_t n, int64_t nrhs, const T* P, int64_t ldp, T* const B[],      \
      int64_t ldb, int64_t chunk, int64_t batch) {                                               \
    return packing<T>(handle, "chol_" #p "unpack_interleaved_rhs_batched",                       \
                      {.routine = Routine::unpack,                                               \
                       .names = kRightHandSides,                                                 \
                       .n = n,                                                                   \
                       .columns = nrhs,                                                          \
                       .pointers = B,                                                            \
                       .strided = false,                                                         \
                       .ld = ldb,                                                                \
                       .P = writable(P),                                                         \
                       .ldp = ldp,                                                               \
                       .chunk = chunk,                                                           \
                       .batch = batch});                                                         \
  }
CHOL_FOR_EACH_PRECISION(CHOL_DEFINE_PACK_RHS)
