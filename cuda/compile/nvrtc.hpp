// NVRTC, the compiler as a library, where the machine has one: it is opened, not linked.
#pragma once

#include "base/status.hpp"
#include "compile/cubin.hpp"

namespace chol::cuda {

/// NVRTC's version (100 major + minor), 0 where there is none.
int nvrtc_version();

/// CHOL_STATUS_NOT_SUPPORTED without NVRTC; CHOL_STATUS_INTERNAL with the compiler's first words
/// where it refuses.
Status compile(const KernelRequest& request, Cubin& cubin);

/// Everything that the code of a request depends on, as a name for a file.
std::string request_key(const KernelRequest& request);

}  // namespace chol::cuda
