#include "tune/factor_rows.hpp"

namespace chol::cuda {
namespace {

// Measured on an H200. Options: N prefetches the next panel, L bypasses the L1 cache, R reads
// operands ahead, S saves registers (LeftLookingOption).
constexpr int N = 1, L = 2, R = 4, S = 8;
constexpr bool kLower = false, kUpper = true;
constexpr Columns kAnyColumns = Columns::any, kMisaligned = Columns::misaligned,
                  kBordered = Columns::bordered;
// clang-format off
constexpr LeftLookingRow kLeftLooking[] = {
    {'s', kLower, kMisaligned, 1, 11, {4, 16, 4, 32, true, R | S}},
    {'s', kLower, kMisaligned, 2,  6, {4, 16, 4, 32, true, R | S}},
    {'s', kLower, kAnyColumns, 1, 24, {1, 8, 24, 16, true, 0}},
    {'s', kLower, kAnyColumns, 1, 14, {1, 16, 14, 16, true, L | R}},
    {'s', kLower, kAnyColumns, 1, 12, {1, 16, 12, 32, true, N | R}},
    {'s', kLower, kAnyColumns, 1, 11, {1, 16, 12, 32, true, N | R}},
    {'s', kLower, kAnyColumns, 1, 13, {1, 16, 12, 32, true, N | R}},
    {'s', kLower, kAnyColumns, 2,  6, {2, 16, 6, 32, true, N | R | S}},
    {'s', kLower, kAnyColumns, 4,  4, {4, 16, 4, 32, true, L | R}},
    {'s', kLower, kAnyColumns, 8,  2, {8, 16, 2, 32, true, 0}},
    {'s', kLower, kAnyColumns, 8, 16, {8, 8, 2, 16, true, 0}},
    {'s', kLower, kAnyColumns, 4,  5, {4, 8, 5, 32, false, 0}},
    {'s', kLower, kAnyColumns, 1, 16, {1, 8, 16, 32, false, 0}},
    {'s', kUpper, kMisaligned, 1, 24, {1, 16, 12, 32, true, N | L | R | S}},
    {'s', kUpper, kMisaligned, 1, 14, {1, 16, 12, 32, true, N | L | R | S}},
    {'s', kUpper, kMisaligned, 1, 12, {1, 16, 12, 32, true, N | L | R | S}},
    {'s', kUpper, kMisaligned, 1, 11, {2, 16, 6, 32, true, L | S}},
    {'s', kUpper, kMisaligned, 8, 16, {8, 16, 2, 32, true, L | S}},
    {'s', kUpper, kAnyColumns, 1, 24, {1, 16, 16, 16, true, L | S}},
    {'s', kUpper, kAnyColumns, 1, 14, {1, 16, 16, 16, true, L | S}},
    {'s', kUpper, kAnyColumns, 1, 12, {1, 16, 12, 32, true, L | R}},
    {'s', kUpper, kAnyColumns, 1, 11, {1, 16, 12, 32, true, L | R}},
    {'s', kUpper, kAnyColumns, 1, 13, {1, 16, 12, 32, true, L | S}},
    {'s', kUpper, kAnyColumns, 2,  6, {2, 16, 6, 32, true, L | S}},
    {'s', kUpper, kAnyColumns, 4,  4, {4, 16, 4, 32, true, R}},
    {'s', kUpper, kAnyColumns, 8,  2, {8, 16, 2, 32, true, L | S}},
    {'s', kUpper, kAnyColumns, 8, 16, {8, 8, 2, 16, true, L | S}},
    {'s', kUpper, kAnyColumns, 4,  5, {4, 16, 5, 32, false, L | S}},
    {'s', kUpper, kAnyColumns, 1, 16, {1, 8, 16, 32, false, L | S}},

    {'d', kLower, kAnyColumns, 1, 12, {1, 8, 12, 16, true, N | S}},
    {'d', kLower, kAnyColumns, 1, 11, {1, 8, 12, 16, true, N | S}},
    {'d', kLower, kAnyColumns, 2,  5, {2, 8, 5, 16, true, L | R}},
    {'d', kLower, kAnyColumns, 2,  6, {2, 8, 5, 16, true, L | R}},
    {'d', kLower, kAnyColumns, 3,  4, {3, 8, 4, 32, true, 0}},
    {'d', kLower, kAnyColumns, 4,  4, {4, 8, 4, 32, true, 0}},
    {'d', kLower, kAnyColumns, 8,  2, {8, 8, 2, 32, true, 0}},
    {'d', kLower, kAnyColumns, 8, 16, {8, 8, 2, 16, true, 0}},
    {'d', kLower, kAnyColumns, 8, 24, {8, 8, 2, 16, true, 0}},
    {'d', kUpper, kMisaligned, 1, 11, {1, 8, 12, 16, true, N | L | S}},
    {'d', kUpper, kMisaligned, 2,  6, {1, 8, 12, 16, true, N | L | S}},
    {'d', kUpper, kMisaligned, 3,  4, {2, 16, 5, 32, true, 0}},
    {'d', kUpper, kMisaligned, 3,  5, {2, 16, 5, 32, true, 0}},
    {'d', kUpper, kAnyColumns, 1, 12, {1, 8, 12, 16, true, N | L | S}},
    {'d', kUpper, kAnyColumns, 1, 11, {1, 16, 12, 16, true, N | L}},
    {'d', kUpper, kAnyColumns, 2,  6, {1, 16, 12, 16, true, L | S}},
    {'d', kUpper, kAnyColumns, 3,  3, {4, 16, 2, 32, true, N | R}},
    {'d', kUpper, kAnyColumns, 3,  4, {2, 16, 4, 32, true, N | R}},
    {'d', kUpper, kAnyColumns, 3,  5, {1, 16, 8, 32, true, N | L | S}},
    {'d', kUpper, kAnyColumns, 2,  5, {1, 16, 8, 32, true, N | L | S}},
    {'d', kUpper, kAnyColumns, 4,  2, {4, 16, 2, 32, true, N | R}},
    {'d', kUpper, kAnyColumns, 8,  1, {8, 16, 1, 32, true, 0}},
    {'d', kUpper, kAnyColumns, 8, 16, {8, 8, 2, 16, true, L | S}},

    {'c', kLower, kAnyColumns, 1, 12, {1, 8, 12, 16, true, N | S}},
    {'c', kLower, kAnyColumns, 1, 11, {1, 8, 12, 16, true, N | S}},
    {'c', kLower, kAnyColumns, 1,  8, {1, 16, 8, 16, true, N | R | S}},
    {'c', kLower, kAnyColumns, 2,  5, {2, 16, 5, 16, true, N | S}},
    {'c', kLower, kAnyColumns, 4,  3, {4, 16, 3, 16, true, 0}},
    {'c', kLower, kAnyColumns, 8,  2, {8, 8, 2, 16, true, 0}},
    {'c', kLower, kAnyColumns, 4,  4, {4, 8, 4, 16, false, 0}},
    {'c', kLower, kAnyColumns, 1, 16, {1, 8, 16, 16, false, 0}},
    {'c', kUpper, kMisaligned, 1, 11, {1, 8, 12, 16, true, L | S}},
    {'c', kUpper, kAnyColumns, 1, 12, {1, 8, 12, 16, true, S}},
    {'c', kUpper, kAnyColumns, 1, 11, {1, 16, 12, 16, true, N | L | S}},
    {'c', kUpper, kAnyColumns, 1,  8, {1, 16, 8, 16, true, N | R}},
    {'c', kUpper, kAnyColumns, 2,  5, {2, 16, 5, 16, true, R}},
    {'c', kUpper, kAnyColumns, 2,  6, {2, 16, 5, 16, true, N | L | S}},
    {'c', kUpper, kAnyColumns, 4,  3, {4, 16, 3, 16, true, N | L | S}},
    {'c', kUpper, kAnyColumns, 8,  2, {8, 16, 2, 16, true, L | S}},
    {'c', kUpper, kAnyColumns, 4,  4, {4, 16, 4, 16, false, L | S}},
    {'c', kUpper, kAnyColumns, 1, 16, {1, 8, 16, 16, false, L | S}},

    {'z', kLower, kBordered,   1, 12, {1, 8, 12, 8, true, S}},
    {'z', kLower, kAnyColumns, 1, 12, {1, 8, 12, 8, true, 0}},
    {'z', kLower, kAnyColumns, 1,  8, {1, 8, 8, 16, true, N | S}},
    {'z', kLower, kAnyColumns, 2,  4, {2, 8, 4, 16, true, N | S}},
    {'z', kLower, kAnyColumns, 4,  2, {4, 8, 2, 16, true, 0}},
    {'z', kLower, kAnyColumns, 8,  1, {8, 8, 1, 16, true, 0}},
    {'z', kLower, kAnyColumns, 8, 16, {8, 8, 1, 8, true, 0}},
    {'z', kUpper, kAnyColumns, 1, 12, {1, 8, 8, 16, true, N | S}},
    {'z', kUpper, kAnyColumns, 1,  8, {1, 8, 8, 16, true, N | S}},
    {'z', kUpper, kAnyColumns, 2,  4, {2, 8, 4, 16, true, N | S}},
    {'z', kUpper, kAnyColumns, 4,  2, {4, 8, 2, 16, true, 0}},
    {'z', kUpper, kAnyColumns, 8,  1, {8, 8, 1, 16, true, 0}}};
// clang-format on

}  // namespace

std::span<const LeftLookingRow> left_looking_rows() { return kLeftLooking; }

bool has_left_looking(char precision, int threads) {
  if (threads == 0) return true;
  for (const LeftLookingRow& row : kLeftLooking)
    if (row.precision == precision && !row.upper && row.columns == Columns::any &&
        32 * row.params.warps == threads)
      return true;
  return false;
}

}  // namespace chol::cuda
