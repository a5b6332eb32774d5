// Predicts the rank of a tile of the factor from the rank of the tile of A and the ratio of these
// ranks in the last block columns. A is compressed with a smaller tolerance than its factor, and
// most of the tile is subtracted during the factorization.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "tlr/matrix.hpp"

namespace chol::tlr {

class RankGuess {
 public:
  /// @param rank of a low rank tile of A
  int64_t operator()(int64_t rank) const {
    int most = 0;
    const int middle = bin_of(rank);
    for (const Ratios& column : columns_)
      for (int bin = std::max(middle - 1, 0); bin <= std::min(middle + 1, kBins - 1); ++bin)
        most = std::max(most, column[static_cast<size_t>(bin)]);
    return most == 0 ? rank : rank * most / kOne;
  }
  /// Called before block column k is compressed.
  template <class T>
  void begin_column(const Matrix<T>& A, int64_t k) {
    before_.clear();
    for (int64_t i = k + 1; i < A.tiles; ++i)
      before_.push_back(A.at(i, k).dense ? 0 : A.rank(i, k));
  }
  /// Called after block column k is compressed.
  template <class T>
  void end_column(const Matrix<T>& A, int64_t k) {
    Ratios& ratios = columns_[static_cast<size_t>(k % kColumns)];
    ratios.fill(0);
    for (int64_t i = k + 1; i < A.tiles; ++i) {
      const int64_t before = before_[static_cast<size_t>(i - k - 1)];
      if (before == 0) continue;
      const int64_t rank = A.at(i, k).dense ? before : std::min(A.rank(i, k), before);
      int& most = ratios[static_cast<size_t>(bin_of(before))];
      most = std::max(most, static_cast<int>((rank * kOne + before - 1) / before));
    }
  }

 private:
  /// Similar ranks, eight bins an octave, use the largest ratio of their neighbours and of the last
  /// columns. With that, one in some hundred tiles needs more samples for 16,384 to 32,768 points.
  static constexpr int kColumns = 3, kOne = 1024, kBins = 8 * 32;
  using Ratios = std::array<int, kBins>;  ///< in units of 1 / kOne; 0: no tile of such a rank
  static int bin_of(int64_t rank) {
    const auto x = static_cast<uint64_t>(8 * (rank + 1));
    const int power = std::max(static_cast<int>(std::bit_width(x)) - 4, 0);
    return std::min(8 * power + static_cast<int>(x >> power) - 8, kBins - 1);
  }

  std::array<Ratios, kColumns> columns_{};
  std::vector<int64_t> before_;
};

}  // namespace chol::tlr
