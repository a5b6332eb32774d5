#include "tune/solve_rows.hpp"

#include <climits>

namespace chol::cuda {
namespace {

/// Which kernel of block_solve serves orders `n`, of one right-hand side or of several.
struct BlockRow {
  Range n;
  BlockSolveParams params;
  char precision;
  bool of_one;
  bool of_misaligned;
};
// Measured on an H200. Orders of one row more than a kernel's are bordered. In c and d the kernel
// of three blocks serves misaligned columns earlier: its warps have cache lines in common.
// clang-format off
constexpr BlockRow kBlockRows[] = {
    {{1, 128}, {128, 2, 1, 1, 5, 0, 0}, 's', true, false},
    {{225, 257}, {256, 1, 1, 1, 2, 0, 3}, 's', true, false},
    {{193, 320}, {320, 2, 1, 1, 1, 0, 0}, 's', true, false},
    {{177, 192}, {192, 1, 1, 1, 3, 0, 1}, 's', true, false},
    {{1, 192}, {192, 2, 1, 1, 2, 0, 0}, 's', true, false},
    {{1, 352}, {352, 1, 1, 1, 1, 0, 4}, 's', true, false},
    {{1, 128}, {128, 2, 1, 16, 4, 0, 0}, 's', false, false},

    {{81, 129}, {128, 1, 1, 1, 3, 0, 0}, 'd', true, true},
    {{1, 96}, {96, 2, 1, 1, 3, 0, 0}, 'd', true, false},
    {{1, 129}, {128, 1, 1, 1, 3, 0, 0}, 'd', true, false},
    {{1, 145}, {144, 1, 1, 1, 2, 0, 0}, 'd', true, false},
    {{1, 177}, {176, 1, 1, 1, 2, 0, 2}, 'd', true, false},
    {{1, 225}, {224, 1, 1, 1, 1, 0, 0}, 'd', true, false},
    {{1, 256}, {256, 1, 1, 1, 1, 0, 2}, 'd', true, false},
    {{1, 96}, {96, 2, 1, 16, 2, 1, 0}, 'd', false, false},
    {{1, 128}, {128, 1, 1, 16, 2, 1, 0}, 'd', false, false},

    {{81, 129}, {128, 1, 1, 1, 3, 0, 0}, 'c', true, true},
    {{1, 96}, {96, 2, 1, 1, 3, 0, 0}, 'c', true, false},
    {{1, 129}, {128, 1, 1, 1, 3, 0, 0}, 'c', true, false},
    {{1, 145}, {144, 1, 1, 1, 2, 0, 0}, 'c', true, false},
    {{1, 177}, {176, 1, 1, 1, 2, 0, 2}, 'c', true, false},
    {{1, 225}, {224, 1, 1, 1, 1, 0, 0}, 'c', true, false},
    {{1, 256}, {256, 1, 1, 1, 1, 0, 2}, 'c', true, false},
    {{1, 64}, {64, 2, 2, 8, 5, 1, 0}, 'c', false, false},
    {{1, 80}, {80, 1, 2, 8, 3, 1, 0}, 'c', false, false},
    {{1, 96}, {96, 2, 2, 8, 3, 1, 0}, 'c', false, false},
    {{1, 128}, {128, 1, 2, 8, 2, 1, 0}, 'c', false, false},
    {{1, 96}, {96, 1, 2, 8, 2, 0, 0}, 'c', false, false},  // without tensor cores
    {{1, 128}, {128, 1, 1, 16, 2, 0, 0}, 'c', false, false},

    {{1, 81}, {80, 1, 1, 1, 4, 0, 1}, 'z', true, false},
    {{1, 97}, {96, 1, 1, 1, 2, 0, 0}, 'z', true, false},
    {{1, 113}, {112, 1, 1, 1, 2, 0, 1}, 'z', true, false},
    {{1, 129}, {128, 1, 1, 1, 2, 0, 2}, 'z', true, false},
    {{1, 192}, {192, 1, 1, 1, 1, 0, 3}, 'z', true, false},
    {{1, 96}, {96, 2, 2, 8, 2, 1, 0}, 'z', false, false},
    {{1, 128}, {128, 1, 2, 8, 1, 1, 0}, 'z', false, false}};
// clang-format on

constexpr Range kAll{};
/// Right-hand sides up to which warps that wait for no other solve for what registers do not hold.
constexpr int64_t kFewColumns = 4;

constexpr Range up_to(int64_t most) { return {0, most}; }
constexpr Range intersection(Range a, Range b) {
  return {a.least > b.least ? a.least : b.least, a.most < b.most ? a.most : b.most};
}
/// Largest order of the rows of block_solve.
constexpr int64_t block_order(char precision, bool of_one) {
  int64_t most = 0;
  for (const BlockRow& row : kBlockRows)
    if (row.precision == precision && row.of_one == of_one && row.n.most > most) most = row.n.most;
  return most;
}
void add(SolveRows& rows, const char* method, Range nrhs, const Params& params = {},
         Range n = kAll) {
  rows.add({n, nrhs, false, method, params});
}

}  // namespace

void add_block_rows(SolveRows& rows, char precision, Range nrhs) {
  for (const BlockRow& row : kBlockRows)
    if (row.precision == precision)
      rows.add({row.n, intersection(nrhs, row.of_one ? Range{1, 1} : Range{2, INT64_MAX}),
                row.of_misaligned, solve::kBlock, row.params.params()});
}

SolveRows solve_rows(char precision, const Plan& plan) {
  SolveRows rows;
  const Range few = up_to(plan.block == 0 ? INT64_MAX : plan.block);
  const Range between{plan.tile, plan.block};
  switch (plan.method) {
    case Method::lanes:
      add(rows, solve::kRegisterGrid, intersection(few, {1, 1}), {{"lanes", plan.tile}});
      add(rows, solve::kRegister, few, {{"lanes", plan.tile}});
      add(rows, solve::kWarp, up_to(kFewColumns));
      add(rows, solve::kTile, kAll);
      break;
    case Method::panel:
      add(rows, solve::kWarp, few);
      add(rows, solve::kTile, kAll);
      add(rows, solve::kWarp, kAll);
      break;
    case Method::tiles:
      if (plan.threads > 0) add(rows, solve::kLeftLooking, between, {{"threads", plan.threads}});
      for (const bool of_one : {true, false})
        add(rows, solve::kWarp, intersection(between, of_one ? Range{1, 1} : Range{2, INT64_MAX}),
            {}, up_to(block_order(precision, of_one)));
      add_block_rows(rows, precision, kAll);
      add(rows, solve::kTile, kAll);
      break;
    case Method::blocked:
      if (plan.threads > 0) add(rows, solve::kLeftLooking, between, {{"threads", plan.threads}});
      break;
    default:
      add(rows, solve::kTile, kAll);
  }
  add(rows, solve::kStreaming, kAll);
  return rows;
}

SolveRows solve_rows_of_posv(char precision) {
  return solve_rows(precision, {Method::panel, int(kFewColumns), 0, 0});
}

SolveRows solve_rows_of_pocon(char precision) {
  SolveRows rows;
  add(rows, solve::kTile, kAll);
  add_block_rows(rows, precision, kAll);
  add(rows, solve::kStreaming, kAll);
  return rows;
}

}  // namespace chol::cuda
