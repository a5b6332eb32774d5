// C ABI: one system in two precisions.
#include "routine/mixed_posv.hpp"

#include "api/call.hpp"

namespace chol::api {
namespace {

template <class T>
Status check_mixed(const char* function, const routine::MixedSystem<T>& call) {
  const bool any = call.n > 0 && call.nrhs > 0;
  Status status =
      check(function, {triangle(call.uplo), at_least("n", call.n, 0), countable("n", call.n),
                       at_least("nrhs", call.nrhs, 0), array("A", call.A, call.n > 0),
                       leading_dimension("lda", call.lda, call.n), array("B", call.B, any),
                       leading_dimension("ldb", call.ldb, call.n), array("X", call.X, any),
                       leading_dimension("ldx", call.ldx, call.n), array("iter", call.iter, true),
                       array("info", call.info, true), extent("A", sizeof(T), call.lda, call.n),
                       extent("B", sizeof(T), call.ldb, call.nrhs),
                       extent("X", sizeof(T), call.ldx, call.nrhs)});
  if (status.ok() && any && call.B == call.X)
    return Status::error(CHOL_STATUS_INVALID_VALUE, "%s: X = B, must be another array", function);
  return status;
}

template <class T>
chol_status_t posv_mixed(chol_handle_t handle, const char* function,
                         const routine::MixedSystem<T>& call) {
  return enter(handle, function, [&](chol_handle_s& h) {
    Status status = check_mixed(function, call);
    if (!status.ok()) return status;
    routine::BackendSlot* slot = nullptr;
    status = slot_of(h, function, {{"A", call.A}, {"B", call.B}, {"X", call.X}}, &slot);
    return status.ok() ? routine::run_mixed(h, *slot, function, call) : status;
  });
}

}  // namespace
}  // namespace chol::api

#define CHOL_DEFINE_MIXED(name, T)                                                               \
  extern "C" chol_status_t chol_##name(chol_handle_t handle, chol_uplo_t uplo, int64_t n,        \
                                       int64_t nrhs, T* A, int64_t lda, const T* B, int64_t ldb, \
                                       T* X, int64_t ldx, int* iter, int* info) {                \
    return chol::api::posv_mixed<T>(handle, "chol_" #name,                                       \
                                    {uplo, n, nrhs, A, lda, B, ldb, X, ldx, iter, info});        \
  }
CHOL_DEFINE_MIXED(dsposv, double)
CHOL_DEFINE_MIXED(zcposv, std::complex<double>)
