// C ABI: packing into interleaved batches, and out of them.
#include "api/call.hpp"
#include "base/precisions.h"

namespace chol::api {
namespace {

/// Names of the arguments of a packing function.
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

// Named triangles.
#define CHOL_DEFINE_PACK(p, T, R)                                                                 \
  CHOL_ENTRY(p, pack_interleaved,                                                                 \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t n, const T* A, int64_t lda,         \
              int64_t strideA, T* P, int64_t ldp, int64_t chunk, int64_t batch),                  \
             packing<T>,                                                                          \
             {.routine = Routine::pack,                                                           \
              .uplo = uplo,                                                                       \
              .n = n,                                                                             \
              .columns = n,                                                                       \
              .matrices = writable(A),                                                            \
              .strided = true,                                                                    \
              .ld = lda,                                                                          \
              .stride = strideA,                                                                  \
              .P = P,                                                                             \
              .ldp = ldp,                                                                         \
              .chunk = chunk,                                                                     \
              .batch = batch})                                                                    \
  CHOL_ENTRY(p, unpack_interleaved,                                                               \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t n, const T* P, int64_t ldp, T* A,   \
              int64_t lda, int64_t strideA, int64_t chunk, int64_t batch),                        \
             packing<T>,                                                                          \
             {.routine = Routine::unpack,                                                         \
              .uplo = uplo,                                                                       \
              .n = n,                                                                             \
              .columns = n,                                                                       \
              .matrices = A,                                                                      \
              .strided = true,                                                                    \
              .ld = lda,                                                                          \
              .stride = strideA,                                                                  \
              .P = writable(P),                                                                   \
              .ldp = ldp,                                                                         \
              .chunk = chunk,                                                                     \
              .batch = batch})                                                                    \
  CHOL_ENTRY(p, pack_interleaved_batched,                                                         \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t n, const T* const A[], int64_t lda, \
              T* P, int64_t ldp, int64_t chunk, int64_t batch),                                   \
             packing<T>,                                                                          \
             {.routine = Routine::pack,                                                           \
              .uplo = uplo,                                                                       \
              .n = n,                                                                             \
              .columns = n,                                                                       \
              .pointers = writable(A),                                                            \
              .strided = false,                                                                   \
              .ld = lda,                                                                          \
              .P = P,                                                                             \
              .ldp = ldp,                                                                         \
              .chunk = chunk,                                                                     \
              .batch = batch})                                                                    \
  CHOL_ENTRY(p, unpack_interleaved_batched,                                                       \
             (chol_handle_t handle, chol_uplo_t uplo, int64_t n, const T* P, int64_t ldp,         \
              T* const A[], int64_t lda, int64_t chunk, int64_t batch),                           \
             packing<T>,                                                                          \
             {.routine = Routine::unpack,                                                         \
              .uplo = uplo,                                                                       \
              .n = n,                                                                             \
              .columns = n,                                                                       \
              .pointers = A,                                                                      \
              .strided = false,                                                                   \
              .ld = lda,                                                                          \
              .P = writable(P),                                                                   \
              .ldp = ldp,                                                                         \
              .chunk = chunk,                                                                     \
              .batch = batch})
CHOL_FOR_EACH_PRECISION(CHOL_DEFINE_PACK)

// Right-hand sides.
#define CHOL_DEFINE_PACK_RHS(p, T, R)                                                         \
  CHOL_ENTRY(p, pack_interleaved_rhs,                                                         \
             (chol_handle_t handle, int64_t n, int64_t nrhs, const T* B, int64_t ldb,         \
              int64_t strideB, T* P, int64_t ldp, int64_t chunk, int64_t batch),              \
             packing<T>,                                                                      \
             {.routine = Routine::pack,                                                       \
              .names = kRightHandSides,                                                       \
              .n = n,                                                                         \
              .columns = nrhs,                                                                \
              .matrices = writable(B),                                                        \
              .strided = true,                                                                \
              .ld = ldb,                                                                      \
              .stride = strideB,                                                              \
              .P = P,                                                                         \
              .ldp = ldp,                                                                     \
              .chunk = chunk,                                                                 \
              .batch = batch})                                                                \
  CHOL_ENTRY(p, unpack_interleaved_rhs,                                                       \
             (chol_handle_t handle, int64_t n, int64_t nrhs, const T* P, int64_t ldp, T* B,   \
              int64_t ldb, int64_t strideB, int64_t chunk, int64_t batch),                    \
             packing<T>,                                                                      \
             {.routine = Routine::unpack,                                                     \
              .names = kRightHandSides,                                                       \
              .n = n,                                                                         \
              .columns = nrhs,                                                                \
              .matrices = B,                                                                  \
              .strided = true,                                                                \
              .ld = ldb,                                                                      \
              .stride = strideB,                                                              \
              .P = writable(P),                                                               \
              .ldp = ldp,                                                                     \
              .chunk = chunk,                                                                 \
              .batch = batch})                                                                \
  CHOL_ENTRY(p, pack_interleaved_rhs_batched,                                                 \
             (chol_handle_t handle, int64_t n, int64_t nrhs, const T* const B[], int64_t ldb, \
              T* P, int64_t ldp, int64_t chunk, int64_t batch),                               \
             packing<T>,                                                                      \
             {.routine = Routine::pack,                                                       \
              .names = kRightHandSides,                                                       \
              .n = n,                                                                         \
              .columns = nrhs,                                                                \
              .pointers = writable(B),                                                        \
              .strided = false,                                                               \
              .ld = ldb,                                                                      \
              .P = P,                                                                         \
              .ldp = ldp,                                                                     \
              .chunk = chunk,                                                                 \
              .batch = batch})                                                                \
  CHOL_ENTRY(p, unpack_interleaved_rhs_batched,                                               \
             (chol_handle_t handle, int64_t n, int64_t nrhs, const T* P, int64_t ldp,         \
              T* const B[], int64_t ldb, int64_t chunk, int64_t batch),                       \
             packing<T>,                                                                      \
             {.routine = Routine::unpack,                                                     \
              .names = kRightHandSides,                                                       \
              .n = n,                                                                         \
              .columns = nrhs,                                                                \
              .pointers = B,                                                                  \
              .strided = false,                                                               \
              .ld = ldb,                                                                      \
              .P = writable(P),                                                               \
              .ldp = ldp,                                                                     \
              .chunk = chunk,                                                                 \
              .batch = batch})
CHOL_FOR_EACH_PRECISION(CHOL_DEFINE_PACK_RHS)
