// Methods of interleaved batches and their knobs.
#pragma once

#include "tune/choice.hpp"
#include "tune/routine.hpp"

namespace chol::cuda {

namespace knobs {
namespace tried {
inline constexpr int kBlockThreads[] = {32, 64, 128}, kSharedThreads[] = {32, 64, 128, 256, 512},
                     kSharedColumns[] = {1, 2, 3, 4, 5, 6, 8}, kMatrices[] = {1, 2, 4, 8, 16, 32},
                     kEdges[] = {8, 6, 4, 3, 2, 1}, kOrders[] = {0, 1, 2}, kNoOrYes[] = {0, 1};
}  // namespace tried
inline constexpr Knob kInterleavedRegisters[] = {
    {"threads", 1, 128, "threads of a block, each with a matrix", tried::kBlockThreads}};
inline constexpr Knob kInterleavedColumns[] = {
    {"columns", 0, 63,
     "of one thread a matrix, leading columns in shared memory; of several, trailing ones in "
     "registers; 0: those of the kernel for the order"},
    {"threads", 0, 8, "threads a matrix, a power of two; 0: those of the kernel for the order"}};
inline constexpr Knob kInterleavedShared[] = {
    {"columns", 1, 8, "columns of a block column", tried::kSharedColumns},
    {"matrices", 1, 32, "matrices of a block, a power of two of 16 bytes at least an element each",
     tried::kMatrices},
    {"threads", 32, 512, "threads of a block, a multiple of 32", tried::kSharedThreads}};
inline constexpr Knob kInterleavedWarps[] = {{"matrices", 1, 8, "matrices of a block"},
                                             {"warps", 1, 4, "warps a matrix"}};
inline constexpr Knob kInterleavedTiled[] = {
    {"tile", 1, 8, "rows and columns of a register tile", tried::kEdges},
    {"looking", 0, 2, "order of the tiles: 0 left-, 1 right-, 2 top-looking", tried::kOrders},
    {"unrolled", 0, 1, "1: no loops over the tiles, finished tiles stay in registers",
     tried::kNoOrYes},
    {"threads", 32, 256, "threads of a block, each with a matrix: 32, 64, 128 or 256",
     tried::kBlockThreads}};
}  // namespace knobs

/// One thread a matrix, the triangle in its registers.
inline constexpr MethodInfo kInterleavedRegisters{"interleaved_registers",
                                                  knobs::kInterleavedRegisters};
/// One or a few threads a matrix, column by column; small orders in registers.
inline constexpr MethodInfo kInterleavedColumns{"interleaved_columns", knobs::kInterleavedColumns,
                                                true};
/// Interleaved matrices in shared memory, by block columns.
inline constexpr MethodInfo kInterleavedShared{"interleaved_shared", knobs::kInterleavedShared};
/// One warp or a few a matrix, its triangle in shared memory.
inline constexpr MethodInfo kInterleavedWarps{"interleaved_warps", knobs::kInterleavedWarps, true};
/// potrs by one warp a matrix, its triangle in shared memory, not interleaved.
inline constexpr MethodInfo kInterleavedWarpSolve{"interleaved_warp_solve", {}};
/// potrf and posv by one thread a matrix in device memory, by register tiles; compiled when named.
inline constexpr MethodInfo kInterleavedTiled{"interleaved_tiled", knobs::kInterleavedTiled};
/// One thread a matrix in device memory, any order.
inline constexpr MethodInfo kInterleavedStreamed{"interleaved_streamed", {}};
/// As a column-major batch, one slice after the other (interleaved/via_column_major.hpp).
inline constexpr MethodInfo kInterleavedSlices{"interleaved_slices", {}};
/// posv as potrf, then potrs, each by its own rows.
inline constexpr MethodInfo kInterleavedTwoSteps{"interleaved_two_steps", {}};
/// pack and unpack by tiles of shared memory.
inline constexpr MethodInfo kInterleavedPack{"interleaved_pack", {}};

inline constexpr const MethodInfo* kInterleavedMethods[] = {
    &kInterleavedRegisters, &kInterleavedColumns, &kInterleavedShared,   &kInterleavedWarps,
    &kInterleavedWarpSolve, &kInterleavedTiled,   &kInterleavedStreamed, &kInterleavedSlices,
    &kInterleavedTwoSteps,  &kInterleavedPack};

/// Whether a method forward-substitutes one right-hand side (not none, not several) during the
/// factorization.
constexpr bool is_of_one_rhs(Routine routine, const Choice& choice) {
  return routine == Routine::posv && choice.method->is_of_one_rhs;
}
/// Whether a method works on column-major copies.
constexpr bool runs_in_slices(Routine routine, const Choice& choice) {
  return choice.is(kInterleavedSlices) && routine <= Routine::potri;
}

}  // namespace chol::cuda
