// What CHOL_PRELOAD, CHOL_OFFLOAD, CHOL_VERBOSE and CHOL_REPORT ask for, read once per process.
#pragma once

#include <cstdint>

#include "chol.h"

namespace chol::preload {

enum class Family : uint8_t { potrf, potrs, posv, potri };

/// The bit of a routine family in one precision.
constexpr uint32_t selection_bit(Family family, char letter) noexcept {
  const int precision = letter == 's' ? 0 : letter == 'd' ? 1 : letter == 'c' ? 2 : 3;
  return uint32_t{1} << (4 * static_cast<int>(family) + precision);
}

struct Settings {
  uint32_t selected = 0xffff;  ///< selection_bit() of what is not left to the original
  chol_offload_t offload = CHOL_OFFLOAD_AUTO;
  bool report = false;                ///< a table at exit
  const char* report_file = nullptr;  ///< where it is appended; standard error when nullptr
};

Settings read_settings();

/// In line: every call asks.
inline const Settings& settings() {
  static const Settings read = read_settings();
  return read;
}

}  // namespace chol::preload
