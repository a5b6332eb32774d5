#include "tune/solve_rows.hpp"

#include <climits>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "tune/rows.hpp"

namespace chol::cuda {
namespace {

/// The kernel of block_solve for orders `n`, with one right-hand side or several.
struct BlockRow {
  Range n;
  BlockSolveParams params;
  char precision;
  bool of_one;
  bool of_misaligned;
};
// Measured on an H200. Orders of one row more than a kernel's are bordered. In c and d the kernel
// of three blocks serves misaligned columns at smaller orders: its warps share cache lines.
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

/// A new family adds its method here and its rows below.
constexpr int kFirstKernel[] = {0}, kSomeThreads[] = {128, 256};
constexpr Knob kLanes[] = {
    {"lanes", 0, 32, "lanes that share a matrix; 0: as many as the first kernel for the order",
     kFirstKernel}};
constexpr Knob kThreads[] = {{"threads", 128, 256, "threads of a block: 128 or 256", kSomeThreads}};
constexpr MethodInfo kInfos[] = {{solve::kRegister, kLanes}, {solve::kRegisterGrid, kLanes},
                                 {solve::kWarp, {}},         {solve::kBlock, kBlockSolveKnobs},
                                 {solve::kTile, {}},         {solve::kLeftLooking, kThreads},
                                 {solve::kStreaming, {}}};

constexpr Range kAll{};
/// Number of right-hand sides up to which warp_solve serves orders that do not fit registers.
constexpr int64_t kFewColumns = 4;
/// Orders up to which solves of few matrices are in registers.
constexpr int64_t kFewInRegisters = 32;

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

namespace {

/// Families in the order in which they are tried.
enum class Way {
  registers,  ///< registers up to `few` right-hand sides, then warp_solve, then the triangle in
              ///< shared memory
  warps,      ///< the same without registers
  blocks,     ///< left_looking_mma_solve by blocks of `threads` or, without, warps from `from`
              ///< right-hand sides up to `few`; then block_solve
  streaming,  ///< the same without warps and block_solve
};
/// potrs of batches for orders up to max_n.
struct WayRow {
  char precision;
  int64_t max_n;
  Way way;
  int64_t few, from = 0;
  int threads = 0;
};
constexpr int64_t kAnyOrder = INT64_MAX, kEvery = INT64_MAX;  ///< of orders, of right-hand sides
// Kernels in registers solve for one right-hand side in a 2D grid of lanes, which is least
// sensitive to alignment; with columns aligned to 128 bytes warp_solve is faster, also with up to
// eight rows beyond 32 or 64. Blocks of 128 threads are used as long as shared memory allows as
// many blocks as registers do.
// clang-format off
constexpr WayRow kSolves[] = {
    {'s', 16, Way::registers, kEvery},     {'s', 24, Way::registers, 4},     {'s', 31, Way::registers, 1},
    {'s', 32, Way::warps, 4},     {'s', 47, Way::registers, 1},     {'s', 64, Way::warps, 4},
    {'s', 128, Way::blocks, 4, 1}, {'s', 352, Way::blocks, kEvery, 2, 128},
    {'s', kAnyOrder, Way::streaming, kEvery, 2, 256},

    {'d', 8, Way::registers, kEvery},      {'d', 16, Way::registers, 4},     {'d', 31, Way::registers, 1},
    {'d', 33, Way::warps, 4},     {'d', 36, Way::registers, 1},     {'d', 48, Way::warps, 4},
    {'d', 72, Way::blocks, 4, 1},  {'d', 128, Way::blocks, 2, 2},
    {'d', 256, Way::blocks, kEvery, 2, 128}, {'d', 288, Way::streaming, kEvery, 1, 128},
    {'d', 600, Way::streaming, kEvery, 1, 256}, {'d', kAnyOrder, Way::streaming, kEvery, 2, 256},

    {'c', 8, Way::registers, kEvery},      {'c', 16, Way::registers, 4},     {'c', 31, Way::registers, 1},
    {'c', 32, Way::warps, 4},     {'c', 40, Way::registers, 1},     {'c', 72, Way::blocks, 4, 1},
    {'c', 128, Way::blocks, 4, 2, 128}, {'c', 192, Way::blocks, kEvery, 2, 128},
    {'c', 256, Way::blocks, kEvery, 2, 256}, {'c', 600, Way::streaming, kEvery, 1, 256},
    {'c', kAnyOrder, Way::streaming, kEvery, 2, 256},

    {'z', 8, Way::registers, kEvery},      {'z', 16, Way::registers, 4},     {'z', 20, Way::registers, 1},
    {'z', 24, Way::warps, 4},     {'z', 28, Way::registers, 1},     {'z', 64, Way::warps, 4},
    {'z', 72, Way::blocks, 1, 1},  {'z', 96, Way::blocks, 4, 2, 128},
    {'z', 176, Way::blocks, kEvery, 2, 128}, {'z', 192, Way::blocks, kEvery, 2, 256},
    {'z', kAnyOrder, Way::streaming, kEvery, 1, 256},
};
// clang-format on

/// The methods of a row, best first. The last row serves everything.
SolveRows rows_of_way(char precision, const WayRow& row) {
  SolveRows rows;
  const Range few = up_to(row.few), between{row.from, row.few};
  switch (row.way) {
    case Way::registers:
      add(rows, solve::kRegisterGrid, intersection(few, {1, 1}));
      add(rows, solve::kRegister, few);
      add(rows, solve::kWarp, up_to(kFewColumns));
      add(rows, solve::kTile, kAll);
      break;
    case Way::warps:
      add(rows, solve::kWarp, few);
      add(rows, solve::kTile, kAll);
      add(rows, solve::kWarp, kAll);
      break;
    case Way::blocks:
      if (row.threads > 0) add(rows, solve::kLeftLooking, between, {{"threads", row.threads}});
      for (const bool of_one : {true, false})
        add(rows, solve::kWarp, intersection(between, of_one ? Range{1, 1} : Range{2, INT64_MAX}),
            {}, up_to(block_order(precision, of_one)));
      add_block_rows(rows, precision, kAll);
      add(rows, solve::kTile, kAll);
      break;
    case Way::streaming:
      if (row.threads > 0) add(rows, solve::kLeftLooking, between, {{"threads", row.threads}});
  }
  add(rows, solve::kStreaming, kAll);
  return rows;
}

Choice choice_of(const char* method, const Params& params) {
  Choice choice = solve_info(method);
  for (const Param& param : params.all()) choice.set(param.name, param.value);
  return choice;
}

template <size_t... kIndex>
Params first_params(const Choice& choice, std::index_sequence<kIndex...>) {
  return {Param{choice.method->knobs[kIndex].name, choice.values[kIndex]}...};
}

}  // namespace

std::span<const MethodInfo> solve_infos() { return kInfos; }

const MethodInfo& solve_info(std::string_view name) {
  for (const MethodInfo& info : kInfos)
    if (info.name == name) return info;
  throw std::invalid_argument("no such method");
}

Choice block_solve_choice(const BlockSolveParams& params) {
  return choice_of(solve::kBlock, params.params());
}

bool solves_batches(const Choice& choice) {
  return std::begin(kInfos) <= choice.method && choice.method < std::end(kInfos);
}

Params params_of(const Choice& choice) {
  switch (choice.method->knobs.size()) {
    case 0:
      return {};
    case 1:
      return first_params(choice, std::make_index_sequence<1>{});
    default:
      return first_params(choice, std::make_index_sequence<Params::kMost>{});
  }
}

int64_t solve_shared_order(char precision) { return precision == 's' ? 192 : 128; }

void add_potrs_rows(std::vector<Row>& rows, char precision, int multiprocessors) {
  const auto add_way = [&](Form form, Range n, Range batch, const WayRow& way) {
    for (const SolveRow& row : rows_of_way(precision, way)) {
      Cases cases{.n = intersection(n, row.n), .nrhs = row.nrhs, .batch = batch};
      if (row.of_misaligned) cases.aligned = cases.upper = Only::without;
      const Choice choice = choice_of(row.method, row.params);
      if (!cases.n.is_empty()) rows.push_back({Routine::potrs, form, precision, cases, choice});
    }
  };
  // Batches too small to fill the device are solved like one matrix.
  const int64_t fewer = kFewMatrices * multiprocessors - 1;
  const WayRow of_few{precision, kFewInRegisters, Way::registers, kFewColumns},
      of_few_larger{precision, solve_shared_order(precision), Way::blocks, 0};
  for (const auto& [form, batch] : {std::pair{Form::one, kAll}, {Form::batch, up_to(fewer)}}) {
    add_way(form, up_to(of_few.max_n), batch, of_few);
    add_way(form, {of_few.max_n + 1, of_few_larger.max_n}, batch, of_few_larger);
  }
  int64_t least = 0;
  for (const WayRow& way : kSolves)
    if (way.precision == precision) {
      add_way(Form::batch, {least, way.max_n}, kAll, way);
      least = way.max_n + 1;
    }
}

SolveRows solve_rows_of_posv(char precision) {
  return rows_of_way(precision, {precision, kWarpSolveOrder, Way::warps, kFewColumns});
}

SolveRows solve_rows_of_pocon(char precision) {
  SolveRows rows;
  add(rows, solve::kTile, kAll);
  add_block_rows(rows, precision, kAll);
  add(rows, solve::kStreaming, kAll);
  return rows;
}

}  // namespace chol::cuda
