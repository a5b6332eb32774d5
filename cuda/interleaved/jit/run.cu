#include "common/precisions.hpp"
#include "compile/kernels.hpp"
#include "interleaved/jit/request.hpp"
#include "interleaved/jit/run.hpp"
#include "interleaved/kernels.hpp"

namespace chol::cuda {
namespace {

CompileTarget current_device() {
  int device = 0;
  cudaGetDevice(&device);
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    cudaDeviceGetAttribute(&value, which, device);
    return value;
  };
  return {10 * attribute(cudaDevAttrComputeCapabilityMajor) +
              attribute(cudaDevAttrComputeCapabilityMinor),
          attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin),
          attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor)};
}

struct Launch {
  unsigned blocks, threads;
  int bytes;
};

/// @param matrices of a block.
template <class T>
Launch launch_for(const InterleavedCall<T>& call, int matrices, int threads, int64_t bytes) {
  return {static_cast<unsigned>((call.batch + matrices - 1) / matrices),
          static_cast<unsigned>(threads), static_cast<int>(bytes)};
}

template <InterleavedTask kTask, class T>
Launch launch_of(InterleavedCall<T>& call, const Choice& choice, int64_t block_memory) {
  if (choice.is(kInterleavedColumns)) {
    constexpr KernelKind kKind{kRoutineOf<kTask>, kPrecision<T>};
    const ColumnsParams params = ColumnsParams::of(choice);
    const ThreadsShape shape = threads_shape(kKind, params, call.n);
    const int matrices = shape.threads > 0 ? shape.matrices() : kWarpThreads;
    return launch_for(call, matrices, kWarpThreads, columns_block_bytes(kKind, params, call.n));
  }
  if (choice.is(kInterleavedShared)) {
    const SharedKnobs knobs = shared_knobs(choice);
    const SharedLaunch settled = prepare_shared<kTask>(call, knobs, block_memory);
    return {settled.blocks, static_cast<unsigned>(knobs.threads), settled.bytes};
  }
  const int threads = choice.is(kInterleavedTiled) ? tiled_knobs(choice).threads : choice.at(0);
  return launch_for(call, threads, threads, 0);
}

}  // namespace

template <InterleavedTask kTask, class T>
Status run_compiled(InterleavedCall<T> call, const Choice& choice, cudaStream_t stream, bool& had) {
  const CompileTarget device = current_device();
  const void* const kernel = compiled_kernel(
      interleaved_request(kRoutineOf<kTask>, kPrecision<T>, choice, call.n, device));
  had = kernel != nullptr;
  if (!had) return Status::success();
  const Launch its = launch_of<kTask>(call, choice, device.block_memory);
  void* arguments[] = {&call};
  return launch("interleaved, compiled kernel", kernel, its.blocks, its.threads, its.bytes, stream,
                arguments);
}

#define CHOL_INSTANTIATE_TASK(task, T)                                                      \
  template Status run_compiled<InterleavedTask::task, T>(InterleavedCall<T>, const Choice&, \
                                                         cudaStream_t, bool&);
#define CHOL_INSTANTIATE(T)        \
  CHOL_INSTANTIATE_TASK(factor, T) \
  CHOL_INSTANTIATE_TASK(solve, T)  \
  CHOL_INSTANTIATE_TASK(factor_and_solve, T)
CHOL_FOR_EACH_DEVICE_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE
#undef CHOL_INSTANTIATE_TASK

}  // namespace chol::cuda
