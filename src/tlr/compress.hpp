// Low rank approximation of many tiles at once. Each tile is accessed only through products: either
// samples of both sides (core_compression.hpp) or a projection on a basis of samples of one side
// (projection.hpp).
#pragma once

#include <algorithm>
#include <vector>

#include "backend/tile_ops.hpp"
#include "tlr/control.hpp"
#include "tlr/matrix.hpp"

namespace chol::tlr {

/// Random matrices of the whole matrix, `tile` by columns, generated once. Every tile is sampled
/// with the same leading columns, so that the contribution of a tile of a row of the factor is
/// formed once for all tiles.
template <class T>
class Samples {
 public:
  Samples(backend::TileOps<T>& ops, int64_t tile, uint64_t seed)
      : rows_(tile), columns_(most_columns(tile)), block_(ops.buffer(rows_ * columns_)) {
    ops.random(block_.get(), rows_ * columns_, seed);
    if (!ops.has_cores()) return;
    constexpr uint64_t kOtherStream = 0x9E3779B97F4A7C15;
    left_ = ops.buffer(rows_ * (columns_ + kTests));
    ops.random(left_.get(), rows_ * (columns_ + kTests), seed ^ kOtherStream);
  }
  static constexpr int64_t kTests = 8;  ///< columns that test the accuracy of those before
  /// A tile of a rank above half its order is stored dense.
  static int64_t most_columns(int64_t tile) { return tile / 2 + kTests; }
  const T* column(int64_t c) const { return block_.get() + c * rows_; }
  /// Left random matrix, for tiles that are compressed from both sides.
  const T* left() const { return left_.get(); }
  int64_t left_columns() const { return columns_ + kTests; }
  int64_t rows() const { return rows_; }

 private:
  int64_t rows_, columns_;
  Buffer<T> block_, left_;
};

/// Tiles M_i that are accessed through products.
template <class T>
class Operators {
 public:
  virtual ~Operators() = default;
  virtual int64_t count() const = 0;
  virtual int64_t rows(int64_t i) const = 0;
  virtual int64_t columns(int64_t i) const = 0;
  /// Y := M_i times the samples' columns [from, to).
  virtual void sample(int64_t i, int64_t from, int64_t to, T* Y,
                      backend::ProductSteps<T>& steps) = 0;
  /// Called before a round of sample() with the largest `to` of that round.
  virtual void prepare(int64_t most_columns) = 0;
  virtual const Samples<T>& samples() const = 0;
  /// B := M_i^H Q.
  virtual void project(int64_t i, const T* Q, int64_t ldq, int64_t columns, T* B,
                       backend::ProductSteps<T>& steps) = 0;
  /// If the operations have cores: Y_i := M_i times the leading samples, X_i := M_i^H times the
  /// leading left samples for many tiles. Returns the number of operations; negative: nothing
  /// was done.
  struct Wanted {
    int64_t i, samples, left_samples;
    T *Y, *X;
  };
  virtual double sample_all(const std::vector<Wanted>&) { return -1; }
  /// Adds the terms that were not available to sample_all(). Returns the number of operations.
  virtual double sample_rest(const std::vector<Wanted>&) { return 0; }
  /// D := M_i.
  virtual void expand(int64_t i, T* D, backend::ProductSteps<T>& steps) = 0;
};

struct Compression {
  double tolerance;      ///< bound for the error of a tile in the Frobenius norm
  int64_t step;          ///< columns of a sampling round; 0: increases with the rank
  const int64_t* guess;  ///< expected rank of each tile, or nullptr
  /// If the operations have cores: receives the tiles that need more samples, which are then not
  /// sampled again.
  std::vector<int64_t>* deferred = nullptr;
  bool wants_errors = false;  ///< if the operations have cores: whether compress() returns errors
};

/// Error of a tile that is not dense: its Frobenius norm, and its largest singular value divided by
/// that norm.
struct TileError {
  double norm = 0, spike = 0;
};

/// Expected number of samples of tile i in the first round.
inline int64_t first_samples(const Compression& rule, int64_t i) {
  // A fifth more samples than the rank, at least ten: one round is sufficient for most tiles.
  if (rule.guess) return rule.guess[i] + std::max<int64_t>(10, rule.guess[i] / 5) + 4;
  return rule.step > 0 ? rule.step : 24;
}
inline int64_t more_samples(const Compression& rule, int64_t samples) {
  return samples + (rule.step > 0 ? rule.step : 8 + samples / 2);
}

/// Writes M_i to *tiles[i]; dense if its rank exceeds half its order.
/// @param errors receives the error of each tile, or nullptr
template <class T>
void compress(backend::TileOps<T>& ops, Operators<T>& operators, const Compression& rule,
              Control& control, Tile<T>* const* tiles, TileError* errors = nullptr);

}  // namespace chol::tlr
