// The one symbol of a backend plug-in, such as libchol_cuda.so. A plug-in is built from the same
// tree as libchol.so; the version refuses one that is not.
#pragma once

#include "backend/backend.hpp"

namespace chol::backend {

/// Grows with every change to backend.hpp and panel_ops.hpp.
inline constexpr int kPluginVersion = 12;

/// The plug-in's entry. On failure sets *status (NO_DEVICE and why, when there is none) and returns
/// nullptr. The caller owns what it returns and deletes it before closing the plug-in.
using OpenFunction = Backend*(int plugin_version, int device_count, const int* devices,
                              Status* status);
inline constexpr const char* kOpenSymbol = "chol_backend_open";

}  // namespace chol::backend
