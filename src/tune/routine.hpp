// Routines and forms, and the plans of interleaved batches on a device.
#pragma once

#include <cstdint>

namespace chol {

enum class Routine : uint8_t { potrf, potrs, posv, potri, pocon, logdet, pack, unpack };
inline constexpr int kRoutineCount = 8;
const char* routine_name(Routine routine);

/// One matrix and a batch of the same size are different problems: threads go into the matrix or
/// over the matrices. In an interleaved batch the matrices lie side by side, element by element.
enum class Form : uint8_t { one, batch, interleaved };
inline constexpr int kFormCount = 3;
const char* form_name(Form form);

/// How the matrices of an interleaved batch are worked on by a CUDA device, and the numbers of the
/// method, 0 where it has none: cuda/tune/interleaved_rows.hpp says what each means there.
enum class Method : uint8_t { lanes, panel, tiles, fused, blocked };
struct Plan {
  Method method = Method::panel;
  int block = 0, tile = 0, threads = 0;
};

}  // namespace chol
