// Which family of kernels solves with the factors of a batch, and how: chosen once a call, from
// tuning rows.
#pragma once

#include "batched/register/interface.hpp"
#include "tune/solve_rows.hpp"

namespace chol::cuda {

/// What bounds the families on a device, for one element type.
struct SolveLimits {
  int warp = 0, tile = 0, left_looking = 0;  ///< largest orders
  /// Whether a kernel of block_solve is built and the device can run it for matrices of order n.
  bool (*can_run_block)(const BlockSolveParams& params, int64_t n, bool upper) = nullptr;
};

/// A family of kernels that solve.
template <class T>
struct SolveMethod {
  const char* name;
  std::span<const Knob> knobs;
  bool (*accepts)(const Case& asked, const Params& params, const SolveLimits& limits);
};

inline constexpr Knob kRegisterSolveKnobs[] = {
    {"lanes", 0, 32, "lanes that share a matrix; 0: as many as the first kernel for the order"}};
inline constexpr Knob kLeftLookingSolveKnobs[] = {
    {"threads", 128, 256, "threads of a block: 128 or 256"}};

template <class T>
inline constexpr SolveMethod<T> kSolveMethods[] = {
    {solve::kRegister, kRegisterSolveKnobs,
     [](const Case& asked, const Params& params, const SolveLimits&) {
       return asked.n <= small_limit<SmallTask::solve, T>(params.of("lanes"));
     }},
    {solve::kRegisterGrid, kRegisterSolveKnobs,
     [](const Case& asked, const Params& params, const SolveLimits&) {
       const int lanes = params.of("lanes");
       return asked.nrhs == 1 && [&]<class... S>(ShapeList<S...>) {
         return (
             (S::kLeast <= asked.n && asked.n <= S::kOrder && (lanes == 0 || lanes == S::kLanes)) ||
             ...);
       }(SmallShapes<SmallTask::solve_one, T>{});
     }},
    {solve::kWarp,
     {},
     [](const Case& asked, const Params&, const SolveLimits& limits) {
       return asked.n <= limits.warp;
     }},
    {solve::kBlock, kBlockSolveKnobs,
     [](const Case& asked, const Params& params, const SolveLimits& limits) {
       const auto of = BlockSolveParams::of(params);
       const int64_t rows = asked.n - is_bordered(asked.n, asked.variable);
       return (of.rhs == 1) == (asked.nrhs == 1) && serves_order(of, asked.n, asked.variable) &&
              limits.can_run_block(of, asked.nrhs == 1 ? rows : asked.n, asked.upper);
     }},
    {solve::kTile,
     {},
     [](const Case& asked, const Params&, const SolveLimits& limits) {
       return asked.n <= limits.tile;
     }},
    {solve::kLeftLooking, kLeftLookingSolveKnobs,
     [](const Case& asked, const Params& params, const SolveLimits& limits) {
       const int threads = params.of("threads");
       return (threads == 128 || threads == 256) && asked.n <= limits.left_looking;
     }},
    {solve::kStreaming, {}, [](const Case&, const Params&, const SolveLimits&) { return true; }}};

template <class T>
const SolveMethod<T>& solve_method(std::string_view name) {
  for (const SolveMethod<T>& method : kSolveMethods<T>)
    if (method.name == name) return method;
  return kSolveMethods<T>[std::size(kSolveMethods<T>) - 1];
}

/// What serves a call.
struct SolveChoice {
  const char* method = solve::kStreaming;
  Params params;
};

/// The first row that has the case and whose method accepts it.
template <class T>
SolveChoice choose_solve(const Case& asked, const SolveRows& rows, const SolveLimits& limits) {
  for (const SolveRow& row : rows) {
    if (!row.has(asked)) continue;
    const SolveMethod<T>& method = solve_method<T>(row.method);
    if (row.params.are_of(method.knobs) && method.accepts(asked, row.params, limits))
      return {method.name, row.params};
  }
  return {};
}

}  // namespace chol::cuda
