// Selects the kernel of an interleaved batch: that of the row, built or compiled, else the most
// similar built one.
#pragma once

#include "common/precisions.hpp"
#include "interleaved/jit/accepts.hpp"
#include "interleaved/kernels.hpp"
#include "interleaved/method.hpp"

namespace chol::cuda {

template <class T>
bool is_built(const Case& asked, const Choice& choice) {
  const InterleavedMethod<T>* const method = interleaved_methods<T>.find(choice.method->name);
  return method && method->is_built(asked, choice);
}

/// For a choice without a built kernel.
template <class T>
bool is_compilable(const Case& asked, const Choice& choice) {
  if (is_of_one_rhs(asked.routine, choice) && asked.nrhs != 1) return false;
  return can_compile({asked.routine, kPrecision<T>}, choice, asked.n, block_shared_limit());
}

/// The built kernel of shared/factor.cuh that is most similar to the requested one, or one for any
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

/// Calls body(choice) for built alternatives to a row's choice, most similar first, until it
/// returns true; the last one accepts any order.
template <class T, class Body>
bool try_built_choices(const Case& asked, const Choice& row, Body&& body) {
  const bool streams = row.is(kInterleavedStreamed) || row.is(kInterleavedTiled);
  const auto is_done = [&](const Choice& choice) {
    return is_built<T>(asked, choice) && body(choice);
  };
  if (row.is(kInterleavedWarps))
    for (int matrices = warps_params(row).matrices / 2; matrices > 0; matrices /= 2)
      for (const int warps : {1, 2, 4})
        if (is_done({kInterleavedWarps, {{"matrices", matrices}, {"warps", warps}}})) return true;
  const bool in_shared_memory =
      row.is(kInterleavedShared) || row.is(kInterleavedWarps) || row.is(kInterleavedWarpSolve);
  if (!streams && !in_shared_memory && is_done(kInterleavedColumns)) return true;
  constexpr int kLine = 64;  // bytes of a row of matrices, if not specified
  constexpr SharedKnobs kUsual{8, kLine / int(sizeof(T)), 128};
  if (!streams) {
    const SharedKnobs wanted = row.is(kInterleavedShared) ? shared_knobs(row) : kUsual;
    if (is_done(nearest_shared<T>(asked, wanted))) return true;
  }
  return is_done(kInterleavedStreamed);
}

/// Calls body(choice, whether it must be compiled) for the choices of a row that can do the case,
/// best first, until it returns true.
template <class T, class Body>
bool try_interleaved_choices(const Case& asked, const Choice& row, Body&& body) {
  if (asked.n == 0 || asked.routine == Routine::potri) return body(kInterleavedStreamed, false);
  if (is_built<T>(asked, row)) return body(row, false);
  if (is_compilable<T>(asked, row) && body(row, true)) return true;
  return try_built_choices<T>(asked, row,
                              [&](const Choice& choice) { return body(choice, false); });
}

}  // namespace chol::cuda
