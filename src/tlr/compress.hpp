// Low rank approximation of many tiles at once, each known by its products alone: from samples of
// both sides (core_compression.hpp) or on a basis of samples of one side (projection.hpp).
#pragma once

#include <algorithm>
#include <vector>

#include "backend/tile_ops.hpp"
#include "tlr/control.hpp"
#include "tlr/matrix.hpp"

namespace chol::tlr {

/// Random matrices of the whole matrix: tile by columns, made once. Every tile is sampled with the
/// same leading columns, so that what a tile of a factor's row contributes is formed once for all.
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
  static constexpr int64_t kTests = 8;  ///< columns that judge the ones before them
  /// More than half the order of a tile would not be of low rank.
  static int64_t most_columns(int64_t tile) { return tile / 2 + kTests; }
  const T* column(int64_t c) const { return block_.get() + c * rows_; }
  /// What is multiplied from the left, where tiles are compressed from both sides.
  const T* left() const { return left_.get(); }
  int64_t left_columns() const { return columns_ + kTests; }
  int64_t rows() const { return rows_; }

 private:
  int64_t rows_, columns_;
  Buffer<T> block_, left_;
};

/// Tiles M_i of which products can be had.
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
  /// Called before a round of sample() with the largest `to` of it.
  virtual void prepare(int64_t most_columns) = 0;
  virtual const Samples<T>& samples() const = 0;
  /// B := M_i^H Q.
  virtual void project(int64_t i, const T* Q, int64_t ldq, int64_t columns, T* B,
                       backend::ProductSteps<T>& steps) = 0;
  /// Where the operations have cores: Y_i := M_i times the leading samples, X_i := M_i^H times the
  /// leading left samples for many tiles. Returns the operations; negative: nothing was done.
  struct Wanted {
    int64_t i, samples, left_samples;
    T *Y, *X;
  };
  virtual double sample_all(const std::vector<Wanted>&) { return -1; }
  /// Adds what sample_all() did not know yet. Returns the operations.
  virtual double sample_rest(const std::vector<Wanted>&) { return 0; }
  /// D := M_i.
  virtual void expand(int64_t i, T* D, backend::ProductSteps<T>& steps) = 0;
};

struct Compression {
  double tolerance;      ///< of a tile's error in the Frobenius norm
  int64_t step;          ///< columns of a round of sampling; 0: grows with the rank
  const int64_t* guess;  ///< expected rank of each tile, or nullptr
  /// Where the operations have cores: tiles whose samples are too few are listed here and left,
  /// instead of being sampled again.
  std::vector<int64_t>* deferred = nullptr;
  bool wants_errors = false;  ///< there: whether compress() is asked for errors
};

/// Of a tile that is not dense: the Frobenius norm of its error, and the largest singular value of
/// it over that.
struct TileError {
  double norm = 0, spike = 0;
};

/// Expected number of samples of tile i in its first round.
inline int64_t first_samples(const Compression& rule, int64_t i) {
  // A fifth more samples than the rank, at least ten: no more rounds on most tiles.
  if (rule.guess) return rule.guess[i] + std::max<int64_t>(10, rule.guess[i] / 5) + 4;
  return rule.step > 0 ? rule.step : 24;
}
inline int64_t more_samples(const Compression& rule, int64_t samples) {
  return samples + (rule.step > 0 ? rule.step : 8 + samples / 2);
}

/// Writes M_i to *tiles[i], dense where its rank is above half its order.
/// @param errors of each tile, or nullptr
template <class T>
void compress(backend::TileOps<T>& ops, Operators<T>& operators, const Compression& rule,
              Control& control, Tile<T>* const* tiles, TileError* errors = nullptr);

}  // namespace chol::tlr
