// Settings of the preload from the environment, read once per process.
#pragma once

#include <cstdint>

#include "base/selection.hpp"
#include "chol.h"

namespace chol::preload {

struct Settings {
  uint32_t selected;  ///< selection_bit() of the intercepted routines
  chol_offload_t offload;
  bool sets_threads;        ///< CHOL_NUM_THREADS says how many
  bool report;              ///< print the statistics at exit
  const char* report_path;  ///< the file that it is appended to; standard error when nullptr
  bool report_in_folder;    ///< that is a folder: chol-run's, for a file a process
};

/// Reports invalid values on stderr.
Settings read_settings();

/// Inline, since every call asks. A process without such calls prints no warnings.
inline const Settings& settings() {
  static const Settings read = read_settings();
  return read;
}

}  // namespace chol::preload
