// One warp or a few a matrix, its triangle in shared memory, as methods.
#include "interleaved/jit/accepts.hpp"
#include "interleaved/kernels.hpp"
#include "interleaved/method.hpp"

namespace chol::cuda {
namespace {

const AddInterleavedMethods methods([]<class T>(InterleavedMethods<T>& all) {
  all.add({kInterleavedWarps.name,
           [](const Case& asked, const Choice& choice) {
             if (is_of_one_rhs(asked.routine, choice) && asked.nrhs != 1) return false;
             return with_task(asked.routine, [&](auto task) {
                      return warp_factor_need<task(), T>(asked.n, warps_params(choice));
                    }) <= block_shared_limit();
           },
           [](Routine routine, const InterleavedCall<T>& call, const Choice& choice,
              cudaStream_t stream) {
             return with_task(routine, [&](auto task) {
               return run_warp_factor<task()>(call, warps_params(choice), stream);
             });
           }});
  all.add({kInterleavedWarpSolve.name,
           [](const Case& asked, const Choice&) {
             return asked.routine == Routine::potrs &&
                    warps_need<T>(asked.n) <= block_shared_limit();
           },
           [](Routine, const InterleavedCall<T>& call, const Choice&, cudaStream_t stream) {
             return run_warps(call, stream);
           }});
});

}  // namespace
}  // namespace chol::cuda
