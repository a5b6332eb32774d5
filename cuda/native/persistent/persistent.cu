#include <algorithm>

#include "common/precisions.hpp"
#include "native/persistent/persistent.hpp"
#include "native/update/launch.hpp"

namespace chol::cuda::persistent {

template <class T>
Workspace<T> Workspace<T>::carve(Arena& arena, int64_t n, int64_t columns) {
  const auto tiles = [](int64_t count) {
    return (count + Config<T>::kOrder - 1) / Config<T>::kOrder;
  };
  Workspace work;
  work.flags = arena.take<int>(flag_ints(tiles(n), tiles(columns)));
  work.scratch = arena.take<Doubled<T>>(4 * tiles(columns) * Config<T>::kScratchTile);
  return work;
}

namespace {

DeviceFacts describe(int number) {
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    cudaDeviceGetAttribute(&value, which, number);
    return value;
  };
  return {number, attribute(cudaDevAttrMultiProcessorCount),
          attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin),
          attribute(cudaDevAttrComputeCapabilityMajor) >= 9 &&
              attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio) <= 2};
}

/// The current device; the last result is cached per thread, since the query takes longer than a
/// launch.
const DeviceFacts& current_device() {
  thread_local DeviceFacts last;
  int number = 0;
  cudaGetDevice(&number);
  if (last.multiprocessors == 0 || last.number != number) last = describe(number);
  return last;
}

}  // namespace

template <class T>
bool can_run() {
  const DeviceFacts& device = current_device();
  return device.is_fit && device.shared_bytes >= shared_bytes<T>() && device.multiprocessors >= 2;
}

template <class T>
Status factor_columns(const BatchProblem<T>& problem, int64_t first, int64_t columns, int groups,
                      const Workspace<T>& work, cudaStream_t stream) {
  const int64_t n = problem.n - first, ld = problem.A.ld;
  const bool in_array = problem.A.pointers != nullptr;
  const Call<T> call{in_array ? nullptr : problem.A.first + first * (ld + 1),
                     problem.A.pointers,
                     ld,
                     static_cast<int>(n),
                     static_cast<int>(std::min(columns, n)),
                     static_cast<int>(first),
                     groups,
                     problem.info,
                     work.flags,
                     work.scratch};
  const DeviceFacts& device = current_device();
  return problem.swapped ? run_stored<T, true>(call, device, stream)
                         : run_stored<T, false>(call, device, stream);
}

template <class T>
Status update_columns(const BatchProblem<T>& problem, int64_t first, int64_t depth, int64_t column,
                      int64_t width, cudaStream_t stream) {
  const update::Call<T> call{problem.A.first,
                             problem.A.ld,
                             static_cast<int>(problem.n),
                             static_cast<int>(first),
                             static_cast<int>(depth),
                             static_cast<int>(column),
                             static_cast<int>(width)};
  const DeviceFacts& device = current_device();
  return problem.swapped ? update::run_stored<T, true>(call, device, stream)
                         : update::run_stored<T, false>(call, device, stream);
}

template <class T>
Status update_rectangle(const update::RectangleCall<T>& call, bool swapped, cudaStream_t stream) {
  const DeviceFacts& device = current_device();
  return swapped ? update::run_rectangle<T, true>(call, device, stream)
                 : update::run_rectangle<T, false>(call, device, stream);
}

#define CHOL_INSTANTIATE(T)                                                                     \
  template struct Workspace<T>;                                                                 \
  template bool can_run<T>();                                                                   \
  template Status factor_columns<T>(const BatchProblem<T>&, int64_t, int64_t, int,              \
                                    const Workspace<T>&, cudaStream_t);                         \
  template Status update_columns<T>(const BatchProblem<T>&, int64_t, int64_t, int64_t, int64_t, \
                                    cudaStream_t);                                              \
  template Status update_rectangle<T>(const update::RectangleCall<T>&, bool, cudaStream_t);
CHOL_FOR_EACH_DEVICE_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda::persistent
