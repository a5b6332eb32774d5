// C ABI: one matrix in block columns over several devices.
#include "api/call.hpp"
#include "api/named_devices.hpp"
#include "base/precisions.h"
#include "routine/devices.hpp"
#include "routine/team.hpp"
#include "tile/cyclic_matrix.hpp"

namespace chol::api {
namespace {

/// The arrays of a cyclic matrix, each on its device.
template <class T>
Status check_parts(const char* function, const char* name, const char* ld_name,
                   routine::Handle::Devices devices, const routine::CyclicProblem<T>& problem) {
  const tile::Distribution over{problem.n, problem.nb, static_cast<int>(devices.size())};
  for (size_t d = 0; d < devices.size(); ++d) {
    char part[24], ld_part[24];
    std::snprintf(part, sizeof part, "%s[%zu]", name, d);
    std::snprintf(ld_part, sizeof ld_part, "%s[%zu]", ld_name, d);
    const int64_t columns = over.columns_of(static_cast<int>(d)), ld = problem.lda[d];
    Status status = check(
        function, {leading_dimension(ld_part, ld, problem.n),
                   array(part, problem.A[d], columns > 0), extent(part, sizeof(T), ld, columns)});
    if (status.ok() && columns > 0)
      status = check_on_device(function, part, problem.A[d], *devices[d]->backend);
    if (!status.ok()) return status;
  }
  return Status::success();
}

/// A call on checked arguments: the sizes and the parts of the matrix.
template <class T, class Body>
chol_status_t cyclic(chol_handle_t handle, const char* function, const char* name,
                     const char* ld_name, const routine::CyclicProblem<T>& problem, Body&& body) {
  return enter(handle, function, [&](chol_handle_s& h) {
    Status status = check_named_devices(function, h);
    if (status.ok())
      status = check(function, {triangle(problem.uplo), at_least("n", problem.n, 0),
                                countable("n", problem.n), at_least("nb", problem.nb, 1),
                                array(name, problem.A, true), array(ld_name, problem.lda, true)});
    if (status.ok()) status = check_parts(function, name, ld_name, h.named_devices(), problem);
    return status.ok() ? routine::keep_failure(h, [&] { return body(h); }) : status;
  });
}

/// A result of the call that the host reads.
template <class R>
Status check_result(const char* function, const char* name, const R* result,
                    const routine::Handle& h) {
  const Status status = check(function, {array(name, result, true)});
  if (!status.ok()) return status;
  return check_in_host_memory(function, name, result, *h.named_devices().front()->backend);
}

/// The right-hand sides of a solve: on the host or any one device.
template <class T>
Status check_rhs(const char* function, const routine::CyclicProblem<T>& problem) {
  return check(function, {at_least("nrhs", problem.nrhs, 0),
                          array("B", problem.B, problem.n > 0 && problem.nrhs > 0),
                          leading_dimension("ldb", problem.ldb, problem.n),
                          extent("B", sizeof(T), problem.ldb, problem.nrhs)});
}

template <class T>
chol_status_t redistribute(chol_handle_t handle, const char* function,
                           const routine::CyclicProblem<T>& problem, bool to_devices) {
  return cyclic(handle, function, "D", "ldd", problem, [&](chol_handle_s& h) {
    const Status status = check(function, {array("A", problem.B, problem.n > 0),
                                           leading_dimension("lda", problem.ldb, problem.n),
                                           extent("A", sizeof(T), problem.ldb, problem.n)});
    if (!status.ok()) return status;
    return to_devices ? routine::scatter_cyclic(h, function, problem)
                      : routine::gather_cyclic(h, function, problem);
  });
}

}  // namespace
}  // namespace chol::api

using namespace chol;
using namespace chol::api;

