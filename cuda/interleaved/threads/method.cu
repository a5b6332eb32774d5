// Column by column, as a method: depending on the order a kernel in registers, with one thread a
// matrix or a few.
#include "interleaved/kernels.hpp"
#include "interleaved/method.hpp"

namespace chol::cuda {
namespace {

template <InterleavedTask kTask, int kPart, class T>
Status run_part(const InterleavedCall<T>& call, cudaStream_t stream) {
  if constexpr (kTask == InterleavedTask::solve)
    return run_threads_solve<kPart>(call, stream);
  else if (call.n <= kColumnOrder<kTask, T>)
    return run_columns<kTask, kPart>(call, stream);
  else
    return run_threads_factor<kTask, kPart>(call, stream);
}

template <InterleavedTask kTask, class T>
Status run(const InterleavedCall<T>& call, cudaStream_t stream) {
  constexpr int kFirst =
      kTask == InterleavedTask::solve ? kFirstThreadsOrder<kTask, T> : kFirstColumnOrder<T>;
  static_assert(kOrderParts == 2);
  if (call.n < kFirst) return run_registers<kTask>(call, 0, stream);
  return part_of_order<kTask, T>(call.n) == 1 ? run_part<kTask, 1>(call, stream)
                                              : run_part<kTask, 0>(call, stream);
}

const AddInterleavedMethods methods([]<class T>(InterleavedMethods<T>& all) {
  all.add({kInterleavedColumns.name,
           [](const Case& asked, const Choice& choice) {
             const bool of_order = choice.at(0) == 0 && choice.at(1) == 0;
             return of_order && (!is_of_one_rhs(asked.routine, choice) || asked.nrhs == 1) &&
                    asked.n <=
                        with_task(asked.routine, [](auto task) { return kPanelOrder<task(), T>; });
           },
           [](Routine routine, const InterleavedCall<T>& call, const Choice&, cudaStream_t stream) {
             return with_task(routine, [&](auto task) { return run<task()>(call, stream); });
           }});
});

}  // namespace
}  // namespace chol::cuda
