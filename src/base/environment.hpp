// The environment variables, read once per process.
#pragma once

#include "base/offload_mode.hpp"

namespace chol {

struct Environment {
  bool verbose = false;                    ///< CHOL_VERBOSE is set and not 0
  int num_threads = 0;                     ///< CHOL_NUM_THREADS, 0 when unset or no number >= 1
  const char* backend = nullptr;           ///< CHOL_BACKEND
  const char* tuning_file = nullptr;       ///< CHOL_TUNING
  const char* user_tuning_file = nullptr;  ///< where chol-tune writes for this user
  chol_offload_t offload = CHOL_OFFLOAD_NEVER;  ///< CHOL_OFFLOAD
  const char* host_isa = nullptr;               ///< CHOL_HOST_ISA: avx512, avx2 or portable
};

/// secure_getenv, so that a setuid program is not steered by its caller.
const Environment& environment();

}  // namespace chol
