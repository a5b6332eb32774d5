// Choices of interleaved batches whose kernels are compiled.
#pragma once

#include "tune/interleaved_methods.hpp"

namespace chol::cuda {

constexpr Choice registers(int threads) { return {kInterleavedRegisters, {{"threads", threads}}}; }
constexpr Choice columns(int count, int threads) {
  return {kInterleavedColumns, {{"columns", count}, {"threads", threads}}};
}
constexpr Choice shared(int columns, int matrices, int threads) {
  return {kInterleavedShared, {{"columns", columns}, {"matrices", matrices}, {"threads", threads}}};
}
/// @param looking 0 left-, 1 right-, 2 top-looking.
constexpr Choice tiled(int tile, int looking, int unrolled, int threads) {
  return {kInterleavedTiled,
          {{"tile", tile}, {"looking", looking}, {"unrolled", unrolled}, {"threads", threads}}};
}

}  // namespace chol::cuda
