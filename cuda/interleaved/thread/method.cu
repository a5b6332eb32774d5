// One thread a matrix, as methods: in registers, in device memory, and by register tiles, whose
// kernels are all compiled at run time.
#include "interleaved/kernels.hpp"
#include "interleaved/method.hpp"

namespace chol::cuda {
namespace {

const AddInterleavedMethods methods([]<class T>(InterleavedMethods<T>& all) {
  all.add({kInterleavedRegisters.name,
           [](const Case& asked, const Choice&) { return asked.n <= kRegisterOrder<T>; },
           [](Routine routine, const InterleavedCall<T>& call, const Choice& choice,
              cudaStream_t stream) {
             return with_task(routine, [&](auto task) {
               return run_registers<task()>(call, choice.at(0), stream);
             });
           }});
  all.add({kInterleavedStreamed.name, [](const Case&, const Choice&) { return true; },
           [](Routine routine, const InterleavedCall<T>& call, const Choice&, cudaStream_t stream) {
             if (routine == Routine::potri) return run_inverse(call, stream);
             return with_task(routine,
                              [&](auto task) { return run_streamed<task()>(call, stream); });
           }});
  all.add({kInterleavedTiled.name, [](const Case&, const Choice&) { return false; }, nullptr});
});

}  // namespace
}  // namespace chol::cuda
