// Compiled for compute capability 9.0a only.
#include <algorithm>

#include "native/residues/byte_product/byte_product.hpp"
#include "native/residues/byte_product/kernel.cuh"

namespace chol::cuda::residues {
namespace {

using EncodeMap = decltype(&cuTensorMapEncodeTiled);

/// Taken from the driver that the runtime uses: the library is not linked against the driver.
EncodeMap encode_map() {
  static const EncodeMap function = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found,
                                                               12000, cudaEnableDefault, &result);
#else
    const cudaError_t error =
        cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result);
#endif
    if (error != cudaSuccess || result != cudaDriverEntryPointSuccess) found = nullptr;
    return reinterpret_cast<EncodeMap>(found);
  }();
  return function;
}

/// Boxes of kBlockRows rows of ByteStages::kDepth bytes. Elements outside of the matrix are zero.
bool make_map(const ByteMatrix& operand, int moduli, CUtensorMap* map) {
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(operand.columns),
                              static_cast<cuuint64_t>(operand.rows),
                              static_cast<cuuint64_t>(moduli)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(operand.ld),
                                static_cast<cuuint64_t>(operand.stride)};
  const cuuint32_t box[] = {ByteStages::kDepth, kBlockRows, 1}, steps[] = {1, 1, 1};
  return encode_map()(map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 3, const_cast<int8_t*>(operand.first),
                      sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                      CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

}  // namespace

bool multiplies_bytes() {
  return device_attribute(cudaDevAttrComputeCapabilityMajor) == 9 &&
         device_attribute(cudaDevAttrComputeCapabilityMinor) == 0 && encode_map() != nullptr;
}

Status multiply_bytes(const ByteProduct& call, const ByteMatrix& X, const ByteMatrix& Y,
                      cudaStream_t stream) {
  CUtensorMap of_x, of_y;
  if (!make_map(X, call.product.moduli, &of_x) || !make_map(Y, call.product.moduli, &of_y))
    return Status::error(Status::kDeviceError, "product of bytes: a tensor map is refused");
  constexpr int kCluster = ByteProductKernel::kCluster;
  const auto multiprocessors = static_cast<int>(device_attribute(cudaDevAttrMultiProcessorCount));
  const auto clusters =
      static_cast<unsigned>(std::min(multiprocessors / kCluster, call.product.tiles()));
  return launch("byte_product", byte_product, dim3(clusters * kCluster),
                ByteProductKernel::kThreads, ByteStages::kShared, stream, call, of_x, of_y);
}

}  // namespace chol::cuda::residues
