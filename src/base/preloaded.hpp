// Whether the process runs under libchol_preload.so, where no caller checks the status of
// chol_create(): invalid variables are then reported on stderr and replaced by their defaults.
#pragma once

/// Defined by libchol_preload.so only: reports invalid variables when called for the first time.
extern "C" __attribute__((weak, visibility("default"))) void chol_preload_tell_environment();

namespace chol {

inline bool is_preloaded() { return chol_preload_tell_environment != nullptr; }

}  // namespace chol
