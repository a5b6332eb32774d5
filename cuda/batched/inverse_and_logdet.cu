#include <algorithm>

#include "batched/inverse_and_logdet.hpp"
#include "common/log_of_positive.cuh"
#include "common/precisions.hpp"

namespace chol::cuda {
namespace {

constexpr int kThreads = 256;

unsigned blocks_for(int64_t items, int per_block) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

__global__ void summarize_kernel(const int* info, int64_t count, int64_t* failed, int64_t* first) {
  __shared__ unsigned long long bad, lowest;
  if (threadIdx.x == 0) bad = 0, lowest = ~0ull;
  __syncthreads();
  unsigned long long own = 0, own_lowest = ~0ull;
#pragma unroll 8
  for (int64_t b = threadIdx.x; b < count; b += blockDim.x)
    if (info[b] != 0) ++own, own_lowest = min(own_lowest, (unsigned long long)b);
  if (own) {
    atomicAdd(&bad, own);
    atomicMin(&lowest, own_lowest);
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  *failed = int64_t(bad);
  *first = bad ? int64_t(lowest) : -1;
}

template <class T>
__global__ void log_determinant_kernel(BatchProblem<T> problem, Real<T>* result) {
  const int64_t b = int64_t(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32;
  if (b >= problem.count) return;
  const int64_t n = problem.order(b);
  if (n < 0) return;
  const T* const A = n > 0 ? problem.A.matrix(b) : nullptr;
  const int64_t step = problem.A.leading_dimension(b) + 1;
  Real<T> sum = 0;
  for (int64_t i = threadIdx.x % 32; i < n; i += 32) sum += log_of_positive(real(A[i * step]));
  sum = sum_lanes<32>(sum);
  if (threadIdx.x % 32 == 0) result[b] = 2 * sum;
}

/// Blocks of a launch over the elements of every matrix: y counts parts of a matrix.
constexpr int64_t kPart = 16384;
int64_t parts_of(int64_t n) { return std::clamp<int64_t>(n * n / kPart, 1, 1024); }

template <class T>
__global__ void identity_kernel(BatchProblem<T> problem, int64_t parts) {
  const int64_t b = blockIdx.x / parts, part = blockIdx.x % parts, n = problem.order(b);
  if (n <= 0) return;
  T* const B = problem.B.matrix(b);
  const int64_t ld = problem.B.leading_dimension(b);
  for (int64_t j = part; j < n; j += parts)
    for (int64_t i = threadIdx.x; i < n; i += kThreads) B[j * ld + i] = from_real<T>(i == j);
}

template <class T>
__global__ void singular_kernel(BatchProblem<T> problem) {
  const int64_t b = int64_t(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32;
  if (b >= problem.count) return;
  const int64_t n = problem.order(b);
  if (n < 0) return;
  const T* const A = n > 0 ? problem.A.matrix(b) : nullptr;
  const int64_t step = problem.A.leading_dimension(b) + 1;
  unsigned first = ~0u;
  for (int64_t i = threadIdx.x % 32; i < n; i += 32)
    if (real(A[i * step]) == 0 && first == ~0u) first = static_cast<unsigned>(i);
  first = __reduce_min_sync(kFullWarp, first);
  if (threadIdx.x % 32 == 0) problem.info[b] = first == ~0u ? 0 : static_cast<int>(first) + 1;
}

template <class T>
__global__ void copy_inverse_kernel(BatchProblem<T> problem, int64_t parts) {
  __shared__ T tile[32][33];
  const int64_t b = blockIdx.x / parts, part = blockIdx.x % parts, n = problem.order(b);
  if (n <= 0 || problem.info[b] != 0) return;
  const LowerView<T> A = lower_view(problem, b);
  const T* const B = problem.B.matrix(b);
  const int64_t ldb = problem.B.leading_dimension(b), tiles = (n + 31) / 32;
  const int x = threadIdx.x % 32, y0 = threadIdx.x / 32;
  for (int64_t t = part; t < tiles * tiles; t += parts) {
    const int64_t ti = t % tiles * 32, tj = t / tiles * 32;
    if (ti < tj) continue;
    __syncthreads();
    for (int y = y0; y < 32; y += kThreads / 32)
      if (ti + x < n && tj + y < n) tile[y][x] = B[(tj + y) * ldb + ti + x];
    __syncthreads();
    for (int y = y0; y < 32; y += kThreads / 32) {
      const int64_t i = ti + (A.swapped ? y : x), j = tj + (A.swapped ? x : y);
      if (i >= n || j > i) continue;
      const T value = conj_if(A.swapped, A.swapped ? tile[x][y] : tile[y][x]);
      *A.at(i, j) = i == j ? from_real<T>(real(value)) : value;
    }
  }
}

template <class T>
__global__ void copy_solution_kernel(BatchProblem<T> problem, BatchView<T> X) {
  if (*problem.info != 0) return;
  for (int64_t j = blockIdx.x; j < problem.nrhs; j += gridDim.x)
    for (int64_t i = threadIdx.x; i < problem.n; i += kThreads)
      problem.B.first[j * problem.B.ld + i] = X.first[j * X.ld + i];
}

}  // namespace

Status summarize(const int* info, int64_t count, int64_t* failed, int64_t* first,
                 cudaStream_t stream) {
  summarize_kernel<<<1, 1024, 0, stream>>>(info, count, failed, first);
  return launched("info summary");
}

template <class T>
Status log_determinants(const BatchProblem<T>& problem, Real<T>* result, cudaStream_t stream) {
  log_determinant_kernel<<<blocks_for(problem.count, kThreads / 32), kThreads, 0, stream>>>(problem,
                                                                                            result);
  return launched("logdet");
}

template <class T>
Status set_identity(const BatchProblem<T>& problem, cudaStream_t stream) {
  const int64_t parts = parts_of(problem.n);
  identity_kernel<<<static_cast<unsigned>(problem.count * parts), kThreads, 0, stream>>>(problem,
                                                                                         parts);
  return launched("identity");
}

template <class T>
Status find_singular(const BatchProblem<T>& problem, cudaStream_t stream) {
  singular_kernel<<<blocks_for(problem.count, kThreads / 32), kThreads, 0, stream>>>(problem);
  return launched("singularity check");
}

template <class T>
Status copy_inverse(const BatchProblem<T>& problem, cudaStream_t stream) {
  const int64_t parts = parts_of(problem.n);
  copy_inverse_kernel<<<static_cast<unsigned>(problem.count * parts), kThreads, 0, stream>>>(
      problem, parts);
  return launched("inverse");
}

template <class T>
Status copy_solution(const BatchProblem<T>& problem, const BatchView<T>& X, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(std::min<int64_t>(problem.nrhs, 1024));
  copy_solution_kernel<<<blocks, kThreads, 0, stream>>>(problem, X);
  return launched("copy of X");
}

#define CHOL_INSTANTIATE(T)                                                                    \
  template Status copy_solution<T>(const BatchProblem<T>&, const BatchView<T>&, cudaStream_t); \
  template Status log_determinants<T>(const BatchProblem<T>&, Real<T>*, cudaStream_t);         \
  template Status set_identity<T>(const BatchProblem<T>&, cudaStream_t);                       \
  template Status find_singular<T>(const BatchProblem<T>&, cudaStream_t);                      \
  template Status copy_inverse<T>(const BatchProblem<T>&, cudaStream_t);
CHOL_FOR_EACH_DEVICE_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda
