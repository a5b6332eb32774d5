#include "interleaved/choose.hpp"
#include "interleaved/driver.hpp"
#include "interleaved/jit/run.hpp"

namespace chol::cuda {
namespace {

/// Whether a row's method can handle one of its cases.
template <class T>
bool accepts_case(const Case& asked, const Choice& choice) {
  const bool packs = asked.routine == Routine::pack || asked.routine == Routine::unpack;
  if (packs || choice.is(kInterleavedPack)) return packs && choice.is(kInterleavedPack);
  if (runs_in_slices(asked.routine, choice)) return true;
  if (choice.is(kInterleavedTwoSteps)) return asked.routine == Routine::posv;
  if (asked.routine > Routine::posv) return choice.is(kInterleavedStreamed);
  return is_built<T>(asked, choice) || is_compilable<T>(asked, choice);
}

}  // namespace

int chunk_bits(int64_t chunk, int64_t batch) {
  if (chunk >= batch) return 62;
  if (chunk & (chunk - 1)) return -1;
  int bits = 0;
  while ((int64_t(1) << bits) < chunk) ++bits;
  return bits;
}

template <class T>
bool accepts_interleaved(const Row& row) {
  Case least{row.routine, row.form, row.precision};
  least.n = row.cases.n.most;
  least.nrhs = row.cases.nrhs.least;
  Case most = least;
  most.nrhs = row.cases.nrhs.most;
  return row.choice.is_in_range() && accepts_case<T>(least, row.choice) &&
         accepts_case<T>(most, row.choice);
}

template <class T>
Status run_interleaved(Routine routine, const InterleavedCall<T>& call, Choice& choice,
                       cudaStream_t stream) {
  if (routine == Routine::potrs && (call.nrhs == 0 || call.n == 0)) return Status::success();
  Case asked{routine, Form::interleaved, kPrecision<T>};
  asked.n = call.n;
  asked.nrhs = call.nrhs;
  Status status;
  try_interleaved_choices<T>(asked, Choice(choice), [&](const Choice& its, bool compiles) {
    bool had = true;
    status =
        compiles
            ? with_task(routine,
                        [&](auto task) { return run_compiled<task()>(call, its, stream, had); })
            : interleaved_methods<T>.find(its.method->name)->run(routine, call, its, stream);
    if (had) choice = its;
    return had;
  });
  return status;
}

#define CHOL_INSTANTIATE(T)                         \
  template bool accepts_interleaved<T>(const Row&); \
  template Status run_interleaved<T>(Routine, const InterleavedCall<T>&, Choice&, cudaStream_t);
CHOL_FOR_EACH_DEVICE_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda
