// The model that excludes plans before measuring, and the remaining plans.
#include <gtest/gtest.h>

#include <algorithm>

#include "interleaved/jit/request.hpp"
#include "tools/tune/device_space.hpp"
#include "tune/built_instances.hpp"
#include "tune/methods.hpp"

namespace chol::tune {
namespace {

const Choice kAnyOrder = cuda::kInterleavedStreamed;
constexpr Choice shared(int columns, int matrices, int threads) {
  return {cuda::kInterleavedShared,
          {{"columns", columns}, {"matrices", matrices}, {"threads", threads}}};
}
/// @param order 0 left-, 1 right-, 2 top-looking, 3 to 5 the same without loops.
constexpr Choice tiled(int tile, int order, int threads) {
  return {cuda::kInterleavedTiled,
          {{"tile", tile}, {"looking", order % 3}, {"unrolled", order / 3}, {"threads", threads}}};
}
bool is_by_warps(const Choice& choice) {
  return choice.is(cuda::kInterleavedWarps) || choice.is(cuda::kInterleavedWarpSolve) ||
         choice.is(cuda::kInterleavedTwoSteps);
}

constexpr DeviceModel kHopper{};

/// Registers of a thread, shared memory and threads of a block.
Footprint block(int registers, int64_t bytes, int threads) {
  return {.registers = registers, .bytes = bytes, .threads = threads};
}

TEST(Occupancy, BlocksFitByEachBound) {
  EXPECT_EQ(resident_blocks(block(32, 0, 64), kHopper), 32);         // blocks
  EXPECT_EQ(resident_blocks(block(32, 0, 256), kHopper), 8);         // threads
  EXPECT_EQ(resident_blocks(block(128, 0, 128), kHopper), 4);        // registers
  EXPECT_EQ(resident_blocks(block(129, 0, 128), kHopper), 3);        // by eights
  EXPECT_EQ(resident_blocks(block(32, 100 << 10, 64), kHopper), 2);  // shared memory
  EXPECT_EQ(resident_blocks(block(32, 114 << 10, 64), kHopper), 1);  // a kilobyte each
  EXPECT_EQ(resident_blocks(block(32, 228 << 10, 64), kHopper), 0);  // more than a block has
  EXPECT_EQ(resident_blocks(block(1000, 0, 128), kHopper), 2);       // the rest is spilt
  EXPECT_EQ(resident_blocks(Footprint{}, kHopper), 0);
}

TEST(Occupancy, CoverageFallsWithIdleThreadsPartsOfLinesSpillsAndPasses) {
  const Footprint whole{64, 0, 128, 1, 64, 32 << 10, 1};
  EXPECT_DOUBLE_EQ(coverage(whole, kHopper), 1);
  const auto without = [&](auto&& change) {
    Footprint changed = whole;
    change(changed);
    return coverage(changed, kHopper);
  };
  EXPECT_DOUBLE_EQ(without([](Footprint& f) { f.busy = 1.0 / 8; }), 0.5);
  EXPECT_DOUBLE_EQ(without([](Footprint& f) { f.line = 16; }), 0.5);
  EXPECT_DOUBLE_EQ(without([](Footprint& f) { f.passes = 3; }), 1.0 / 3);
  EXPECT_DOUBLE_EQ(without([](Footprint& f) { f.under_way = 1 << 10; }), 0.25);
  EXPECT_DOUBLE_EQ(without([](Footprint& f) { f.bytes = 1 << 20; }), 0);
  EXPECT_LT(without([](Footprint& f) { f.registers = 510; }), 0.25);
  EXPECT_DOUBLE_EQ(coverage(Footprint{}, kHopper), 0);
}

TEST(Occupancy, FootprintsGrowWithTheOrder) {
  for (const Choice& plan : {Choice(cuda::kInterleavedRegisters, {{"threads", 64}}),
                             shared(8, 8, 128), Choice(cuda::kInterleavedColumns)}) {
    const Footprint small = footprint_of({Routine::potrf, 'd', 8}, plan);
    const Footprint large = footprint_of({Routine::potrf, 'd', 24}, plan);
    EXPECT_LT(small.registers + small.bytes, large.registers + large.bytes) << text_of(plan);
  }
}

TEST(Occupancy, TilesAreReadAgainByTheirEdgeAndOrder) {
  const auto of = [](int edge, int order, int threads) {
    return footprint_of({Routine::potrf, 'd', 20}, tiled(edge, order, threads));
  };
  for (const int order : {0, 1, 2}) {
    EXPECT_DOUBLE_EQ(of(2, order, 64).passes, 2 * of(4, order, 64).passes);
    EXPECT_LT(of(2, order, 64).registers, of(4, order, 64).registers);
    EXPECT_DOUBLE_EQ(of(4, order + 3, 64).passes, 1);
    EXPECT_GT(of(4, order + 3, 64).registers, of(4, order, 64).registers);
    EXPECT_EQ(of(4, order, 128).threads, 128);
  }
  EXPECT_DOUBLE_EQ(of(4, 1, 64).passes, 2 * of(4, 0, 64).passes);
  EXPECT_DOUBLE_EQ(of(4, 2, 64).passes, of(4, 0, 64).passes);
  EXPECT_LT(of(4, 3, 64).registers, of(4, 4, 64).registers);
  const Footprint built = footprint_of({Routine::potrf, 'd', 20}, kAnyOrder);
  EXPECT_EQ(built.registers, of(4, 0, 64).registers);
  EXPECT_EQ(built.threads, 64);
}

TEST(Occupancy, PruningKeepsTheFirstAndDropsWhatCannotRun) {
  const Point point{Routine::potrf, 'd', 100};
  const Choice large = shared(8, 16, 128), fitting = shared(8, 4, 128);
  const std::vector<Choice> left = prune(point, {large, large, fitting, kAnyOrder}, kHopper, 10);
  ASSERT_FALSE(left.empty());
  EXPECT_EQ(text_of(left[0]),
            text_of(large));  // the built-in choice is always measured
  EXPECT_EQ(std::count(left.begin(), left.end(), large), 1);
  EXPECT_TRUE(has_choice(left, fitting));
  EXPECT_LE(prune(point, std::vector<Choice>(100, fitting), kHopper, 10).size(), 10u);
  EXPECT_TRUE(prune(point, {}, kHopper, 10).empty());
}

/// The model must not exclude choices selected by measurements.
TEST(Occupancy, EveryBuiltInPlanCoversAnEighthOfTheBest) {
  const DevicePlans plans(kHopper, true);
  for (const Routine routine : {Routine::potrf, Routine::potrs, Routine::posv})
    for (const char precision : {'s', 'd', 'c', 'z'})
      for (const int64_t n : {2, 8, 16, 24, 32, 48, 64, 80, 100}) {
        const Point point{routine, precision, n};
        const std::vector<Choice> left = plans.interleaved(point);
        ASSERT_FALSE(left.empty());
        EXPECT_TRUE(left[0] == plans.built_in(point));
        // Warps with a matrix each are outside the model: few choices, in addition to the usual
        // number.
        const auto by_warps = std::count_if(left.begin(), left.end(), is_by_warps);
        EXPECT_LE(by_warps, 5);
        EXPECT_LE(int64_t(left.size()) - by_warps, 40);
        if (is_by_warps(left[0])) continue;
        double best = 0;
        for (const Choice& plan : left)
          best = std::max(best, coverage(footprint_of(point, plan), kHopper));
        EXPECT_GE(coverage(footprint_of(point, left[0]), kHopper), best / 8)
            << text_of(point) << ' ' << text_of(left[0]);
      }
}

/// Whether instances.def lists a kernel.
bool is_instance(const Choice& choice, const Point& point) {
  return std::any_of(
      std::begin(cuda::kInterleavedInstances), std::end(cuda::kInterleavedInstances),
      [&](const cuda::InterleavedInstance& instance) {
        return instance.choice == choice && serves(instance, {point.routine, point.precision});
      });
}

TEST(DevicePlans, CandidatesAreMethodsOfTheBackend) {
  for (const bool compiled : {false, true}) {
    const DevicePlans plans(kHopper, compiled);
    for (const char precision : {'s', 'd', 'c', 'z'})
      for (const int64_t n : {3, 12, 20, 40, 100}) {
        const Point point{Routine::potrf, precision, n};
        const std::vector<Choice> all = plans.interleaved(point);
        for (size_t i = 1; i < all.size(); ++i)
          EXPECT_TRUE(
              all[i] == kAnyOrder || is_instance(all[i], point) ||
              cuda::can_compile({point.routine, precision}, all[i], n, kHopper.block_memory))
              << text_of(point) << ' ' << text_of(all[i]);
      }
  }
}

/// By order of the tiles, with loops and without.
std::vector<size_t> count_tiled(const std::vector<Choice>& plans) {
  std::vector<size_t> count(6);
  for (const Choice& plan : plans)
    if (plan.is(cuda::kInterleavedTiled)) ++count[size_t(plan.at(1) + 3 * plan.at(2))];
  return count;
}

TEST(DevicePlans, TiledKernelsAreAmongTheCandidates) {
  const DevicePlans compiled(kHopper, true), built(kHopper, false);
  for (const char precision : {'s', 'd', 'c', 'z'})
    for (const Routine routine : {Routine::potrf, Routine::posv}) {
      for (const int64_t n : {4, 8, 12}) {
        const std::vector<Choice> all = compiled.interleaved({routine, precision, n});
        for (const size_t count : count_tiled(all)) EXPECT_EQ(count, 3u) << precision << ' ' << n;
        EXPECT_GE(all.size(), 40u);
      }
      const std::vector<size_t> large = count_tiled(compiled.interleaved({routine, precision, 40}));
      EXPECT_GT(large[0], 0u) << precision;
      EXPECT_GT(large[2], 0u) << precision;
      EXPECT_EQ(large[3] + large[4] + large[5], 0u) << precision;
    }
  const std::vector<size_t> none(6);
  EXPECT_EQ(count_tiled(compiled.interleaved({Routine::potrs, 'd', 8})), none);
  EXPECT_EQ(count_tiled(built.interleaved({Routine::potrf, 'd', 8})), none);
}

/// A search without compiling tries the kernels in shared memory that instances.def lists: each
/// other one would take a second of compile time.
TEST(DevicePlans, WithoutACompilerCandidatesAreBuilt) {
  const DevicePlans plans(kHopper, false);
  for (const char precision : {'s', 'd', 'c', 'z'}) {
    for (const int64_t n : {4, 16, 32, 64, 100}) {
      const Point point{Routine::potrf, precision, n};
      size_t in_shared_memory = 0;
      for (const Choice& plan : plans.interleaved(point)) {
        EXPECT_FALSE(plan.is(cuda::kInterleavedTiled)) << text_of(point) << ' ' << text_of(plan);
        if (!plan.is(cuda::kInterleavedShared) && !plan.is(cuda::kInterleavedWarps)) continue;
        ++in_shared_memory;
        EXPECT_TRUE(is_instance(plan, point)) << text_of(point) << ' ' << text_of(plan);
      }
      EXPECT_GT(in_shared_memory, 0u) << text_of(point);
    }
  }
}

TEST(DevicePlans, ColumnMajorCandidatesAreBuilt) {
  const DevicePlans plans(kHopper, false);
  for (const char precision : {'s', 'd', 'c', 'z'})
    for (const int64_t n : {4, 16, 32, 40}) {
      size_t in_registers = 0;
      for (const Choice& plan : plans.candidates({Routine::potrf, precision, n, Form::batch})) {
        const auto has_lanes = [&](const cuda::RegisterInstance& instance) {
          return instance.precision == precision && instance.task == "factor" &&
                 n <= instance.largest && (plan.at(0) == 0 || instance.lanes == plan.at(0));
        };
        const auto has_threads = [&](const cuda::MultiPanelInstance& instance) {
          return instance.precision == precision && instance.threads == plan.at(0);
        };
        using std::begin, std::end;
        if (plan.is(cuda::kRegisterPotrf)) {
          ++in_registers;
          EXPECT_TRUE(std::any_of(begin(cuda::kRegisterInstances), end(cuda::kRegisterInstances),
                                  has_lanes))
              << precision << ' ' << n << ' ' << text_of(plan);
        }
        if (plan.is(cuda::kMultiPanelPotrf)) {
          EXPECT_TRUE(std::any_of(begin(cuda::kMultiPanelInstances),
                                  end(cuda::kMultiPanelInstances), has_threads))
              << precision << ' ' << text_of(plan);
        }
      }
      EXPECT_GT(in_registers, 1u) << precision << ' ' << n;
    }
}

TEST(DevicePlans, APlanServesTheOrdersOfItsKernel) {
  const DevicePlans plans(kHopper, true);
  const Point point{Routine::potrf, 'd', 14};
  EXPECT_EQ(plans.reach(point, Choice(cuda::kInterleavedRegisters, {{"threads", 32}}), 15), 15);
  EXPECT_EQ(plans.reach(point, Choice(cuda::kInterleavedRegisters, {{"threads", 32}}), 40), 16);
  EXPECT_EQ(plans.reach(point, kAnyOrder, 400), 400);
  EXPECT_EQ(plans.reach(point, tiled(8, 2, 32), 400), 400);
  EXPECT_EQ(plans.reach(point, tiled(8, 5, 32), 400), 20);
  const Point batch{Routine::potrf, 'd', 32, Form::batch};
  EXPECT_EQ(plans.reach(batch, Choice(cuda::kRegisterPotrf), 40), 32);
  EXPECT_EQ(plans.reach(batch, Choice(cuda::kLeftLookingPotrf), 40), 40);
}

}  // namespace
}  // namespace chol::tune
