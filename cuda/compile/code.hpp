// The code of a kernel that is not in the plug-in: from disk, else compiled.
#pragma once

#include "base/status.hpp"
#include "compile/cubin.hpp"

namespace chol::cuda {

/// Reads the code from the folder, else compiles it and stores it there. @param[out] found whether
/// it was in the folder.
Status obtain_cubin(const std::string& folder, const KernelRequest& request, Cubin& cubin,
                    bool& found);

}  // namespace chol::cuda
