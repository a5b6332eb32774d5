// Routines intercepted by libchol_preload.so: a bit for each family and precision.
#pragma once

#include <cstdint>

namespace chol {

enum class Family : uint8_t { potrf, potrs, posv, potri };

/// The bit of a routine family in one precision.
constexpr uint32_t selection_bit(Family family, char letter) noexcept {
  const int precision = letter == 's' ? 0 : letter == 'd' ? 1 : letter == 'c' ? 2 : 3;
  return uint32_t{1} << (4 * static_cast<int>(family) + precision);
}
inline constexpr uint32_t kEveryRoutine = 0xffff;

}  // namespace chol
