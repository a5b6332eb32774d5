#include "compile/code.hpp"

#include "compile/cache.hpp"
#include "compile/nvrtc.hpp"

namespace chol::cuda {

Status obtain_cubin(const std::string& folder, const KernelRequest& request, Cubin& cubin,
                    bool& found) {
  const std::string key = request_key(request);
  found = load_cubin(folder, key, cubin);
  if (found) return Status::success();
  const Status status = compile(request, cubin);
  if (status.ok()) store_cubin(folder, key, cubin);
  return status;
}

}  // namespace chol::cuda
