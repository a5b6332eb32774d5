// Interleaved matrices in the shared memory of a thread block, as a method.
#include "interleaved/jit/accepts.hpp"
#include "interleaved/kernels.hpp"
#include "interleaved/method.hpp"

namespace chol::cuda {
namespace {

const AddInterleavedMethods methods([]<class T>(InterleavedMethods<T>& all) {
  all.add({kInterleavedShared.name,
           [](const Case& asked, const Choice& choice) {
             const int64_t need = with_task(asked.routine, [&](auto task) {
               return shared_need<task(), T>(asked.n, 1, shared_knobs(choice));
             });
             return need >= 0 && need <= block_shared_limit();
           },
           [](Routine routine, const InterleavedCall<T>& call, const Choice& choice,
              cudaStream_t stream) {
             return with_task(routine, [&](auto task) {
               return run_shared<task()>(call, shared_knobs(choice), stream);
             });
           }});
});

}  // namespace
}  // namespace chol::cuda
