// Whether the process runs under libchol_preload.so, where nobody looks at the status of
// chol_create(): what is wrong with the environment is told on stderr there, and the default taken.
#pragma once

/// Defined by libchol_preload.so alone: tells of the environment, the first time that it is called.
extern "C" __attribute__((weak, visibility("default"))) void chol_preload_tell_environment();

namespace chol {

inline bool is_preloaded() { return chol_preload_tell_environment != nullptr; }

}  // namespace chol
