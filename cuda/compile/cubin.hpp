// Kernels compiled at run time: request and result.
#pragma once

#include <string>

namespace chol::cuda {

struct KernelRequest {
  std::string header;  ///< "interleaved/shared/factor.cuh"
  std::string name;    ///< the instance as C++ writes it: "chol::cuda::shared_kernel<float, ...>"
  int capability = 0;  ///< 10 major + minor
};

struct Cubin {
  std::string symbol;  ///< of the instance in the code
  std::string code;
};

}  // namespace chol::cuda
