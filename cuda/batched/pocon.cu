#include "batched/driver.hpp"
#include "batched/pocon.hpp"
#include "common/precisions.hpp"

namespace chol::cuda {
namespace {

constexpr int kThreads = 1024;
constexpr int kMostIterations = 5;
constexpr int kMostSolves = 2 * kMostIterations + 1;
enum Phase { kUniform, kFirstSigns, kUnit, kSigns, kAlternating };

template <class T>
__device__ Real<T> magnitude(T x) {
  if constexpr (Traits<T>::is_complex)
    return hypot(x.re, x.im);
  else
    return abs(x);
}

/// Sums over the block in an order that does not depend on timing; every thread gets the result.
template <class R>
__device__ R block_sum(R own, R* shared) {
  own = sum_lanes<32>(own);
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = own;
  __syncthreads();
  return sum_lanes<32>(shared[threadIdx.x % 32]);
}

/// Index of the largest magnitude, the lowest one if there are several; every thread gets it.
template <class T>
__device__ int64_t block_largest(const T* x, int64_t n, Real<T>* values, int64_t* indices) {
  Real<T> most = -1;
  int64_t index = 0;
  for (int64_t i = threadIdx.x; i < n; i += kThreads)
    if (magnitude(x[i]) > most) most = magnitude(x[i]), index = i;
  for (int distance = 16; distance > 0; distance /= 2) {
    const Real<T> other = __shfl_xor_sync(kFullWarp, most, distance);
    const int64_t other_index = __shfl_xor_sync(kFullWarp, index, distance);
    if (other > most || (other == most && other_index < index)) most = other, index = other_index;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) values[threadIdx.x / 32] = most, indices[threadIdx.x / 32] = index;
  __syncthreads();
  for (int w = 0; w < kThreads / 32; ++w)
    if (values[w] > values[0] || (values[w] == values[0] && indices[w] < indices[0])) {
      __syncthreads();
      if (threadIdx.x == 0) values[0] = values[w], indices[0] = indices[w];
      __syncthreads();
    }
  return indices[0];
}

/// x := sign(x). @return whether any sign of a real x changed since the last time.
template <class T>
__device__ bool take_signs(T* x, signed char* signs, int64_t n) {
  bool changed = false;
  for (int64_t i = threadIdx.x; i < n; i += kThreads) {
    if constexpr (Traits<T>::is_complex) {
      const Real<T> size = magnitude(x[i]);
      x[i] = size > 0 ? T{x[i].re / size, x[i].im / size} : from_real<T>(1);
      changed = true;
    } else {
      const signed char sign = x[i] >= 0 ? 1 : -1;
      changed = changed || sign != signs[i];
      signs[i] = sign;
      x[i] = sign;
    }
  }
  return __syncthreads_or(changed);
}

template <class T>
__device__ void set_unit(T* x, int64_t n, int64_t index) {
  for (int64_t i = threadIdx.x; i < n; i += kThreads) x[i] = from_real<T>(i == index);
}
template <class T>
__device__ void set_alternating(T* x, int64_t n) {
  for (int64_t i = threadIdx.x; i < n; i += kThreads) {
    const Real<T> size = 1 + Real<T>(i) / Real<T>(n > 1 ? n - 1 : 1);
    x[i] = from_real<T>(i % 2 ? -size : size);
  }
}

template <class T>
__global__ void start_kernel(ConditionWorkspace<T> work, int64_t n) {
  for (int64_t i = threadIdx.x; i < n; i += kThreads) {
    work.x[i] = from_real<T>(Real<T>(1) / Real<T>(n));
    work.signs[i] = 0;
  }
  if (threadIdx.x == 0) *work.state = {0, kUniform, 1, Real<T>(0), 0};
}

/// One step of the estimator with the solution in x, which becomes the next right-hand side.
template <class T>
__global__ void __launch_bounds__(kThreads) step_kernel(ConditionWorkspace<T> work, int64_t n) {
  using R = Real<T>;
  __shared__ R values[32];
  __shared__ int64_t indices[32];
  ConditionState<R>& state = *work.state;
  if (state.done) return;
  T* const x = work.x;
  const int phase = state.phase;
  R estimate = state.estimate;
  int next = phase, iteration = state.iteration;
  int64_t index = state.index;
  bool done = false;

  if (phase == kFirstSigns || phase == kSigns) {
    const int64_t before = index;
    index = block_largest(x, n, values, indices);
    const bool settled = phase == kSigns && (magnitude(x[before]) == magnitude(x[index]) ||
                                             iteration >= kMostIterations);
    next = settled ? kAlternating : kUnit;
    iteration += !settled;
    __syncthreads();
    if (!settled) set_unit(x, n, index);
  } else {
    R own = 0;
    for (int64_t i = threadIdx.x; i < n; i += kThreads) own += magnitude(x[i]);
    const R sum = block_sum(own, values);
    if (phase == kUniform) {
      estimate = sum;
      done = n == 1;
      next = kFirstSigns;
      take_signs(x, work.signs, n);
    } else if (phase == kUnit) {
      const bool grown = sum > estimate;
      const bool changed = take_signs(x, work.signs, n);
      next = grown && changed ? kSigns : kAlternating;
      // Every such sum is a lower bound: the larger one is kept.
      estimate = grown ? sum : estimate;
    } else {
      estimate = max(estimate, 2 * sum / R(3 * n));
      done = true;
    }
  }
  if (next == kAlternating && !done) set_alternating(x, n);
  __syncthreads();
  if (threadIdx.x == 0) state = {done, next, iteration, estimate, index};
}

template <class R>
__global__ void finish_kernel(const ConditionState<R>* state, int64_t n, R anorm, R* rcond) {
  if (n == 0)
    *rcond = 1;
  else
    *rcond = anorm == 0 || !(state->estimate > 0) ? R(0) : 1 / state->estimate / anorm;
}

}  // namespace

template <class T>
Status estimate_condition(BatchProblem<T> problem, const SolveChoice& solves,
                          const ConditionWorkspace<T>& work, Real<T> anorm, Real<T>* rcond,
                          cudaStream_t stream) {
  const int64_t n = problem.n;
  problem.nrhs = 1;
  problem.B = {work.x, 0, nullptr, n, nullptr};
  if (n > 0) {
    start_kernel<T><<<1, kThreads, 0, stream>>>(work, n);
    problem.info = &work.state->done;
    for (int solve = 0; solve < kMostSolves; ++solve) {
      Status status = solve_batch(problem, solves, stream);
      if (!status.ok()) return status;
      step_kernel<T><<<1, kThreads, 0, stream>>>(work, n);
    }
  }
  finish_kernel<<<1, 1, 0, stream>>>(work.state, n, anorm, rcond);
  return launched("condition estimate");
}

#define CHOL_INSTANTIATE(T)                                                              \
  template Status estimate_condition<T>(BatchProblem<T>, const SolveChoice&,             \
                                        const ConditionWorkspace<T>&, Real<T>, Real<T>*, \
                                        cudaStream_t);
CHOL_FOR_EACH_DEVICE_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda
