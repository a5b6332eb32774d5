#include "tune/rows.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <iterator>
#include <span>

#include "native/knobs.hpp"
#include "native/solve/params.hpp"
#include "tune/interleaved_rows.hpp"

namespace chol::cuda {
namespace {

// How the numbers of a plan read here; factor_rows.hpp and solve_rows.cpp turn them into kernels.
//  - lanes: matrices in registers, a few lanes each (register/kernel.cuh), with one right-hand side
//    in a two-dimensional layout where there is a kernel for it (register/cyclic_2d.cuh). tile:
//    lanes, 0 for the first kernel of the order. threads: the order whose plan a variable batch
//    takes instead, 0: none; posv with such an order factors first, then solves
//    (solve/warp/kernel.cuh).
//    Of a factorization here and below, block: 0 takes the largest matrices of a variable batch
//    first, 1 all in their order, 2 bins them by size (register/vbatched_kernel.cuh, potrf). Of
//    potrs here and in panel, block: most right-hand sides (0: all); of more the next rows serve.
//  - panel: potrf and posv by one thread block a matrix (left_looking/kernel.cuh), which solves for
//    posv's one right-hand side too. threads: of the block; tile: blocks a multiprocessor, 0 or
//    one that there is not for the first kernel of so many threads. Other kernels serve the upper
//    triangle and misaligned columns. potrs by warps that have all rows (solve/warp/kernel.cuh).
//  - fused: potrf and posv by several panels a block column (multi_panel/kernel.cuh),
//    posv with a second launch for the solution. threads: of the block; tile: the same for the
//    upper triangle, 0 for the same number. As panel where there is no such kernel. potrs by tiles
//    of the triangle in shared memory (solve/tile/kernel.cuh).
//  - tiles: potrs by thread blocks whose warps share the rows of a matrix (solve/block/kernel.cuh);
//    from `tile` to `block` right-hand sides by single warps or, where there are threads, by blocks
//    of so many whose triangle need not fit shared memory (solve/left_looking_mma/kernel.cuh).
//  - persistent: potrf and posv of one matrix by one kernel over all multiprocessors
//    (native/persistent), under the names of native/knobs.hpp. potrs of one matrix by strips, or by
//    inverted diagonal blocks of order `tile` for more than `block` right-hand sides
//    (native/solve).
//  - blocked: potrf and posv of one matrix by recursion with cuBLAS between (native/one_matrix.cu);
//    threads: of the block that factors a leaf. potrs streams tiles (solve/streaming/kernel.cuh),
//    for one matrix by cuBLAS; from `tile` to `block` right-hand sides as tiles.
// potri, pocon and logdet have one method each.
constexpr int64_t kAny = INT64_MAX;
constexpr Routine kFactor[] = {Routine::potrf, Routine::posv};

struct Limits {
  char precision;
  int64_t factor_lanes;     ///< orders up to which potrf holds the matrix in a few lanes
  int64_t binned;           ///< and bins them by size where they differ,
  int64_t posv_lanes;       ///< and of posv in one kernel
  int64_t posv_one;         ///< the same of one right-hand side
  int64_t solve_shared;     ///< orders up to which potrs has the triangle in shared memory
  solve::Params one_solve;  ///< of one matrix above that
};
// Measured on an H200, CUDA 13.0.
constexpr Limits kHopper[] = {{'s', 48, 32, 32, 48, 192, {16, 512}},
                              {'d', 40, 32, 32, 48, 128, {16, 512}},
                              {'c', 48, 32, 32, 36, 128, {16, 512}},
                              {'z', 32, 32, 24, 39, 128, {16, 256}}};
constexpr int kPanelOrder = 65;   ///< above all orders of lanes
constexpr int kFewColumns = 4;    ///< of right-hand sides of one matrix, beyond which tiles serve
constexpr int kOneThreads = 256;  ///< of the block that has the device to itself
/// Order from which on two kernels of all multiprocessors are faster at posv of one matrix; d.
constexpr int64_t kPosvOneBlock = 160;

struct PanelRow {
  char precision;
  int64_t max_n;
  int threads, tile;
  Method method = Method::panel;
};
// Small matrices by many blocks of narrow block columns, larger ones by wide ones, since less is
// read again; large ones by more warps, so that fewer of them compete for the second-level cache.
// clang-format off
/// potrf of batches above Limits::factor_lanes.
constexpr PanelRow kPanels[] = {
    {'s', 72, 32, 24},  {'s', 96, 32, 14},  {'s', 97, 32, 12},  {'s', 112, 32, 14},
    {'s', 144, 32, 12}, {'s', 150, 32, 13}, {'s', 224, 32, 11}, {'s', 240, 64, 6},
    {'s', kAny, 128, 4},
    {'d', 62, 32, 12},  {'d', 64, 32, 11},  {'d', 72, 32, 12},  {'d', 80, 32, 11},
    {'d', 88, 32, 12},  {'d', 96, 32, 11},  {'d', 104, 32, 12}, {'d', 112, 64, 6},
    {'d', 144, 64, 5},  {'d', 152, 96, 4},  {'d', 170, 96, 5},  {'d', 224, 96, 4},
    {'d', 600, 96, 3},  {'d', kAny, 256, 0, Method::fused},
    {'c', 104, 32, 12}, {'c', 112, 32, 11}, {'c', 113, 32, 8},  {'c', 128, 32, 11},
    {'c', 230, 32, 8},  {'c', 400, 64, 5},  {'c', kAny, 64, 64, Method::fused},
    {'z', 72, 32, 12},  {'z', 128, 32, 8},  {'z', 305, 64, 4},
    {'z', 600, 64, 128, Method::fused},     {'z', 900, 128, 0, Method::fused},
    {'z', kAny, 128, 256, Method::fused}};
/// posv of batches above Limits::posv_one: in one launch but where a second one is faster.
constexpr PanelRow kPanelSolves[] = {
    {'s', 55, 32, 0, Method::fused},        {'s', 72, 32, 24},  {'s', 112, 32, 14},
    {'s', 192, 32, 13}, {'s', 230, 64, 6},  {'s', kAny, 128, 4},
    {'d', 112, 32, 12}, {'d', 160, 64, 5},  {'d', 176, 96, 4},  {'d', 224, 96, 5},
    {'d', 540, 96, 3},  {'d', 620, 128, 4},
    {'d', kAny, 256, 0, Method::fused},
    {'c', 66, 32, 0, Method::fused},        {'c', 144, 32, 12}, {'c', 208, 32, 11},
    {'c', 240, 32, 8},  {'c', 400, 128, 3},
    {'c', kAny, 64, 64, Method::fused},
    {'z', 43, 32, 0, Method::fused},        {'z', 72, 32, 12},  {'z', 128, 32, 8},
    {'z', 305, 64, 4},
    {'z', 600, 64, 128, Method::fused},     {'z', 900, 128, 0, Method::fused},
    {'z', kAny, 128, 256, Method::fused}};
/// Matrices of a batch that cannot fill the device, each worked on by one block: of the width of
/// block columns that a batch of that order has, so that the number of matrices does not change a
/// bit.
constexpr PanelRow kOneBlock[] = {
    {'s', 96, kOneThreads, 16},  {'s', 97, kOneThreads, 0},  {'s', 112, kOneThreads, 16},
    {'s', 400, kOneThreads, 0},
    {'d', 112, kOneThreads, 16}, {'d', 144, kOneThreads, 24}, {'d', 300, kOneThreads, 0},
    {'c', 160, kOneThreads, 0},
    {'z', 72, kOneThreads, 16},  {'z', 160, kOneThreads, 0}};
constexpr PanelRow kOneBlockSolves[] = {
    {'s', 55, 32, 0, Method::fused}, {'s', 112, kOneThreads, 16}, {'s', 400, kOneThreads, 0},
    {'d', 112, kOneThreads, 16}, {'d', 160, kOneThreads, 24}, {'d', 300, kOneThreads, 0},
    {'c', 66, kOneThreads, 0, Method::fused}, {'c', 160, kOneThreads, 0},
    {'z', 43, 32, 0, Method::fused}, {'z', 72, kOneThreads, 16}, {'z', 160, kOneThreads, 0}};
// clang-format on

/// One matrix by all multiprocessors, above the orders that lanes or, for posv, one block take.
struct PersistentRow {
  char precision;
  int64_t max_n;
  native::Params params;
};
// clang-format off
constexpr PersistentRow kPersistent[] = {
    {'s', 3000, {0, 1, 128}}, {'s', kAny, {0, 2, 128}},
    {'d', 3000, {0, 1, 128}}, {'d', 7700, {0, 2, 128}}, {'d', 8192, {4096, 2, 128}},
    {'d', 9500, {5120, 2, 128}}, {'d', 14000, {2048, 2, 128}}, {'d', kAny, {1024, 2, 128}},
    {'c', 1500, {0, 1, 128}}, {'c', 7700, {0, 2, 128}},  {'c', 10000, {2048, 2, 128}},
    {'c', kAny, {512, 2, 128}},
    {'z', 1500, {0, 1, 256}}, {'z', 4500, {0, 2, 256}},  {'z', 6500, {1024, 2, 256}},
    {'z', kAny, {512, 2, 256}}};
// clang-format on

/// potrs of batches; `few`: most right-hand sides of that method, 0: all; of tiles and blocked,
/// those from `from` up to `few` go by warps or blocks of `threads`.
struct SolveRow {
  char precision;
  int64_t max_n;
  Method method;
  int few, from = 0, threads = 0;
};
constexpr int kEvery = INT_MAX;  ///< of right-hand sides
// Lanes have one right-hand side by a grid, which minds least where lines begin; where they begin
// at multiples of 128 bytes warps are faster, which have up to eight rows beside their 32 or 64.
// Blocks of 128 threads serve as long as an SM has room for as many as registers allow.
// clang-format off
constexpr SolveRow kSolves[] = {
    {'s', 16, Method::lanes, 0},     {'s', 24, Method::lanes, 4},     {'s', 31, Method::lanes, 1},
    {'s', 32, Method::panel, 4},     {'s', 47, Method::lanes, 1},     {'s', 64, Method::panel, 4},
    {'s', 128, Method::tiles, 4, 1}, {'s', 352, Method::tiles, kEvery, 2, 128},
    {'s', kAny, Method::blocked, kEvery, 2, 256},

    {'d', 8, Method::lanes, 0},      {'d', 16, Method::lanes, 4},     {'d', 31, Method::lanes, 1},
    {'d', 33, Method::panel, 4},     {'d', 36, Method::lanes, 1},     {'d', 48, Method::panel, 4},
    {'d', 72, Method::tiles, 4, 1},  {'d', 128, Method::tiles, 2, 2},
    {'d', 256, Method::tiles, kEvery, 2, 128}, {'d', 288, Method::blocked, kEvery, 1, 128},
    {'d', 600, Method::blocked, kEvery, 1, 256}, {'d', kAny, Method::blocked, kEvery, 2, 256},

    {'c', 8, Method::lanes, 0},      {'c', 16, Method::lanes, 4},     {'c', 31, Method::lanes, 1},
    {'c', 32, Method::panel, 4},     {'c', 40, Method::lanes, 1},     {'c', 72, Method::tiles, 4, 1},
    {'c', 128, Method::tiles, 4, 2, 128}, {'c', 192, Method::tiles, kEvery, 2, 128},
    {'c', 256, Method::tiles, kEvery, 2, 256}, {'c', 600, Method::blocked, kEvery, 1, 256},
    {'c', kAny, Method::blocked, kEvery, 2, 256},

    {'z', 8, Method::lanes, 0},      {'z', 16, Method::lanes, 4},     {'z', 20, Method::lanes, 1},
    {'z', 24, Method::panel, 4},     {'z', 28, Method::lanes, 1},     {'z', 64, Method::panel, 4},
    {'z', 72, Method::tiles, 1, 1},  {'z', 96, Method::tiles, 4, 2, 128},
    {'z', 176, Method::tiles, kEvery, 2, 128}, {'z', 192, Method::tiles, kEvery, 2, 256},
    {'z', kAny, Method::blocked, kEvery, 1, 256},
};
// clang-format on

constexpr Plan plan(Method method, int threads = 0) { return {method, 0, 0, threads}; }

constexpr int kRowsPerPrecision = 7 + 3 + 2 * 3 + int(std::size(interleaved::kRoutines));
struct Table {
  TuningRow rows[kRowsPerPrecision * std::size(kHopper) + 2 * std::size(kPersistent) +
                 std::size(kOneBlock) + std::size(kOneBlockSolves) + std::size(kPanels) +
                 std::size(kPanelSolves) + std::size(kSolves) + std::size(interleaved::kRows)];
  size_t count = 0;
};

/// @param persistent whether the device has what that method needs.
constexpr Table make_table(bool persistent) {
  using Rows = std::span<const PanelRow>;
  Table table{};
  TuningRow* row = table.rows;
  for (const Limits& limits : kHopper) {
    const char p = limits.precision;
    for (Routine routine : kFactor) {
      const bool solves = routine == Routine::posv;
      const int64_t lanes =
          solves ? std::max(limits.factor_lanes, limits.posv_one) : limits.factor_lanes;
      if (solves)
        *row++ = {routine, Form::one, p, limits.posv_lanes, {Method::lanes, kAsTheyLie, 0, 0}};
      *row++ = {routine, Form::one, p, lanes, {Method::lanes, kAsTheyLie, 0, kPanelOrder}};
      if (solves || !persistent)
        for (const PanelRow& r : solves ? Rows(kOneBlockSolves) : Rows(kOneBlock))
          if (r.precision == p && !(persistent && p == 'd' && r.max_n > kPosvOneBlock))
            *row++ = {routine, Form::one, p, r.max_n, {r.method, kAsTheyLie, r.tile, r.threads}};
      for (const PersistentRow& r : kPersistent)
        if (r.precision == p && (persistent || r.max_n == kAny))
          *row++ = {routine, Form::one, p, r.max_n,
                    persistent ? r.params.plan() : plan(Method::blocked, r.params.leaf_threads)};
      const auto add = [&](int64_t max_n, Plan its_plan) {
        *row++ = {routine, Form::batch, p, max_n, its_plan};
      };
      if (solves)
        add(limits.posv_lanes, {Method::lanes, kAsTheyLie, 0, 0});
      else
        add(limits.binned, {Method::lanes, kBinnedBySize, 0, 0});
      add(lanes, {Method::lanes, kLargestFirst, 0, kPanelOrder});
      for (const PanelRow& r : solves ? Rows(kPanelSolves) : Rows(kPanels))
        if (r.precision == p) add(r.max_n, {r.method, kLargestFirst, r.tile, r.threads});
    }
    *row++ = {Routine::potrs, Form::one, p, 32, {Method::lanes, kFewColumns, 0, 0}};
    *row++ = {Routine::potrs, Form::one, p, limits.solve_shared, plan(Method::tiles)};
    for (const SolveRow& r : kSolves)
      if (r.precision == p)
        *row++ = {Routine::potrs, Form::batch, p, r.max_n, {r.method, r.few, r.from, r.threads}};
    *row++ = {Routine::potrs, Form::one, p, kAny,
              persistent ? limits.one_solve.plan() : plan(Method::blocked)};
    for (Form form : {Form::one, Form::batch})
      for (Routine routine : {Routine::potri, Routine::pocon, Routine::logdet})
        *row++ = {routine, form, p, kAny, plan(Method::blocked)};
  }
  for (const interleaved::Row& r : interleaved::kRows)
    *row++ = {r.routine, Form::interleaved, r.precision, r.max_n, r.plan};
  for (const Limits& limits : kHopper)
    for (Routine routine : interleaved::kRoutines)
      *row++ = {routine, Form::interleaved, limits.precision, kAny,
                runs_in_slices(routine, interleaved::kSlices) ? interleaved::kSlices
                                                              : interleaved::kInPlace};
  table.count = static_cast<size_t>(row - table.rows);
  return table;
}

constexpr Table kTable = make_table(false), kHopperTable = make_table(true);

/// kOneBlock or kOneBlockSolves as plans, in their order.
template <size_t kCount>
struct OneBlockPlans {
  Plan plans[kCount];

