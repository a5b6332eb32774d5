// Rows of a block column of a factor that are compressed together: either sampled as sums, or
// formed first and then sampled.
#pragma once

#include <memory>

#include "tlr/core_compression.hpp"
#include "tlr/dense_tiles.hpp"
#include "tlr/rank_guess.hpp"
#include "tlr/schur_tiles.hpp"

namespace chol::tlr {

template <class T>
class ColumnRows {
 public:
  /// @param samples_columns see SchurTiles
  /// @param step of the samples, see Compression
  ColumnRows(backend::TileOps<T>& ops, Matrix<T>& A, const Samples<T>& samples,
             const Widths& widths, int64_t k, const RightTiles<T>& right, bool samples_columns,
             bool forms, const std::vector<int64_t>& rows, const RankGuess& guess, int64_t step,
             Control& control);
  bool forms() const { return forms_; }
  /// Adds the contributions of the columns before `finished` to the tiles or to their samples.
  void begin(int64_t finished);
  /// Adds the contributions of the other columns before k and starts the compression.
  void queue(double tolerance);
  /// Waits for the compression; the tiles are then stored in A.
  void finish();

 private:
  void keep_dense();

  backend::TileOps<T>& ops_;
  Matrix<T>& A_;
  Control& control_;
  int64_t k_, finished_ = 0;
  bool forms_;
  std::vector<int64_t> rows_, guess_;
  std::vector<Tile<T>*> tiles_;
  SchurTiles<T> schur_;
  DenseTiles<T> formed_;
  std::vector<Buffer<T>> dense_;
  Compression rule_;
  std::unique_ptr<CoreCompression<T>> cores_;  ///< only if the operations have cores
};

}  // namespace chol::tlr
