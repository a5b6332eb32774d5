// Tasks of the kernels of interleaved batches. Plain C++.
#pragma once

namespace chol::cuda {

enum class InterleavedTask { factor, solve, factor_and_solve };

}  // namespace chol::cuda
