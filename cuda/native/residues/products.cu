#include "native/residues/products.hpp"

namespace chol::cuda::residues {

ProductQueue::~ProductQueue() {
  for (auto& pair : events_)
    for (cudaEvent_t event : pair)
      if (event) cudaEventDestroy(event);
  if (stream_) cudaStreamDestroy(stream_);
  if (reports_) cudaFreeHost(reports_);
}

Status ProductQueue::prepare() {
  if (is_ready_) return Status::success();
  const auto make = [](cudaError_t error) { return status_of(error, "queue of products"); };
  int lowest = 0, highest = 0;
  Status status = make(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
  // The panels are the critical path: products give way to them.
  if (status.ok() && !stream_)
    status = make(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, lowest));
  for (auto& pair : events_)
    for (cudaEvent_t& event : pair)
      if (status.ok() && !event)
        status = make(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  if (status.ok() && !reports_)
    status = make(cudaMallocHost(reinterpret_cast<void**>(&reports_), 2 * sizeof(Report)));
  if (status.ok()) status = blas_.use(stream_);
  is_ready_ = status.ok();
  return status;
}

// One call a modulus: at depths of 4096 and more they run at 1.6 times the rate of a strided batch.
Status ProductQueue::multiply(const Planes& A, int64_t rows_a, const Planes& B, int64_t rows_b,
                              int64_t depth, int count, bool added, const Sums& sums) {
  const int one = 1, beta = added ? 1 : 0;
  for (int k = 0; k < count; ++k) {
    const cublasStatus_t status = cublasGemmEx(
        blas_.handle(), CUBLAS_OP_T, CUBLAS_OP_N, static_cast<int>(rows_a),
        static_cast<int>(rows_b), static_cast<int>(depth), &one, A.first + k * A.stride, CUDA_R_8I,
        static_cast<int>(A.ld), B.first + k * B.stride, CUDA_R_8I, static_cast<int>(B.ld), &beta,
        sums.first + k * sums.stride, CUDA_R_32I, static_cast<int>(sums.ld), CUBLAS_COMPUTE_32I,
        CUBLAS_GEMM_DEFAULT);
    if (status != CUBLAS_STATUS_SUCCESS)
      return Status::error(CHOL_STATUS_DEVICE_ERROR, "cuBLAS product of residues: %s",
                           cublasGetStatusString(status));
  }
  return Status::success();
}

}  // namespace chol::cuda::residues
