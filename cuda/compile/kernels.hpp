// Kernels compiled at run time, as the CUDA runtime launches them.
#pragma once

#include "compile/cubin.hpp"

namespace chol::cuda {

/// The kernel of a request, for cudaLaunchKernel and cudaFuncSetAttribute; null on failure, which
/// is remembered and reported under CHOL_VERBOSE. The first call for a request takes seconds unless
/// the code is on disk; it is allowed in a stream capture. Thread-safe.
const void* compiled_kernel(const KernelRequest& request);

}  // namespace chol::cuda
