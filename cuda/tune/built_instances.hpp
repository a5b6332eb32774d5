// The kernels of the plug-in that are built, as its families' instances.def list them, in plain
// C++.
#pragma once

#include <string_view>

#include "batched/solve/block/params.hpp"
#include "interleaved/jit/accepts.hpp"

namespace chol::cuda {

/// A kernel of matrices in registers.
struct RegisterInstance {
  char precision;
  std::string_view task;
  int64_t largest;  ///< order
  int lanes;
};
inline constexpr RegisterInstance kRegisterInstances[] = {
#define CHOL_INSTANCE(precision, task, largest, lanes, ...) {*#precision, #task, largest, lanes},
#include "batched/register/instances.def"
};

/// A left-looking kernel of several panels a block column.
struct MultiPanelInstance {
  char precision;
  int threads;
};
inline constexpr MultiPanelInstance kMultiPanelInstances[] = {
#define CHOL_INSTANCE(precision, triangle, warps, ...) {*#precision, 32 * (warps)},
#include "batched/multi_panel/instances.def"
};

/// A kernel of block_solve.
struct BlockSolveInstance {
  char precision;
  BlockSolveParams params;
};
inline constexpr BlockSolveInstance kBlockSolveInstances[] = {
#define CHOL_INSTANCE(precision, order, warp_blocks, groups, rhs, blocks, by, columns) \
  {*#precision, {order, warp_blocks, groups, rhs, blocks, *#by == 't', columns}},
#include "batched/solve/block/instances.def"
};

/// A kernel of interleaved matrices in shared memory.
struct InterleavedInstance {
  char precision;
  InterleavedTask task;
  Choice choice;
};
inline constexpr InterleavedInstance kInterleavedInstances[] = {
#define CHOL_INSTANCE(precision, task, columns, rows, matrices, threads, blocks) \
  {*#precision,                                                                  \
   InterleavedTask::task,                                                        \
   {kInterleavedShared, {{"columns", columns}, {"matrices", matrices}, {"threads", threads}}}},
#include "interleaved/shared/instances.def"
#define CHOL_INSTANCE(precision, task, warps, matrices, movers, blocks) \
  {*#precision,                                                         \
   InterleavedTask::task,                                               \
   {kInterleavedWarps, {{"matrices", matrices}, {"warps", warps}}}},
#include "interleaved/warp/instances.def"
};

/// Whether an instance serves a routine: those of warps factor with and without a right-hand side.
constexpr bool serves(const InterleavedInstance& instance, const KernelKind& kind) {
  const InterleavedTask task = task_of(kind.routine);
  const bool by_warps = instance.choice.is(kInterleavedWarps);
  return instance.precision == kind.precision &&
         (instance.task == task ||
          (by_warps && kind.factors() && instance.task == InterleavedTask::factor));
}

}  // namespace chol::cuda
