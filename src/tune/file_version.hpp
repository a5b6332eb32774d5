// The version of tuning files.
#pragma once

namespace chol {

/// Grows when a file of before would be read wrongly. Files without "version" are of version 1.
inline constexpr int kTuningFileVersion = 2;

}  // namespace chol
