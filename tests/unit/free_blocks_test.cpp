#include "base/free_blocks.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace chol {
namespace {

TEST(FreeBlocks, TakesTheSmallestThatFits) {
  std::vector<char> memory(1000);
  FreeBlocks blocks;
  blocks.add_piece(memory.data(), memory.size());
  char* const first = blocks.take(100);
  char* const second = blocks.take(300);
  char* const third = blocks.take(50);
  EXPECT_EQ(first, memory.data());
  EXPECT_EQ(second, first + 100);
  EXPECT_EQ(third, second + 300);
  blocks.give_back(first, 100);
  EXPECT_EQ(blocks.take(90), first);
  EXPECT_EQ(blocks.take(10), first + 90);
  EXPECT_EQ(blocks.take(551), nullptr);
  EXPECT_EQ(blocks.take(550), third + 50);
}

TEST(FreeBlocks, JoinsNeighboursButNotPieces) {
  std::vector<char> memory(600);
  FreeBlocks blocks;
  blocks.add_piece(memory.data(), 300);
  blocks.add_piece(memory.data() + 300, 300);
  EXPECT_EQ(blocks.take(301), nullptr);
  char* const a = blocks.take(100);
  char* const b = blocks.take(100);
  char* const c = blocks.take(100);
  blocks.give_back(a, 100);
  blocks.give_back(c, 100);
  blocks.give_back(b, 100);
  EXPECT_EQ(blocks.take(301), nullptr);
  EXPECT_EQ(blocks.take(300), memory.data());
  int released = 0;
  blocks.remove_unused([&](char* piece) {
    EXPECT_EQ(piece, memory.data() + 300);
    ++released;
  });
  EXPECT_EQ(released, 1);
  EXPECT_EQ(blocks.take(1), nullptr);
  EXPECT_EQ(blocks.bytes_of_pieces(), 300u);
}

/// Used blocks never overlap, and finally all memory is one block again.
TEST(FreeBlocks, RandomUse) {
  constexpr size_t kPiece = 1 << 16;
  std::vector<char> memory(2 * kPiece);
  FreeBlocks blocks;
  blocks.add_piece(memory.data(), kPiece);
  blocks.add_piece(memory.data() + kPiece, kPiece);
  std::mt19937 engine(7);
  std::vector<std::pair<char*, size_t>> used;
  for (int step = 0; step < 20000; ++step) {
    if (used.empty() || engine() % 2 == 0) {
      const size_t bytes = 256 * (1 + engine() % 20);
      if (char* const at = blocks.take(bytes)) {
        for (size_t i = 0; i < bytes; ++i) {
          ASSERT_EQ(at[i], 0) << step;
          at[i] = 1;
        }
        used.emplace_back(at, bytes);
      }
    } else {
      std::swap(used[engine() % used.size()], used.back());
      const auto [at, bytes] = used.back();
      std::fill_n(at, bytes, char(0));
      blocks.give_back(at, bytes);
      used.pop_back();
    }
  }
  for (const auto& [at, bytes] : used) blocks.give_back(at, bytes);
  int released = 0;
  blocks.remove_unused([&](char*) { ++released; });
  EXPECT_EQ(released, 2);
}

}  // namespace
}  // namespace chol
