#include "tlr/core_compression.hpp"

#include <algorithm>

#include "base/precisions.h"
#include "tlr/dense_store.hpp"
#include "tlr/projection.hpp"

namespace chol::tlr {
namespace {

/// The expected rank and an eighth more, unless the number of samples is set.
int64_t first_samples_of_core(const Compression& rule, int64_t i) {
  if (!rule.guess) return first_samples(rule, i);
  if (rule.step > 0) return rule.step;
  return rule.guess[i] + std::max<int64_t>(8, rule.guess[i] / 8) + 4;
}

}  // namespace

template <class T>
CoreCompression<T>::CoreCompression(backend::TileOps<T>& ops, Operators<T>& operators,
                                    const Compression& rule, Control& control)
    : ops_(ops),
      operators_(operators),
      rule_(rule),
      control_(control),
      sketches_(static_cast<size_t>(operators.count())) {
  for (size_t i = 0; i < sketches_.size(); ++i) {
    Sketch& sketch = sketches_[i];
    sketch.rows = operators.rows(static_cast<int64_t>(i));
    sketch.columns = operators.columns(static_cast<int64_t>(i));
    const int64_t order = std::min(sketch.rows, sketch.columns);
    sketch.most = Samples<T>::most_columns(order);
    sketch.is_dense = sketch.most + Samples<T>::kTests > order;
  }
}

/// Allocates memory for new samples of a tile; previous samples, the smaller part, are discarded.
template <class T>
void CoreCompression<T>::make_room(Sketch& sketch, int64_t wanted) {
  const int64_t rows = wanted + Samples<T>::kTests;
  sketch.samples = wanted;
  sketch.left_samples = rows;
  sketch.Y = ops_.buffer(sketch.rows * wanted);
  sketch.X = ops_.buffer(sketch.columns * rows);
  const auto carve = [&](T* base, backend::CoreFactor<T>& factor) {
    Carver<T> carver(base);
    factor.S = carver.take(rows * wanted);
    factor.scratch = carver.take(backend::CoreFactor<T>::scratch_elements(rows, wanted));
    factor.T_ = carver.take(wanted * wanted);
    factor.Q = carver.take(rows * wanted);
    return carver.used();
  };
  sketch.core = ops_.buffer(carve(nullptr, sketch.factor));
  carve(sketch.core.get(), sketch.factor);
  sketch.factor.rows = rows;
  sketch.factor.columns = wanted;
}

template <class T>
void CoreCompression<T>::begin_samples() {
  control_.begin(Phase::sampling);
  round_.clear();
  int64_t most = 0;
  for (size_t i = 0; i < sketches_.size(); ++i) {
    Sketch& sketch = sketches_[i];
    if (sketch.is_done || sketch.is_dense || sketch.is_deferred || sketch.is_projected) continue;
    int64_t samples = more_samples(rule_, sketch.samples);
    if (sketch.samples == 0) samples = first_samples_of_core(rule_, static_cast<int64_t>(i));
    make_room(sketch, std::min(sketch.most, std::max(samples, Samples<T>::kTests + 1)));
    round_.push_back({static_cast<int64_t>(i), sketch.samples, sketch.left_samples, sketch.Y.get(),
                      sketch.X.get()});
    most = std::max(most, sketch.samples);
  }
  if (round_.empty()) return;
  double flops = operators_.sample_all(round_);
  if (flops < 0) {
    operators_.prepare(most);
    backend::ProductSteps<T> steps;
    for (const auto& item : round_) {
      operators_.sample(item.i, 0, item.samples, item.Y, steps);
      operators_.project(item.i, operators_.samples().left(), operators_.samples().rows(),
                         item.left_samples, item.X, steps);
    }
    ops_.multiply(steps);
    flops = steps.flops();
  }
  control_.add_flops(flops);
}

template <class T>
void CoreCompression<T>::begin_cores() {
  if (round_.empty()) return;
  control_.begin(Phase::sampling);
  control_.add_flops(operators_.sample_rest(round_));
  control_.begin(Phase::orthogonalization);
  backend::ProductGroups<T> cores;
  factors_.clear();
  const int64_t ld = operators_.samples().rows();
  for (const auto& item : round_) {
    const Sketch& sketch = sketches_[item.i];
    cores.begin_group();
    cores.add({true, false, 0, sketch.left_samples, sketch.samples, sketch.rows,
               operators_.samples().left(), ld, sketch.Y.get(), sketch.rows,
               const_cast<T*>(sketch.factor.S), sketch.left_samples});
    factors_.push_back(sketch.factor);
  }
  ops_.multiply(cores);
  ops_.begin_cores(factors_, rule_.tolerance, rule_.wants_errors);
}

template <class T>
void CoreCompression<T>::end_cores() {
  control_.begin(Phase::orthogonalization);
  ops_.end_cores(factors_);
  for (size_t a = 0; a < round_.size(); ++a) {
    Sketch& sketch = sketches_[round_[a].i];
    sketch.factor = factors_[a];
    const bool is_low = 2 * sketch.factor.rank <= std::min(sketch.rows, sketch.columns);
    sketch.is_done = sketch.factor.is_sufficient && is_low;
    sketch.is_dense = !sketch.is_done && (!is_low || sketch.samples == sketch.most);
    if (sketch.is_done || sketch.is_dense) continue;
    // A second round takes a fifth of the time of a projection, and suffices for nearly all tiles.
    sketch.is_projected = rule_.guess && ++sketch.rounds > 1;
    sketch.is_deferred = rule_.deferred != nullptr;
    if (sketch.is_deferred) rule_.deferred->push_back(round_[a].i);
  }
}

template <class T>
void CoreCompression<T>::finish(Tile<T>* const* tiles, TileError* errors) {
  while (!round_.empty()) {
    end_cores();
    begin_samples();
    begin_cores();
  }
  store_low_ranks(tiles, errors);
  project_rest(tiles, errors);
  store_dense(ops_, operators_, control_, sketches_, tiles);
}

template <class T>
void CoreCompression<T>::store_low_ranks(Tile<T>* const* tiles, TileError* errors) {
  control_.begin(Phase::projection);
  backend::ProductGroups<T> groups;
  for (size_t i = 0; i < sketches_.size(); ++i) {
    const Sketch& sketch = sketches_[i];
    if (!sketch.is_done) continue;
    const int64_t rank = sketch.factor.rank;
    if (errors) errors[i] = {sketch.factor.error, sketch.factor.spike};
    Tile<T>& tile = *tiles[i];
    tile.dense = tile.projected = false;
    tile.rank = rank;
    tile.U = ops_.buffer(sketch.rows * rank);
    tile.V = ops_.buffer(sketch.columns * rank);
    groups.begin_group();
    groups.add({false, false, 0, sketch.rows, rank, sketch.samples, sketch.Y.get(), sketch.rows,
                sketch.factor.T_, sketch.samples, tile.U.get(), sketch.rows});
    groups.begin_group();
    groups.add({false, false, 0, sketch.columns, rank, sketch.left_samples, sketch.X.get(),
                sketch.columns, sketch.factor.Q, sketch.left_samples, tile.V.get(),
                sketch.columns});
  }
  ops_.multiply(groups);
  control_.add_flops(groups.flops());
}

/// The existing right samples are part of the samples of the basis.
template <class T>
void CoreCompression<T>::project_rest(Tile<T>* const* tiles, TileError* errors) {
  std::vector<ProjectedSketch<T>> rest;
  for (size_t i = 0; i < sketches_.size(); ++i) {
    Sketch& sketch = sketches_[i];
    if (!sketch.is_projected) continue;
    rest.push_back({static_cast<int64_t>(i), sketch.rows, sketch.columns, sketch.most,
                    sketch.samples, std::move(sketch.Y)});
  }
  if (rest.empty()) return;
  project(ops_, operators_, rule_, control_, rest, tiles, errors);
  for (const ProjectedSketch<T>& sketch : rest)
    sketches_[static_cast<size_t>(sketch.index)].is_dense = sketch.is_dense;
}

#define CHOL_INSTANTIATE(prefix, T, R) template class CoreCompression<T>;
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
