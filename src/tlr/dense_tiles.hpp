// Tiles that are formed explicitly before compression.
#pragma once

#include <vector>

#include "tlr/compress.hpp"

namespace chol::tlr {

template <class T>
class DenseTiles final : public Operators<T> {
 public:
  DenseTiles(backend::TileOps<T>& ops, const Samples<T>& samples) : ops_(ops), samples_(samples) {}
  void add(const T* D, int64_t rows, int64_t columns) { tiles_.push_back({D, rows, columns}); }

  int64_t count() const override { return static_cast<int64_t>(tiles_.size()); }
  int64_t rows(int64_t i) const override { return tiles_[i].rows; }
  int64_t columns(int64_t i) const override { return tiles_[i].columns; }
  void prepare(int64_t) override {}
  const Samples<T>& samples() const override { return samples_; }
  void sample(int64_t i, int64_t from, int64_t to, T* Y, backend::ProductSteps<T>& steps) override {
    const DenseTile& tile = tiles_[i];
    steps.add(0, {false, false, 0, tile.rows, to - from, tile.columns, tile.D, tile.rows,
                  samples_.column(from), samples_.rows(), Y, tile.rows});
  }
  void project(int64_t i, const T* Q, int64_t ldq, int64_t columns, T* B,
               backend::ProductSteps<T>& steps) override {
    const DenseTile& tile = tiles_[i];
    steps.add(0, {true, false, 0, tile.columns, columns, tile.rows, tile.D, tile.rows, Q, ldq, B,
                  tile.columns});
  }
  void expand(int64_t i, T* D, backend::ProductSteps<T>&) override {
    ops_.copy(tiles_[i].D, tiles_[i].rows * tiles_[i].columns, D);
  }

 private:
  struct DenseTile {
    const T* D;
    int64_t rows, columns;
  };
  backend::TileOps<T>& ops_;
  const Samples<T>& samples_;
  std::vector<DenseTile> tiles_;
};

}  // namespace chol::tlr
