// What the environment asks of the preload, read once per process.
#pragma once

#include <cstdint>

#include "base/selection.hpp"
#include "chol.h"

namespace chol::preload {

struct Settings {
  uint32_t selected;  ///< selection_bit() of what is not left to the original
  chol_offload_t offload;
  bool sets_threads;        ///< CHOL_NUM_THREADS says how many
  bool report;              ///< what was caught is told at exit
  const char* report_path;  ///< the file that it is appended to; standard error when nullptr
  bool report_in_folder;    ///< that is a folder: chol-run's, for a file a process
};

/// Tells on stderr of the values that are not understood.
Settings read_settings();

/// In line: every call asks. A process that makes none has nothing told to it.
inline const Settings& settings() {
  static const Settings read = read_settings();
  return read;
}

}  // namespace chol::preload
