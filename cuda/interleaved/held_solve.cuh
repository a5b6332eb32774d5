// Solves whose triangle is too large for the registers of one thread: its last columns are held
// there, the others in shared memory, so that each element is read from device memory once for both
// substitutions. One warp a block, one thread a matrix, one instance an order, unrolled.
#pragma once

#include "interleaved/kernels.hpp"
#include "interleaved/trapezoid.cuh"
#include "interleaved/walk.cuh"

namespace chol::cuda {

inline constexpr int kHeldThreads = kWarpThreads;

/// The factor of order N of one thread: its last kHeld columns in registers.
template <class E, int N, int kHeld>
struct HeldFactor {
  using V = gpu_lane::RealLaneOf<E>;
  static constexpr int kShared = N - kHeld;  ///< columns in shared memory
  static constexpr int kGroups = 4;          ///< commit groups of the shared columns, at most

  gpu_lane::Tile<E, kHeld, kHeld> held;
  E* shared;  ///< the thread's word of element 0
  E x[N];

  __device__ __forceinline__ E& at_shared(int i, int j) const {
    return shared[(j * N - j * (j - 1) / 2 + i - j) * kHeldThreads];
  }
  /// Commit groups that end before or with column j.
  template <int kColumn>
  static constexpr int kGroupOf = kColumn* kGroups / (kShared > 0 ? kShared : 1);

  template <int J = 0>
  __device__ __forceinline__ void fetch_columns(const E* top, int64_t rs, int64_t cs) {
    if constexpr (J < kShared) {
      const E* p = top;
#pragma unroll
      for (int i = J; i < N; ++i) {
        copy_async(&at_shared(i, J), p);
        p = walked(p + rs);
      }
      if constexpr (J + 1 == kShared || kGroupOf<J> != kGroupOf<J + 1>) commit_copies();
    } else {
      const E* p = top;
#pragma unroll
      for (int i = J; i < N; ++i) {
        held.e[i - kShared][J - kShared] = read_in_order(p);
        p = walked(p + rs);
      }
    }
    if constexpr (J + 1 < N) fetch_columns<J + 1>(walked(top + rs + cs), rs, cs);
  }

  /// Waits for the group that column J begins, where it begins one.
  template <int J>
  __device__ __forceinline__ static void wait_for_column() {
    if constexpr (J == 0)
      asm volatile("cp.async.wait_group %0;" ::"n"(kGroupOf<kShared - 1> - kGroupOf<0>) : "memory");
    else if constexpr (kGroupOf<J> != kGroupOf<J - 1>)
      asm volatile("cp.async.wait_group %0;" ::"n"(kGroupOf<kShared - 1> - kGroupOf<J>) : "memory");
  }
  template <int J>
  __device__ __forceinline__ E element(int i) const {
    if constexpr (J < kShared)
      return at_shared(i, J);
    else
      return held.e[i - kShared][J - kShared];
  }

  /// x := inverse(L) x. The first right-hand side puts reciprocals on the diagonal.
  template <int J = 0>
  __device__ __forceinline__ void forward(bool first) {
    if constexpr (J < kShared) {
      wait_for_column<J>();
      if (first) at_shared(J, J) = gpu_lane::from_real<E>(invert(real_part(at_shared(J, J))));
    } else if (first) {
      E& diagonal = held.e[J - kShared][J - kShared];
      diagonal = gpu_lane::from_real<E>(invert(real_part(diagonal)));
    }
    x[J] = gpu_lane::scale(x[J], real_part(element<J>(J)));
#pragma unroll
    for (int i = J + 1; i < N; ++i)
      x[i] = gpu_lane::subtract<false, false>(x[i], element<J>(i), x[J]);
    if constexpr (J + 1 < N) forward<J + 1>(first);
  }
  /// x := inverse(L^H) x, from column J down.
  template <int J = N - 1>
  __device__ __forceinline__ void backward() {
#pragma unroll
    for (int i = N - 1; i > J; --i)
      x[J] = gpu_lane::subtract<true, false>(x[J], element<J>(i), x[i]);
    x[J] = gpu_lane::scale(x[J], real_part(element<J>(J)));
    if constexpr (J > 0) backward<J - 1>();
  }
};

template <class T, int N, int kHeld>
__global__ void __launch_bounds__(kHeldThreads) held_solve_kernel(InterleavedCall<T> call) {
  using E = Lane<T>;
  extern __shared__ __align__(16) char shared_bytes[];
  const int64_t b = int64_t(blockIdx.x) * kHeldThreads + threadIdx.x;
  if (b >= call.batch || call.failed(b)) return;
  const LaneMatrix<E> A = call.triangle(b), B = call.right_hand_sides(b);
  HeldFactor<E, N, kHeld> L;
  L.shared = reinterpret_cast<E*>(shared_bytes) + threadIdx.x;
  L.fetch_columns(A.base, A.rs, A.cs);
  for (int64_t c = 0; c < call.nrhs; ++c) {
    const E* from = &B.at(0, c);
#pragma unroll
    for (int i = 0; i < N; ++i, from = walked(from + B.rs))
      L.x[i] = conj_if(call.swapped, read_in_order(from));
    L.forward(c == 0);
    // What shared memory holds is read again: kept in registers, it would drive others out.
    asm volatile("" ::: "memory");
    L.backward();
    E* to = &B.at(N - 1, c);
#pragma unroll
    for (int i = N - 1; i >= 0; --i, to = walked(to - B.rs))
      write_in_order(to, conj_if(call.swapped, L.x[i]));
  }
}

#ifndef __CUDACC_RTC__
template <class T, int N>
Status launch_held_solve(const InterleavedCall<T>& call, cudaStream_t stream) {
  constexpr int kHeld = kHeldColumns<T>;
  constexpr auto kBytes = int(held_block_bytes(sizeof(T), N, kHeld));
  auto* kernel = held_solve_kernel<T, N, kHeld>;
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (error != cudaSuccess) return status_of(error, "interleaved: shared memory");
  const auto blocks = static_cast<unsigned>((call.batch + kHeldThreads - 1) / kHeldThreads);
  kernel<<<blocks, kHeldThreads, kBytes, stream>>>(call);
  return launched("interleaved, held columns");
}

template <int kPart, class T>
Status run_held_solve(const InterleavedCall<T>& call, cudaStream_t stream) {
  Status status;
  constexpr int kFirst = kFirstHeldOrder<T> + kPart;
  const auto launch = [&]<int N>(gpu_lane::Count<N>) {
    if (call.n == N) status = launch_held_solve<T, N>(call, stream);
  };
  [&]<int... N>(std::integer_sequence<int, N...>) {
    (launch(gpu_lane::Count<kFirst + kOrderParts * N>{}), ...);
  }
  (std::make_integer_sequence<int, (kHeldOrder<T> - kFirst) / kOrderParts + 1>{});
  return status;
}
#endif

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_INTERLEAVED_HELD(part, T)                                     \
  template chol::Status chol::cuda::run_held_solve<part, T>(const InterleavedCall<T>&, \
                                                            cudaStream_t);
