#include <algorithm>

#include "call.hpp"
#include "call_choice.hpp"
#include "call_workspace.hpp"
#include "column_major_call.hpp"
#include "common/precisions.hpp"
#include "interleaved/call_steps.hpp"

namespace chol::cuda {
namespace {

using backend::Chosen;
using backend::Problem;
using backend::Resources;

template <class T>
Status run_host_matrix(DeviceState& state, const Problem<T>& problem, const RowTable& rows,
                       const Resources& resources) {
  const int64_t n = problem.sizes.n;
  if (Status status = check_order(n); !status.ok()) return status;
  Arena arena(resources.workspace, resources.workspace_bytes);
  const auto work = HostMatrixWorkspace<Device<T>>::carve(arena, n);
  const Choice& choice = *chosen_of(state, problem, rows, resources).choice;
  const HostMatrixThreads threads{native::Params::of(choice).leaf_threads, resources.threads};
  const TriangleView A{reinterpret_cast<char*>(problem.A.first), sizeof(T), n, problem.A.ld,
                       problem.uplo == CHOL_UPPER};
  return factor_host_matrix(A, threads, work, state.blas, state.staging, problem.info,
                            problem.factored);
}

/// Reads the bounds of a variable batch, the only case that synchronizes with the stream.
template <class T>
Status run_unbounded(DeviceState& state, Problem<T> problem, const RowTable& rows,
                     Resources resources) {
  const auto stream = static_cast<cudaStream_t>(resources.stream);
  BatchSizes& sizes = problem.sizes;
  Arena arena(resources.workspace, resources.workspace_bytes);
  int64_t* const largest = arena.take<int64_t>(2);
  int64_t bounds[2] = {0, 0};
  Status status = largest_value(sizes.orders, sizes.count, largest, stream);
  if (status.ok() && sizes.rhs_counts)
    status = largest_value(sizes.rhs_counts, sizes.count, largest + 1, stream);
  if (status.ok())
    status =
        status_of(cudaMemcpyAsync(bounds, largest, sizeof(int64_t) * (sizes.rhs_counts ? 2 : 1),
                                  cudaMemcpyDeviceToHost, stream),
                  "bounds of a variable batch");
  if (status.ok()) status = status_of(cudaStreamSynchronize(stream), "bounds of a variable batch");
  if (!status.ok()) return status;
  if (sizes.n == 0) sizes.n = bounds[0];
  if (sizes.nrhs == 0) sizes.nrhs = bounds[1];

  Arena counted;
  const Chosen chosen = choose(state, problem, rows);
  carve(counted, problem, chosen);
  status =
      status_of(cudaMallocAsync(&resources.workspace, std::max<size_t>(counted.used(), 1), stream),
                "workspace");
  if (!status.ok()) return status;
  resources.workspace_bytes = counted.used();
  status = run_column_major(state, problem, chosen, resources);
  const Status freed = status_of(cudaFreeAsync(resources.workspace, stream), "workspace");
  return status.ok() ? freed : status;
}

}  // namespace

template <class T>
size_t workspace_of(const DeviceState& state, const Problem<T>& problem, const RowTable& rows,
                    const Resources& resources) {
  if (problem.form == Form::interleaved)
    return interleaved_workspace(state, problem, chosen_of(state, problem, rows, resources));
  if (problem.factored) {
    Arena arena;
    HostMatrixWorkspace<Device<T>>::carve(arena, problem.sizes.n);
    return arena.used();
  }
  // The rest is allocated on the stream, once they are read.
  if (needs_bounds(problem.sizes)) return 2 * Arena::kAlignment;
  const DeviceGuard guard(state.device);
  Arena arena;
  carve(arena, problem, chosen_of(state, problem, rows, resources),
        residues_of(state, problem, resources));
  return arena.used();
}

template <class T>
Status run_call(DeviceState& state, const Problem<T>& problem, const RowTable& rows,
                const Resources& resources) {
  const DeviceGuard guard(state.device);
  if (problem.factored) return run_host_matrix(state, problem, rows, resources);
  if (needs_bounds(problem.sizes) && problem.form != Form::interleaved)
    return run_unbounded(state, problem, rows, resources);
  const Chosen chosen = chosen_of(state, problem, rows, resources);
  return problem.form == Form::interleaved ? run_interleaved_call(state, problem, chosen, resources)
                                           : run_column_major(state, problem, chosen, resources);
}

#define CHOL_INSTANTIATE(T)                                                               \
  template size_t workspace_of<T>(const DeviceState&, const Problem<T>&, const RowTable&, \
                                  const Resources&);                                      \
  template Status run_call<T>(DeviceState&, const Problem<T>&, const RowTable&, const Resources&);
CHOL_FOR_EACH_HOST_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda
