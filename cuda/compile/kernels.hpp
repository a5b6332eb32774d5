// Kernels compiled at run time, as the CUDA runtime launches them.
#pragma once

#include "compile/cubin.hpp"

namespace chol::cuda {

/// The kernel of a request, for cudaLaunchKernel and cudaFuncSetAttribute; null where it cannot be
/// had: that is remembered, and said under CHOL_VERBOSE. The first call for a request takes seconds
/// where the disk has nothing; it may stand in a stream capture. From any thread.
const void* compiled_kernel(const KernelRequest& request);

}  // namespace chol::cuda
