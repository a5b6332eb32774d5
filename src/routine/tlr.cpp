#include "routine/tlr.hpp"

#include "base/precisions.h"
#include "tlr/describe.hpp"

namespace chol::routine {

template <class T>
std::unique_ptr<backend::TileOps<T>> tile_ops(Handle& handle, bool on_host) {
  BackendSlot* const device = handle.slot(CHOL_BACKEND_CUDA);
  BackendSlot* const host = handle.slot(CHOL_BACKEND_HOST);
  const BackendSlot& slot = *(device && !(on_host && host) ? device : host);
  backend::Backend& backend = *slot.backend;
  handle.last_backend = backend.kind();
  return backend.tile_ops(static_cast<const T*>(nullptr), handle.threads(backend), slot.stream);
}

template <class T>
bool pivots_on_host(Handle& handle) {
  return handle.slot(CHOL_BACKEND_CUDA) && handle.slot(CHOL_BACKEND_HOST) &&
         !tile_ops<T>(handle, false)->can_pivot();
}

void move_to_host(TlrMatrix& A) {
  if (A.on_host) return;
  A.apply([&]<class T>(tlr::Matrix<T>& matrix) {
    const auto from = tile_ops<T>(*A.handle, false), to = tile_ops<T>(*A.handle, true);
    tlr::move_to(*from, *to, matrix);
  });
  A.on_host = true;
}

void bring_together(TlrMatrix& A, TlrMatrix& B) {
  if (A.on_host != B.on_host) move_to_host(A.on_host ? B : A);
}

#define CHOL_INSTANTIATE(prefix, T, R)                                      \
  template std::unique_ptr<backend::TileOps<T>> tile_ops<T>(Handle&, bool); \
  template bool pivots_on_host<T>(Handle&);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::routine
