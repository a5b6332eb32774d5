// Template parameters of a kernel of solve/block/kernel.cuh.
#pragma once

#include <cstdint>

#include "tune/params.hpp"

namespace chol::cuda {

inline constexpr Knob kBlockSolveKnobs[] = {
    {"order", 16, 352, "orders up to which the kernel serves"},
    {"warp_blocks", 1, 2,
     "diagonal blocks of 16 rows a warp: 2 reduce duplicated work, 1 shortens the chain"},
    {"groups", 1, 2, "groups of warps, each with separate right-hand sides"},
    {"rhs", 1, 16, "right-hand sides of a group at a time"},
    {"blocks", 1, 5, "thread blocks a multiprocessor, which bound the registers"},
    {"mma", 0, 1, "whether tensor cores multiply, for several right-hand sides"},
    {"register_columns", 0, 4, "leading block columns in registers instead of shared memory"}};

struct BlockSolveParams {
  int order = 0, warp_blocks = 1, groups = 1, rhs = 1, blocks = 1, mma = 0, register_columns = 0;

  static constexpr BlockSolveParams of(const Params& params) {
    return {params.of("order"),           params.of("warp_blocks"),
            params.of("groups"),          params.of("rhs"),
            params.of("blocks"),          params.of("mma"),
            params.of("register_columns")};
  }
  constexpr Params params() const {
    return {{"order", order},
            {"warp_blocks", warp_blocks},
            {"groups", groups},
            {"rhs", rhs},
            {"blocks", blocks},
            {"mma", mma},
            {"register_columns", register_columns}};
  }
  friend constexpr bool operator==(const BlockSolveParams&, const BlockSolveParams&) = default;
};

/// Whether the last row of an order is solved separately, by kernels of one block a warp.
constexpr bool is_bordered(int64_t n, bool variable) { return !variable && n > 16 && n % 16 == 1; }
/// Orders that a kernel serves: with one block a warp also one row more, bordered.
constexpr bool serves_order(const BlockSolveParams& params, int64_t n, bool variable) {
  const bool bordered = params.rhs == 1 && params.warp_blocks == 1 && is_bordered(n, variable);
  return n - bordered <= params.order;
}

}  // namespace chol::cuda
