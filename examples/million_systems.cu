// A million small positive definite systems whose matrices never leave the device: generated there
// by a kernel, factored and solved by one call, checked there. One of them is not positive definite
// on purpose, to show how a batch reports that.
#include <chol.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr int64_t kSystems = 1000000;
constexpr int kOrder = 8;
constexpr int64_t kMatrix = kOrder * kOrder;
constexpr int64_t kSpoiled = 271828;

void must(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

/// A number in (-1, 1) that depends on its index only.
__device__ double noise(uint64_t index) {
  index = (index + 1) * 0x9e3779b97f4a7c15u;
  index = (index ^ (index >> 31)) * 0xbf58476d1ce4e5b9u;
  return double(int64_t(index ^ (index >> 29)) >> 11) * 0x1p-52;
}

/// System s: a dominant diagonal, noise below it, and the right-hand side whose solution is 1, 2,
/// ...
__global__ void make_systems(double* A, double* b) {
  const int64_t s = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (s >= kSystems) return;
  double rhs[kOrder] = {};
  for (int j = 0; j < kOrder; ++j)
    for (int i = j; i < kOrder; ++i) {
      double a = noise(s * kMatrix + j * kOrder + i);
      if (i == j) a += kOrder;
      if (i == j && s == kSpoiled) a = -1;
      A[s * kMatrix + j * kOrder + i] = a;
      rhs[i] += a * (j + 1);
      if (i != j) rhs[j] += a * (i + 1);
    }
  for (int i = 0; i < kOrder; ++i) b[s * kOrder + i] = rhs[i];
}

/// Systems that were solved to within 1e-12.
__global__ void count_right(const double* x, unsigned long long* right) {
  const int64_t s = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (s >= kSystems) return;
  bool good = true;
  for (int i = 0; i < kOrder; ++i) good = good && fabs(x[s * kOrder + i] - (i + 1)) < 1e-12;
  if (good) atomicAdd(right, 1ull);
}

/// All calls are asynchronous on the default stream; the host waits only before it reads the
/// results.
bool solve(chol_handle_t handle) {
  double *A, *b;
  int* info;
  unsigned long long* right;
  int64_t* summary;  // failed, first; pinned memory, which kernels write to like any other
  must(cudaMalloc(&A, sizeof(double) * kSystems * kMatrix));
  must(cudaMalloc(&b, sizeof(double) * kSystems * kOrder));
  must(cudaMalloc(&info, sizeof(int) * kSystems));
  must(cudaMalloc(&right, sizeof *right));
  must(cudaMallocHost(&summary, 2 * sizeof *summary));
  cudaEvent_t before, after;
  must(cudaEventCreate(&before));
  must(cudaEventCreate(&after));

  constexpr int kThreads = 256, kBlocks = (kSystems + kThreads - 1) / kThreads;
  bool good = true;
  for (int round = 0; round < 2 && good; ++round) {  // the first loads the kernels
    make_systems<<<kBlocks, kThreads>>>(A, b);
    must(cudaEventRecord(before));
    good = chol_dposv_strided_batched(handle, CHOL_LOWER, kOrder, 1, A, kOrder, kMatrix, b, kOrder,
                                      kOrder, info, kSystems) == CHOL_STATUS_SUCCESS;
    must(cudaEventRecord(after));
  }
  good = good &&
         chol_info_summary(handle, info, kSystems, &summary[0], &summary[1]) == CHOL_STATUS_SUCCESS;
  must(cudaMemsetAsync(right, 0, sizeof *right));
  count_right<<<kBlocks, kThreads>>>(b, right);
  unsigned long long solved = 0;
  must(cudaMemcpy(&solved, right, sizeof solved, cudaMemcpyDeviceToHost));
  if (good) {
    float ms = 0;
    must(cudaEventElapsedTime(&ms, before, after));
    std::printf(
        "%lld systems of order %d in %.3f ms: %llu right, %lld not positive definite, the "
        "first of them number %lld\n",
        static_cast<long long>(kSystems), kOrder, ms, solved, static_cast<long long>(summary[0]),
        static_cast<long long>(summary[1]));
    good = solved == kSystems - 1 && summary[0] == 1 && summary[1] == kSpoiled;
  } else {
    std::fprintf(stderr, "%s\n", chol_last_error(handle));
  }
  cudaFree(A);
  cudaFree(b);
  cudaFree(info);
  cudaFree(right);
  cudaFreeHost(summary);
  cudaEventDestroy(before);
  cudaEventDestroy(after);
  return good;
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("SKIPPED: no CUDA device\n");
    return 0;
  }
  chol_handle_t handle;
  if (chol_create(&handle) != CHOL_STATUS_SUCCESS) {
    std::fprintf(stderr, "%s\n", chol_last_error(nullptr));
    return 1;
  }
  const bool good = solve(handle);
  chol_destroy(handle);
  return good ? 0 : 1;
}
