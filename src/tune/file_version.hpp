// The version of tuning files.
#pragma once

namespace chol {

/// Increases when an older file would be misread. Files without "version" have version 1.
inline constexpr int kTuningFileVersion = 2;

}  // namespace chol
