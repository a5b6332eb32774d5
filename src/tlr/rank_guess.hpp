// The rank that a tile of the factor will have, from that of the tile of A and from how much
// smaller ranks have become in the last block columns. A is compressed to a smaller tolerance than
// its factor, and what is subtracted from its tiles is most of them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "tlr/matrix.hpp"

namespace chol::tlr {

class RankGuess {
 public:
  /// Of a low rank tile of A.
  int64_t operator()(int64_t rank) const {
    int most = 0;
    const int middle = bin_of(rank);
    for (const Ratios& column : columns_)
      for (int bin = std::max(middle - 1, 0); bin <= std::min(middle + 1, kBins - 1); ++bin)
        most = std::max(most, column[static_cast<size_t>(bin)]);
    return most == 0 ? rank : rank * most / kOne;
  }
  /// Before block column k is compressed.
  template <class T>
  void begin_column(const Matrix<T>& A, int64_t k) {
    before_.clear();
    for (int64_t i = k + 1; i < A.tiles; ++i)
      before_.push_back(A.at(i, k).dense ? 0 : A.rank(i, k));
  }
  /// After it was.
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
  /// Ranks of about the same size, eight bins from one power of two to the next, have the largest
  /// ratio of their neighbours and of the last columns: where 16,384 to 32,768 points are
  /// compressed one in some hundred tiles needs more samples than that.
  static constexpr int kColumns = 3, kOne = 1024, kBins = 8 * 32;
  using Ratios = std::array<int, kBins>;  ///< in parts of kOne; 0: there was no such rank
  static int bin_of(int64_t rank) {
    const auto x = static_cast<uint64_t>(8 * (rank + 1));
    const int power = std::max(static_cast<int>(std::bit_width(x)) - 4, 0);
    return std::min(8 * power + static_cast<int>(x >> power) - 8, kBins - 1);
  }

  std::array<Ratios, kColumns> columns_{};
  std::vector<int64_t> before_;
};

}  // namespace chol::tlr
