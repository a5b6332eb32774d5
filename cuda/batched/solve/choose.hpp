// Which method solves with the factors of a batch, and how: chosen once a call, from tuning rows.
#pragma once

#include "batched/method.hpp"
#include "tune/solve_rows.hpp"

namespace chol::cuda {

/// The choice for a call.
struct SolveChoice {
  const char* method = solve::kStreaming;
  Params params;
};

/// The first row that has the case and whose method accepts it.
template <class T>
SolveChoice choose_solve(const Case& asked, const SolveRows& rows, const DeviceLimits& device) {
  for (const SolveRow& row : rows) {
    if (!row.has(asked)) continue;
    const BatchMethod<T>* const method = batch_methods<T>.find(row.method);
    if (method && row.params.are_of(method->knobs) && method->accepts(asked, row.params, device))
      return {method->name, row.params};
  }
  return {};
}
/// The same for rows that tuning files may change.
template <class T>
SolveChoice choose_solve(const Case& asked, const RowTable& rows, const DeviceLimits& device) {
  const Choice* const choice = rows.choose(asked, [&](const Choice& its) {
    if (!solves_batches(its)) return false;
    const BatchMethod<T>* const method = batch_methods<T>.find(its.method->name);
    return method && method->accepts(asked, params_of(its), device);
  });
  return choice ? SolveChoice{choice->method->name, params_of(*choice)} : SolveChoice{};
}

}  // namespace chol::cuda
