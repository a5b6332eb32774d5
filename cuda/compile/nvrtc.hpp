// NVRTC, the run-time compiler, opened with dlopen if it is installed.
#pragma once

#include "base/status.hpp"
#include "compile/cubin.hpp"

namespace chol::cuda {

/// NVRTC's version (100 major + minor), 0 where there is none.
int nvrtc_version();

/// CHOL_STATUS_NOT_SUPPORTED without NVRTC; CHOL_STATUS_INTERNAL with the beginning of the
/// compiler's log on an error.
Status compile(const KernelRequest& request, Cubin& cubin);

/// A file name that identifies everything on which the code of a request depends.
std::string request_key(const KernelRequest& request);

}  // namespace chol::cuda
