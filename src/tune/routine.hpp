// Routines and forms.
#pragma once

#include <cstdint>

namespace chol {

enum class Routine : uint8_t { potrf, potrs, posv, potri, pocon, logdet, pack, unpack };
inline constexpr int kRoutineCount = 8;
const char* routine_name(Routine routine);

/// One matrix and a batch of the same size are different problems: threads share the matrix or the
/// batch. In an interleaved batch the same element of consecutive matrices is contiguous.
enum class Form : uint8_t { one, batch, interleaved };
inline constexpr int kFormCount = 3;
const char* form_name(Form form);

}  // namespace chol
