#include "spin.hpp"

namespace chol::test {

__global__ void spin_kernel(long long cycles) {
  extern __shared__ char memory[];
  const long long start = clock64();
  while (clock64() - start < cycles) memory[threadIdx.x] = 0;
}

cudaError_t spin(int blocks, int bytes, long long cycles, cudaStream_t stream) {
  const cudaError_t error =
      cudaFuncSetAttribute(spin_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  spin_kernel<<<blocks, 32, bytes, stream>>>(cycles);
  return cudaGetLastError();
}

}  // namespace chol::test