#define CHOL_DEFINE_CYCLIC(p, T, R)                                                                \
  extern "C" chol_status_t chol_##p##potrf_cyclic(chol_handle_t handle, chol_uplo_t uplo,          \
                                                  int64_t n, T* const A[], const int64_t lda[],    \
                                                  int64_t nb, int* info) {                         \
    static constexpr const char* kFunction = "chol_" #p "potrf_cyclic";                            \
    const routine::CyclicProblem<T> problem{.uplo = uplo, .n = n, .nb = nb, .A = A, .lda = lda};   \
    return cyclic<T>(handle, kFunction, "A", "lda", problem, [&](chol_handle_s& h) {               \
      const Status status = check_result(kFunction, "info", info, h);                              \
      return status.ok() ? routine::potrf_cyclic(h, kFunction, problem, info) : status;            \
    });                                                                                            \
  }                                                                                                \
  extern "C" chol_status_t chol_##p##potri_cyclic(chol_handle_t handle, chol_uplo_t uplo,          \
                                                  int64_t n, T* const A[], const int64_t lda[],    \
                                                  int64_t nb, int* info) {                         \
    static constexpr const char* kFunction = "chol_" #p "potri_cyclic";                            \
    const routine::CyclicProblem<T> problem{.uplo = uplo, .n = n, .nb = nb, .A = A, .lda = lda};   \
    return cyclic<T>(handle, kFunction, "A", "lda", problem, [&](chol_handle_s& h) {               \
      const Status status = check_result(kFunction, "info", info, h);                              \
      return status.ok() ? routine::potri_cyclic(h, kFunction, problem, info) : status;            \
    });                                                                                            \
  }                                                                                                \
  extern "C" chol_status_t chol_##p##potrs_cyclic(                                                 \
      chol_handle_t handle, chol_uplo_t uplo, int64_t n, int64_t nrhs, const T* const A[],         \
      const int64_t lda[], int64_t nb, T* B, int64_t ldb) {                                        \
    static constexpr const char* kFunction = "chol_" #p "potrs_cyclic";                            \
    const routine::CyclicProblem<T> problem{.uplo = uplo,                                          \
                                            .n = n,                                                \
                                            .nrhs = nrhs,                                          \
                                            .nb = nb,                                              \
                                            .A = writable(A),                                      \
                                            .lda = lda,                                            \
                                            .B = B,                                                \
                                            .ldb = ldb};                                           \
    return cyclic<T>(handle, kFunction, "A", "lda", problem, [&](chol_handle_s& h) {               \
      const Status status = check_rhs(kFunction, problem);                                         \
      return status.ok() ? routine::potrs_cyclic(h, kFunction, problem) : status;                  \
    });                                                                                            \
  }                                                                                                \
  extern "C" chol_status_t chol_##p##posv_cyclic(                                                  \
      chol_handle_t handle, chol_uplo_t uplo, int64_t n, int64_t nrhs, T* const A[],               \
      const int64_t lda[], int64_t nb, T* B, int64_t ldb, int* info) {                             \
    static constexpr const char* kFunction = "chol_" #p "posv_cyclic";                             \
    const routine::CyclicProblem<T> problem{                                                       \
        .uplo = uplo, .n = n, .nrhs = nrhs, .nb = nb, .A = A, .lda = lda, .B = B, .ldb = ldb};     \
    return cyclic<T>(handle, kFunction, "A", "lda", problem, [&](chol_handle_s& h) {               \
      Status status = check_rhs(kFunction, problem);                                               \
      if (status.ok()) status = check_result(kFunction, "info", info, h);                          \
      return status.ok() ? routine::posv_cyclic(h, kFunction, problem, info) : status;             \
    });                                                                                            \
  }                                                                                                \
  extern "C" chol_status_t chol_##p##logdet_cyclic(chol_handle_t handle, chol_uplo_t uplo,         \
                                                   int64_t n, const T* const A[],                  \
                                                   const int64_t lda[], int64_t nb, R* logdet) {   \
    static constexpr const char* kFunction = "chol_" #p "logdet_cyclic";                           \
    const routine::CyclicProblem<T> problem{                                                       \
        .uplo = uplo, .n = n, .nb = nb, .A = writable(A), .lda = lda};                             \
    return cyclic<T>(handle, kFunction, "A", "lda", problem, [&](chol_handle_s& h) {               \
      const Status status = check_result(kFunction, "logdet", logdet, h);                          \
      return status.ok() ? routine::logdet_cyclic(h, kFunction, problem, logdet) : status;         \
    });                                                                                            \
  }                                                                                                \
  extern "C" chol_status_t chol_##p##scatter_cyclic(                                               \
      chol_handle_t handle, chol_uplo_t uplo, int64_t n, const T* A, int64_t lda, T* const D[],    \
      const int64_t ldd[], int64_t nb) {                                                           \
    return redistribute<T>(                                                                        \
        handle, "chol_" #p "scatter_cyclic",                                                       \
        {.uplo = uplo, .n = n, .nb = nb, .A = D, .lda = ldd, .B = writable(A), .ldb = lda}, true); \
  }                                                                                                \
  extern "C" chol_status_t chol_##p##gather_cyclic(                                                \
      chol_handle_t handle, chol_uplo_t uplo, int64_t n, const T* const D[], const int64_t ldd[],  \
      int64_t nb, T* A, int64_t lda) {                                                             \
    return redistribute<T>(                                                                        \
        handle, "chol_" #p "gather_cyclic",                                                        \
        {.uplo = uplo, .n = n, .nb = nb, .A = writable(D), .lda = ldd, .B = A, .ldb = lda},        \
        false);                                                                                    \
  }
CHOL_FOR_EACH_PRECISION(CHOL_DEFINE_CYCLIC)
