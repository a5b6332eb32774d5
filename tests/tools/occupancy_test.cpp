// The model that leaves plans out before they are measured, and what is left.
#include <gtest/gtest.h>

#include <algorithm>

#include "interleaved/jit/request.hpp"
#include "tools/tune/device_space.hpp"

namespace chol::tune {
namespace {

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
  for (const Plan& plan : {Plan{Method::lanes, 0, 0, 64}, Plan{Method::fused, 8, 8, 128},
                           Plan{Method::panel, 0, 0, 0}}) {
    const Footprint small = footprint_of({Routine::potrf, 'd', 8}, plan);
    const Footprint large = footprint_of({Routine::potrf, 'd', 24}, plan);
    EXPECT_LT(small.registers + small.bytes, large.registers + large.bytes) << text_of(plan);
  }
}

TEST(Occupancy, TilesAreReadAgainByTheirEdgeAndOrder) {
  const auto of = [](int edge, int order, int threads) {
    return footprint_of({Routine::potrf, 'd', 20}, {Method::blocked, edge, order, threads});
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
  EXPECT_EQ(of(0, 0, 0).registers, of(4, 0, 64).registers);
  EXPECT_EQ(of(0, 0, 0).threads, 64);
}

TEST(Occupancy, PruningKeepsTheFirstAndDropsWhatCannotRun) {
  const Point point{Routine::potrf, 'd', 100};
  const Plan blocked{Method::blocked, 0, 0, 0}, large{Method::fused, 8, 16, 128},
      fitting{Method::fused, 8, 4, 128};
  const std::vector<Plan> left = prune(point, {large, large, fitting, blocked}, kHopper, 10);
  ASSERT_FALSE(left.empty());
  EXPECT_TRUE(same_plan(left[0], large));  // the built-in one is measured whatever the model says
  EXPECT_EQ(
      std::count_if(left.begin(), left.end(), [&](const Plan& p) { return same_plan(p, large); }),
      1);
  EXPECT_TRUE(has_plan(left, fitting));
  EXPECT_LE(prune(point, std::vector<Plan>(100, fitting), kHopper, 10).size(), 10u);
  EXPECT_TRUE(prune(point, {}, kHopper, 10).empty());
}

constexpr Plan kAnyOrder{Method::blocked, 0, 0, 0};
/// What rows name for some order.
std::vector<Plan> named_plans(const DevicePlans& plans, Routine routine, char precision) {
  std::vector<Plan> named;
  for (int64_t n = 1; n <= 256; ++n) add_plan(named, plans.built_in({routine, precision, n}));
  return named;
}

/// The model must not leave out what measurements have chosen.
TEST(Occupancy, EveryBuiltInPlanCoversAnEighthOfTheBest) {
  const DevicePlans plans(kHopper, true);
  for (const Routine routine : {Routine::potrf, Routine::potrs, Routine::posv})
    for (const char precision : {'s', 'd', 'c', 'z'})
      for (const int64_t n : {2, 8, 16, 24, 32, 48, 64, 80, 100}) {
        const Point point{routine, precision, n};
        const std::vector<Plan> left = plans.candidates(point);
        ASSERT_FALSE(left.empty());
        EXPECT_TRUE(same_plan(left[0], plans.built_in(point)));
        // Of warps that have a matrix the model describes nothing: few, beside as many as ever.
        const auto by_warps = std::count_if(left.begin(), left.end(), cuda::is_by_warps);
        EXPECT_LE(by_warps, 5);
        EXPECT_LE(int64_t(left.size()) - by_warps, 40);
        if (cuda::is_by_warps(left[0])) continue;
        double best = 0;
        for (const Plan& plan : left)
          best = std::max(best, coverage(footprint_of(point, plan), kHopper));
        EXPECT_GE(coverage(footprint_of(point, left[0]), kHopper), best / 8)
            << text_of(point) << ' ' << text_of(left[0]);
      }
}

TEST(DevicePlans, CandidatesAreThoseThatTheBackendHas) {
  for (const bool compiled : {false, true}) {
    const DevicePlans plans(kHopper, compiled);
    for (const char precision : {'s', 'd', 'c', 'z'})
      for (const int64_t n : {3, 12, 20, 40, 100}) {
        const Point point{Routine::potrf, precision, n};
        const std::vector<Plan> named = named_plans(plans, point.routine, precision);
        const std::vector<Plan> all = plans.candidates(point);
        for (size_t i = 1; i < all.size(); ++i)
          EXPECT_TRUE(
              same_plan(all[i], kAnyOrder) ||
              (cuda::is_by_warps(all[i]) && has_plan(named, all[i])) ||
              cuda::can_compile({point.routine, precision}, all[i], n, kHopper.block_memory))
              << text_of(point) << ' ' << text_of(all[i]);
      }
  }
}

/// By order of the tiles, with loops and without.
std::vector<size_t> count_tiled(const std::vector<Plan>& plans) {
  std::vector<size_t> count(6);
  for (const Plan& plan : plans)
    if (plan.method == Method::blocked && !same_plan(plan, kAnyOrder)) ++count[size_t(plan.tile)];
  return count;
}

TEST(DevicePlans, TheLiteraturesKernelsHaveTheirShare) {
  const DevicePlans compiled(kHopper, true), built(kHopper, false);
  for (const char precision : {'s', 'd', 'c', 'z'})
    for (const Routine routine : {Routine::potrf, Routine::posv}) {
      for (const int64_t n : {4, 8, 12}) {
        const std::vector<Plan> all = compiled.candidates({routine, precision, n});
        for (const size_t count : count_tiled(all)) EXPECT_EQ(count, 3u) << precision << ' ' << n;
        EXPECT_GE(all.size(), 40u);
      }
      const std::vector<size_t> large = count_tiled(compiled.candidates({routine, precision, 40}));
      EXPECT_GT(large[0], 0u) << precision;
      EXPECT_GT(large[2], 0u) << precision;
      EXPECT_EQ(large[3] + large[4] + large[5], 0u) << precision;
    }
  const std::vector<size_t> none(6);
  EXPECT_EQ(count_tiled(compiled.candidates({Routine::potrs, 'd', 8})), none);
  EXPECT_EQ(count_tiled(built.candidates({Routine::potrf, 'd', 8})), none);
}

/// A search that compiles nothing tries of the kernels in shared memory those that a row names:
/// each other one would take a second of the compiler's.
TEST(DevicePlans, WithoutACompilerCandidatesAreBuilt) {
  const DevicePlans plans(kHopper, false);
  for (const char precision : {'s', 'd', 'c', 'z'}) {
    const std::vector<Plan> named = named_plans(plans, Routine::potrf, precision);
    for (const int64_t n : {4, 16, 32, 64, 100}) {
      const Point point{Routine::potrf, precision, n};
      size_t shared = 0;
      for (const Plan& plan : plans.candidates(point)) {
        EXPECT_EQ(plan.block + plan.tile > 0, plan.method == Method::fused)
            << text_of(point) << ' ' << text_of(plan);
        if (plan.method != Method::fused) continue;
        ++shared;
        EXPECT_TRUE(has_plan(named, plan)) << text_of(point) << ' ' << text_of(plan);
      }
      EXPECT_GT(shared, 0u) << text_of(point);
    }
  }
}

TEST(DevicePlans, APlanReachesAsFarAsItsKernelDoes) {
  const DevicePlans plans(kHopper, true);
  const Point point{Routine::potrf, 'd', 14};
  EXPECT_EQ(plans.reach(point, {Method::lanes, 0, 0, 32}, 15), 15);
  EXPECT_EQ(plans.reach(point, {Method::lanes, 0, 0, 32}, 40), 16);
  EXPECT_EQ(plans.reach(point, {Method::blocked, 0, 0, 0}, 400), 400);
  EXPECT_EQ(plans.reach(point, {Method::blocked, 8, 2, 32}, 400), 400);
  EXPECT_EQ(plans.reach(point, {Method::blocked, 8, 5, 32}, 400), 20);
  const Point batch{Routine::potrf, 'd', 32, Form::batch};
  EXPECT_EQ(plans.reach(batch, {Method::lanes, 1, 8, 0}, 40), 32);
  EXPECT_EQ(plans.reach(batch, {Method::panel, 0, 12, 32}, 40), 40);
}

}  // namespace
}  // namespace chol::tune