  constexpr explicit OneBlockPlans(const PanelRow (&rows)[kCount]) : plans{} {
    for (size_t k = 0; k < kCount; ++k)
      plans[k] = {rows[k].method, kAsTheyLie, rows[k].tile, rows[k].threads};
  }
  const Plan* find(const PanelRow (&rows)[kCount], char precision, int64_t n) const {
    for (size_t k = 0; k < kCount; ++k)
      if (rows[k].precision == precision && n <= rows[k].max_n) return &plans[k];
    return nullptr;
  }
};
constexpr OneBlockPlans kOneBlockPlans(kOneBlock);
constexpr OneBlockPlans kOneBlockSolvePlans(kOneBlockSolves);

// The rate of the device at the row's smallest order (one matrix in its memory), and of the link
// through staging memory.
constexpr double kLink = 25;
constexpr RateRow kRates[] = {
    {'s', 2000, 400, kLink},   {'s', 4000, 2200, kLink},  {'s', 8000, 7500, kLink},
    {'s', kAny, 20000, kLink}, {'d', 2000, 400, kLink},   {'d', 4000, 2200, kLink},
    {'d', 8000, 7500, kLink},  {'d', kAny, 22000, kLink}, {'c', 2000, 1500, kLink},
    {'c', 4000, 6000, kLink},  {'c', kAny, 17000, kLink}, {'z', 2000, 1500, kLink},
    {'z', 4000, 5500, kLink},  {'z', kAny, 17000, kLink}};

constexpr ResidueRow kResidues[] = {{'s', 10240, 1024, 1024},
                                    {'d', 15360, 1024, 2048},
                                    {'c', 8192, 1024, 1024},
                                    {'z', 14336, 1024, 2048}};
constexpr MixedRow kMixed[] = {{'d', 12288, 250}, {'z', 7168, 250}};

}  // namespace

std::vector<Row> built_in_rows(int capability) {
  const Table& table = capability >= 90 ? kHopperTable : kTable;
  std::vector<Row> rows;
  for (const TuningRow& row : std::span(table.rows, table.count))
    rows.push_back(
        {row.routine, row.form, row.precision, {.n = {0, row.max_n}}, choice_of(row.plan)});
  return rows;
}

const Plan* one_block_plan(Routine routine, char precision, int64_t n) {
  if (routine == Routine::posv) return kOneBlockSolvePlans.find(kOneBlockSolves, precision, n);
  return routine == Routine::potrf ? kOneBlockPlans.find(kOneBlock, precision, n) : nullptr;
}

const RateRow* built_in_rates(int, size_t* count) {
  *count = std::size(kRates);
  return kRates;
}

const ResidueRow* built_in_residues(int capability, size_t* count) {
  *count = capability >= 90 ? std::size(kResidues) : 0;
  return kResidues;
}

const MixedRow* built_in_mixed(size_t* count) {
  *count = std::size(kMixed);
  return kMixed;
}

}  // namespace chol::cuda
