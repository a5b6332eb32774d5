#include <algorithm>

#include "common/precisions.hpp"
#include "native/solve/blocks.hpp"
#include "native/solve/launch.hpp"
#include "native/solve/solve.hpp"

namespace chol::cuda::solve {
namespace {

/// Bytes of the inverses, and of the products, that are stored at a time.
constexpr int64_t kMostBytes = int64_t(32) << 20;

int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

/// Properties of the current device; the last result is cached per thread, since the query takes
/// longer than a launch.
struct DeviceFacts {
  int number = -1;
  int multiprocessors = 0;
  int64_t shared_bytes = 0;
};
const DeviceFacts& current_device() {
  thread_local DeviceFacts last;
  int number = 0;
  cudaGetDevice(&number);
  if (last.number != number)
    last = {number, static_cast<int>(device_attribute(cudaDevAttrMultiProcessorCount)),
            block_shared_limit()};
  return last;
}

/// Elements of the solutions of a sweep.
template <class T>
int64_t vector_elements(int64_t n, int64_t nrhs, int link) {
  return round_up(n, Config<T>::kOrder) * kernel_columns<T>(nrhs, link);
}

/// At most kMostColumns right-hand sides.
template <class T>
Status run_few(const BatchProblem<T>& problem, int link, const int* info, const Workspace<T>& work,
               cudaStream_t stream) {
  const Status status = status_of(
      cudaMemsetAsync(work.published, 0xFF, work.published_bytes, stream), "solve of one matrix");
  if (!status.ok()) return status;
  Call<T> call{{problem.A.first, problem.A.ld, static_cast<int>(problem.n),
                is_aligned(problem.A.first, problem.A.ld)},
               problem.B.first,
               problem.B.ld,
               static_cast<int>(problem.nrhs),
               info,
               reinterpret_cast<int*>(work.published),
               reinterpret_cast<T*>(work.published + Arena::kAlignment),
               nullptr,
               nullptr,
               work.near_tiles};
  const int64_t vector = vector_elements<T>(problem.n, problem.nrhs, link);
  call.backward = call.forward + vector;
  call.sums = call.backward + vector;
  const int multiprocessors = current_device().multiprocessors;
  return problem.swapped ? run_strips<T, true>(call, link, multiprocessors, stream)
                         : run_strips<T, false>(call, link, multiprocessors, stream);
}

/// Calls body(part) for so many right-hand sides at a time.
template <class T, class Body>
Status in_parts(const BatchProblem<T>& problem, int64_t columns, Body&& body) {
  Status status;
  for (int64_t first = 0; first < problem.nrhs && status.ok(); first += columns) {
    BatchProblem<T> part = problem;
    part.B.first += first * problem.B.ld;
    part.nrhs = std::min(columns, problem.nrhs - first);
    status = body(part);
  }
  return status;
}

}  // namespace

template <class T>
Workspace<T> Workspace<T>::carve(Arena& arena, const Params& params, int64_t n, int64_t nrhs) {
  Workspace work;
  if (nrhs <= params.few) {
    work.columns = std::min<int64_t>(nrhs, kMostColumns);
    // With long links sums are published too.
    const int link = params.link_of(work.columns), vectors = link == 1 ? 2 : 4;
    work.published_bytes =
        Arena::kAlignment + sizeof(T) * vectors * vector_elements<T>(n, work.columns, link);
    work.published = arena.take<char>(work.published_bytes);
    if (link > 1)
      work.near_tiles = arena.take<T>(current_device().multiprocessors * link * Config<T>::kTile);
  } else {
    const int64_t order = params.block;
    work.columns = std::min(nrhs, kMostBytes / int64_t(sizeof(T)) / order);
    work.diagonal =
        DiagonalWorkspace<T>::carve(arena, order, n, kMostBytes, order * work.columns, true);
  }
  return work;
}

template <class T>
bool can_run() {
  const auto largest = []<class... Built>(ShapeList<Built...>) {
    return larger(Columns<T, Built::kColumns, Built::kLink>::kSharedBytes...);
  };
  return current_device().shared_bytes >= largest(Shapes<T>{});
}

template <class T>
bool can_run(const Params& params) {
  const bool is_built = params.linked == 0 || kernel_columns<T>(params.linked, 2) > 0;
  return params.is_valid() && is_built && can_run<T>();
}

template <class T>
Status run(const BatchProblem<T>& problem, const Params& params, const int* info,
           const Workspace<T>& work, Blas& blas, cudaStream_t stream) {
  if (problem.n == 0 || problem.nrhs == 0) return Status::success();
  if (problem.nrhs <= params.few)
    return in_parts(problem, work.columns, [&](const BatchProblem<T>& part) {
      return run_few(part, params.link_of(work.columns), info, work, stream);
    });
  Status status = blas.use(stream);
  if (!status.ok()) return status;
  Blocks<T> blocks(problem, work, blas, stream);
  return in_parts(problem, work.columns,
                  [&](const BatchProblem<T>& part) { return blocks.solve(part); });
}

#define CHOL_INSTANTIATE(T)                                                                      \
  template struct Workspace<T>;                                                                  \
  template bool can_run<T>();                                                                    \
  template bool can_run<T>(const Params&);                                                       \
  template Status run<T>(const BatchProblem<T>&, const Params&, const int*, const Workspace<T>&, \
                         Blas&, cudaStream_t);
CHOL_FOR_EACH_DEVICE_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda::solve
