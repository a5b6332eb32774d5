// The one exported symbol of a backend plug-in, such as libchol_cuda.so. A plug-in must be built
// from the same tree as libchol.so; a version check rejects any other.
#pragma once

#include "backend/backend.hpp"

namespace chol::backend {

/// Increases with every change to backend.hpp, panel_ops.hpp and plane_ops.hpp.
inline constexpr int kPluginVersion = 13;

/// The plug-in's entry. On failure sets *status (NO_DEVICE with the reason, when there is none) and
/// returns nullptr. The caller owns what it returns and deletes it before closing the plug-in.
using OpenFunction = Backend*(int plugin_version, int device_count, const int* devices,
                              Status* status);
inline constexpr const char* kOpenSymbol = "chol_backend_open";

}  // namespace chol::backend
