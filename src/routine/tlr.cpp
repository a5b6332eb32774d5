#include "routine/tlr.hpp"

#include "base/precisions.h"

namespace chol::routine {

template <class T>
std::unique_ptr<backend::TileOps<T>> tile_ops(Handle& handle) {
  BackendSlot* const device = handle.slot(CHOL_BACKEND_CUDA);
  const BackendSlot& slot = *(device ? device : handle.slot(CHOL_BACKEND_HOST));
  backend::Backend& backend = *slot.backend;
  handle.last_backend = backend.kind();
  return backend.tile_ops(static_cast<const T*>(nullptr), handle.threads(backend), slot.stream);
}

#define CHOL_INSTANTIATE(prefix, T, R) \
  template std::unique_ptr<backend::TileOps<T>> tile_ops<T>(Handle&);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::routine
