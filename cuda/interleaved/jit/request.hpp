// Compile requests for kernels that rows of interleaved batches name and that are not built. Plain
// C++.
#pragma once

#include "compile/cubin.hpp"
#include "interleaved/jit/accepts.hpp"

namespace chol::cuda {

/// Target device of a compilation.
struct CompileTarget {
  int capability = 0;            ///< 10 major + minor
  int64_t block_memory = 0;      ///< shared memory that a block can have, in bytes
  int64_t processor_memory = 0;  ///< and all blocks of a multiprocessor
};

/// @param routine potrf, potrs or posv.
/// @param precision s, d, c or z.
/// @param choice one that can_compile() accepts.
KernelRequest interleaved_request(Routine routine, char precision, const Choice& choice, int n,
                                  const CompileTarget& device);

}  // namespace chol::cuda
