#include "common/precisions.hpp"
#include "interleaved/driver.hpp"
#include "interleaved/jit/run.hpp"
#include "interleaved/kernels.hpp"
#include "interleaved/method.hpp"

namespace chol::cuda {
namespace {

template <class T>
bool is_built(const Case& asked, const Choice& choice) {
  const InterleavedMethod<T>* const method = interleaved_methods<T>.find(choice);
  return method && method->is_built(asked, choice);
}

/// Of a choice that no kernel is built for.
template <class T>
bool is_compilable(const Case& asked, const Choice& choice) {
  if (is_of_one_rhs(asked.routine, choice) && asked.nrhs != 1) return false;
  return can_compile({asked.routine, kPrecision<T>}, choice, asked.n, block_shared_limit());
}

/// The built kernel of shared/factor.cuh that is most like one that is wanted, or one for any
/// order.
template <class T>
Choice nearest_shared(const Case& asked, const SharedKnobs& wanted) {
  const auto apart = [](int a, int b) { return a > b ? double(a) / b : double(b) / a; };
  Choice nearest = kInterleavedStreamed;
  double distance = 1e9;
  for (const int columns : {4, 8})
    for (const int bytes : {16, 32, 64, 128})
      for (const int threads : {32, 64, 96, 128}) {
        const int matrices = bytes / int(sizeof(T));
        const Choice built{kInterleavedShared,
                           {{"columns", columns}, {"matrices", matrices}, {"threads", threads}}};
        const double own = apart(columns, wanted.columns) * apart(matrices, wanted.lanes) *
                           apart(threads, wanted.threads);
        if (own >= distance || !is_built<T>(asked, built)) continue;
        nearest = built;
        distance = own;
      }
  return nearest;
}

/// What is built and most like a choice that is not.
template <class T>
Choice built_instead(const Case& asked, const Choice& choice) {
  if (choice.is(kInterleavedStreamed) || choice.is(kInterleavedTiled)) return kInterleavedStreamed;
  if (choice.is(kInterleavedWarps))
    for (int matrices = warps_params(choice).matrices / 2; matrices > 0; matrices /= 2)
      for (const int warps : {1, 2, 4}) {
        const Choice fewer{kInterleavedWarps, {{"matrices", matrices}, {"warps", warps}}};
        if (is_built<T>(asked, fewer)) return fewer;
      }
  const bool in_shared_memory = choice.is(kInterleavedShared) || choice.is(kInterleavedWarps) ||
                                choice.is(kInterleavedWarpSolve);
  if (!in_shared_memory && is_built<T>(asked, kInterleavedColumns)) return kInterleavedColumns;
  constexpr int kLine = 64;  // of a row of matrices side by side, where nothing else is wanted
  constexpr SharedKnobs kUsual{8, kLine / int(sizeof(T)), 128};
  return nearest_shared<T>(asked, choice.is(kInterleavedShared) ? shared_knobs(choice) : kUsual);
}

/// Whether a row's method can do one case of it.
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
  if (call.n == 0 || routine == Routine::potri) choice = kInterleavedStreamed;
  if (!is_built<T>(asked, choice)) {
    if (is_compilable<T>(asked, choice)) {
      bool had = false;
      const Status status = with_task(
          routine, [&](auto task) { return run_compiled<task()>(call, choice, stream, had); });
      if (had) return status;
    }
    choice = built_instead<T>(asked, choice);
  }
  return interleaved_methods<T>.find(choice)->run(routine, call, choice, stream);
}

#define CHOL_INSTANTIATE(T)                         \
  template bool accepts_interleaved<T>(const Row&); \
  template Status run_interleaved<T>(Routine, const InterleavedCall<T>&, Choice&, cudaStream_t);
CHOL_FOR_EACH_DEVICE_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda
