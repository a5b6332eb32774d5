// Properties of the tile size model that hold on any machine.
#include "host/single/tile_size.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace chol::host {
namespace {

constexpr TileMachine kServer{65, 150, 2 << 20, 8, 2};

TEST(TileSize, MoreThreadsNeverIncreaseTheSize) {
  for (const int64_t n : {500, 1000, 2000, 4000, 8000, 16000}) {
    int last = 1 << 20;
    for (const int threads : {1, 2, 4, 8, 16}) {
      const int nb = choose_tile(kServer, n, threads);
      EXPECT_LE(nb, last) << n << ", " << threads << " threads";
      last = nb;
    }
  }
}

/// Measured rates of sixteen cores (bench/results): the fastest size and its neighbours.
TEST(TileSize, IsNearTheFastestOnSixteenCores) {
  const struct {
    int64_t n;
    int least, most;
  } measured[] = {{500, 32, 64}, {1000, 48, 96}, {2000, 64, 128}, {4000, 96, 256}};
  for (const auto& m : measured) {
    const int nb = choose_tile(kServer, m.n, 16);
    EXPECT_GE(nb, m.least) << m.n;
    EXPECT_LE(nb, m.most) << m.n;
  }
}

TEST(TileSize, SmallMatricesAreOneTile) {
  for (const int threads : {1, 2, 16}) EXPECT_EQ(choose_tile(kServer, 200, threads), 200);
}

TEST(TileSize, CandidatesAreOfTwoMantissas) {
  const std::vector<int> all = tile_candidates(400);
  EXPECT_EQ(all, (std::vector<int>{32, 48, 64, 96, 128, 192, 400}));
  EXPECT_EQ(tile_candidates(40), std::vector<int>{40});
}

}  // namespace
}  // namespace chol::host
