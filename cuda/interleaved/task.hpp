// What kernels of interleaved batches are told apart by. Plain C++.
#pragma once

namespace chol::cuda {

enum class InterleavedTask { factor, solve, factor_and_solve };

}  // namespace chol::cuda
