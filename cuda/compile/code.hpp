// The code of a kernel that is not built: from disk, else compiled.
#pragma once

#include "base/status.hpp"
#include "compile/cubin.hpp"

namespace chol::cuda {

/// Takes the code from the folder, else compiles it and leaves it there.
/// @param[out] found whether the folder had it.
Status obtain_cubin(const std::string& folder, const KernelRequest& request, Cubin& cubin,
                    bool& found);

}  // namespace chol::cuda
