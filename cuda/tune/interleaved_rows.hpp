// Built-in rows of interleaved batches.
#pragma once

#include <cstdint>

#include "tune/interleaved_methods.hpp"

namespace chol::cuda::interleaved {

/// The choice for orders up to max_n, from the end of the previous row on.
struct Row {
  Routine routine;
  char precision;
  int64_t max_n;
  Choice choice;
};
constexpr Choice registers(int threads) { return {kInterleavedRegisters, {{"threads", threads}}}; }
inline constexpr Choice kColumns = kInterleavedColumns, kWarpSolve = kInterleavedWarpSolve,
                        kTwoSteps = kInterleavedTwoSteps, kInPlace = kInterleavedStreamed;
constexpr Choice shared(int columns, int matrices, int threads) {
  return {kInterleavedShared, {{"columns", columns}, {"matrices", matrices}, {"threads", threads}}};
}
constexpr Choice by_warps(int matrices, int warps) {
  return {kInterleavedWarps, {{"matrices", matrices}, {"warps", warps}}};
}
// Measured on an H200, CUDA 13.0. Blocks of one warp finish one by one and keep memory busier, but
// for tiny matrices the limit of blocks a multiprocessor requires more threads a block.
// clang-format off
inline constexpr Row kRows[] = {
    {Routine::potrf, 's', 2, registers(128)},
    {Routine::potrf, 's', 14, registers(64)},
    {Routine::potrf, 's', 40, kColumns},
    {Routine::potrf, 's', 42, shared(4, 32, 128)},
    {Routine::potrf, 's', 51, shared(8, 8, 64)},
    {Routine::potrf, 's', 68, by_warps(8, 1)},
    {Routine::potrf, 's', 72, by_warps(4, 1)},
    {Routine::potrf, 's', 100, by_warps(8, 1)},
    {Routine::potrf, 's', 128, by_warps(4, 1)},
    {Routine::potrf, 's', 208, by_warps(2, 2)},
    {Routine::potrf, 's', 256, by_warps(1, 4)},
    {Routine::potrf, 'd', 2, registers(128)},
    {Routine::potrf, 'd', 12, registers(32)},
    {Routine::potrf, 'd', 44, kColumns},
    {Routine::potrf, 'd', 45, shared(8, 8, 64)},
    {Routine::potrf, 'd', 104, by_warps(4, 1)},
    {Routine::potrf, 'd', 144, by_warps(2, 2)},
    {Routine::potrf, 'd', 208, by_warps(1, 4)},
    {Routine::potrf, 'c', 2, registers(128)},
    {Routine::potrf, 'c', 12, registers(32)},
    {Routine::potrf, 'c', 32, kColumns},
    {Routine::potrf, 'c', 36, shared(4, 16, 64)},
    {Routine::potrf, 'c', 54, shared(4, 8, 64)},
    {Routine::potrf, 'c', 104, by_warps(4, 1)},
    {Routine::potrf, 'c', 144, by_warps(2, 2)},
    {Routine::potrf, 'c', 208, by_warps(1, 4)},
    {Routine::potrf, 'z', 2, registers(128)},
    {Routine::potrf, 'z', 7, registers(32)},
    {Routine::potrf, 'z', 24, kColumns},
    {Routine::potrf, 'z', 40, shared(4, 8, 64)},
    {Routine::potrf, 'z', 53, shared(4, 4, 64)},
    {Routine::potrf, 'z', 74, by_warps(2, 1)},
    {Routine::potrf, 'z', 104, by_warps(2, 2)},
    {Routine::potrf, 'z', 116, by_warps(1, 4)},
    {Routine::posv, 's', 16, registers(64)},
    {Routine::posv, 's', 44, kColumns},
    {Routine::posv, 's', 55, shared(8, 8, 64)},
    {Routine::posv, 's', 68, by_warps(8, 1)},
    {Routine::posv, 's', 80, by_warps(4, 1)},
    {Routine::posv, 's', 100, by_warps(8, 1)},
    {Routine::posv, 's', 104, kTwoSteps},
    {Routine::posv, 's', 128, by_warps(4, 1)},
    {Routine::posv, 's', 208, by_warps(2, 2)},
    {Routine::posv, 's', 256, by_warps(1, 4)},
    {Routine::posv, 'd', 13, registers(64)},
    {Routine::posv, 'd', 40, kColumns},
    {Routine::posv, 'd', 44, kTwoSteps},
    {Routine::posv, 'd', 104, by_warps(4, 1)},
    {Routine::posv, 'd', 144, by_warps(2, 2)},
    {Routine::posv, 'd', 208, by_warps(1, 4)},
    {Routine::posv, 'c', 13, registers(64)},
    {Routine::posv, 'c', 28, kColumns},
    {Routine::posv, 'c', 32, kTwoSteps},
    {Routine::posv, 'c', 52, shared(4, 8, 64)},
    {Routine::posv, 'c', 68, by_warps(4, 1)},
    {Routine::posv, 'c', 72, kTwoSteps},
    {Routine::posv, 'c', 76, by_warps(2, 1)},
    {Routine::posv, 'c', 104, by_warps(4, 1)},
    {Routine::posv, 'c', 144, by_warps(2, 2)},
    {Routine::posv, 'z', 9, registers(64)},
    {Routine::posv, 'z', 28, kColumns},
    {Routine::posv, 'z', 38, kTwoSteps},
    {Routine::posv, 'z', 56, shared(4, 4, 64)},
    {Routine::posv, 'z', 74, by_warps(2, 1)},
    {Routine::posv, 'z', 104, by_warps(2, 2)},
    {Routine::posv, 'z', 108, by_warps(1, 4)},
    {Routine::potrs, 's', 20, registers(64)},
    {Routine::potrs, 's', 44, kColumns},
    {Routine::potrs, 's', 104, kWarpSolve},
    {Routine::potrs, 's', 144, by_warps(4, 1)},
    {Routine::potrs, 's', 216, by_warps(2, 1)},
    {Routine::potrs, 's', 256, by_warps(1, 4)},
    {Routine::potrs, 'd', 14, registers(64)},
    {Routine::potrs, 'd', 44, kColumns},
    {Routine::potrs, 'd', 104, kWarpSolve},
    {Routine::potrs, 'd', 152, by_warps(2, 1)},
    {Routine::potrs, 'd', 208, by_warps(1, 1)},
    {Routine::potrs, 'c', 14, registers(64)},
    {Routine::potrs, 'c', 36, kColumns},
    {Routine::potrs, 'c', 104, kWarpSolve},
    {Routine::potrs, 'c', 152, by_warps(2, 1)},
    {Routine::potrs, 'c', 208, by_warps(1, 1)},
    {Routine::potrs, 'z', 9, registers(64)},
    {Routine::potrs, 'z', 36, kColumns},
    {Routine::potrs, 'z', 72, kWarpSolve},
    {Routine::potrs, 'z', 102, by_warps(2, 1)},
    {Routine::potrs, 'z', 104, kWarpSolve},
    {Routine::potrs, 'z', 152, by_warps(1, 1)},
    {Routine::potri, 's', 68, kInPlace},
    {Routine::potri, 'd', 68, kInPlace},
    {Routine::potri, 'c', 54, kInPlace},
    {Routine::potri, 'z', 64, kInPlace},
};
// clang-format on
/// The choice for larger orders, and for routines without rows.
struct Rest {
  Routine routine;
  Choice choice;
};
inline constexpr Rest kRest[] = {
    {Routine::potrf, kInterleavedSlices},    {Routine::posv, kInterleavedSlices},
    {Routine::potrs, kInterleavedSlices},    {Routine::potri, kInterleavedSlices},
    {Routine::logdet, kInterleavedStreamed}, {Routine::pack, kInterleavedPack},
    {Routine::unpack, kInterleavedPack}};

}  // namespace chol::cuda::interleaved
