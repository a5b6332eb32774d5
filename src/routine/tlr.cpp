#include "routine/tlr.hpp"

#include "api/precisions.h"

namespace chol::routine {

template <class T>
Status tile_ops(Handle& handle, const char* function, std::unique_ptr<backend::TileOps<T>>& ops) {
  BackendSlot* const host = handle.slot(CHOL_BACKEND_HOST);
  if (host) {
    ops = host->backend->tile_ops(static_cast<const T*>(nullptr), handle.threads(*host->backend));
    handle.last_backend = CHOL_BACKEND_HOST;
  }
  if (!ops)
    return Status::error(CHOL_STATUS_NOT_SUPPORTED,
                         "%s: the handle has no host backend, where tile low rank matrices live",
                         function);
  return Status::success();
}

#define CHOL_INSTANTIATE(prefix, T, R) \
  template Status tile_ops<T>(Handle&, const char*, std::unique_ptr<backend::TileOps<T>>&);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::routine
