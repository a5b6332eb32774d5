// Compression from samples of both sides by generalized Nystrom approximation: the sums behind a
// tile's samples do not wait for its basis, and no tall matrix is orthogonalized.
#include <algorithm>

#include "base/precisions.h"
#include "tlr/compress.hpp"
#include "tlr/dense_store.hpp"

namespace chol::tlr {
namespace {

/// A tile on its way.
template <class T>
struct Sketch {
  int64_t rows, columns, most;  ///< most samples
  int64_t samples = 0, left_samples = 0;
  bool is_dense = false, is_done = false, is_deferred = false;
  Buffer<T> Y, X;  ///< M times the samples, M^H times the left ones
  Buffer<T> core;  ///< S, scratch, T, Q
  backend::CoreFactor<T> factor{};
};

template <class T>
class CoreCompression {
 public:
  CoreCompression(backend::TileOps<T>& ops, Operators<T>& operators, const Compression& rule,
                  Control& control)
      : ops_(ops),
        operators_(operators),
        rule_(rule),
        control_(control),
        sketches_(static_cast<size_t>(operators.count())) {
    for (size_t i = 0; i < sketches_.size(); ++i) {
      Sketch<T>& sketch = sketches_[i];
      sketch.rows = operators.rows(static_cast<int64_t>(i));
      sketch.columns = operators.columns(static_cast<int64_t>(i));
      const int64_t order = std::min(sketch.rows, sketch.columns);
      sketch.most = Samples<T>::most_columns(order);
      sketch.is_dense = sketch.most + Samples<T>::kTests > order;
    }
  }
  void run(Tile<T>* const* tiles, TileError* errors) {
    wants_errors_ = errors != nullptr;
    while (sample_round()) {
    }
    store_low_ranks(tiles, errors);
    store_dense(ops_, operators_, control_, sketches_, tiles);
  }

 private:
  bool sample_round();
  void make_room(Sketch<T>& sketch, int64_t wanted);
  void store_low_ranks(Tile<T>* const* tiles, TileError* errors);

  backend::TileOps<T>& ops_;
  Operators<T>& operators_;
  const Compression& rule_;
  Control& control_;
  std::vector<Sketch<T>> sketches_;
  bool wants_errors_ = false;
};

/// For samples of a tile anew: those before would be the smaller part.
template <class T>
void CoreCompression<T>::make_room(Sketch<T>& sketch, int64_t wanted) {
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

/// Returns whether there may be tiles whose samples were too few.
template <class T>
bool CoreCompression<T>::sample_round() {
  control_.begin(Phase::sampling);
  std::vector<int64_t> active, wanted;
  int64_t most = 0;
  for (size_t i = 0; i < sketches_.size(); ++i) {
    const Sketch<T>& sketch = sketches_[i];
    if (sketch.is_done || sketch.is_dense || sketch.is_deferred) continue;
    const int64_t samples = sketch.samples == 0 ? first_samples(rule_, static_cast<int64_t>(i))
                                                : more_samples(rule_, sketch.samples);
    active.push_back(static_cast<int64_t>(i));
    wanted.push_back(std::min(sketch.most, std::max(samples, Samples<T>::kTests + 1)));
    most = std::max(most, wanted.back());
  }
  if (active.empty()) return false;
  std::vector<typename Operators<T>::Wanted> list;
  for (size_t a = 0; a < active.size(); ++a) {
    make_room(sketches_[active[a]], wanted[a]);
    const Sketch<T>& sketch = sketches_[active[a]];
    list.push_back(
        {active[a], sketch.samples, sketch.left_samples, sketch.Y.get(), sketch.X.get()});
  }
  double flops = operators_.sample_all(list);
  if (flops < 0) {
    operators_.prepare(most);
    backend::ProductSteps<T> steps;
    for (const auto& item : list) {
      operators_.sample(item.i, 0, item.samples, item.Y, steps);
      operators_.project(item.i, operators_.samples().left(), operators_.samples().rows(),
                         item.left_samples, item.X, steps);
    }
    ops_.multiply(steps);
    flops = steps.flops();
  }
  control_.add_flops(flops);
  control_.begin(Phase::orthogonalization);
  backend::ProductGroups<T> cores;
  std::vector<backend::CoreFactor<T>> factors;
  const int64_t ld = operators_.samples().rows();
  for (const int64_t i : active) {
    const Sketch<T>& sketch = sketches_[i];
    cores.begin_group();
    cores.add({true, false, 0, sketch.left_samples, sketch.samples, sketch.rows,
               operators_.samples().left(), ld, sketch.Y.get(), sketch.rows,
               const_cast<T*>(sketch.factor.S), sketch.left_samples});
    factors.push_back(sketch.factor);
  }
  ops_.multiply(cores);
  ops_.factor_cores(factors, rule_.tolerance, wants_errors_);
  for (size_t a = 0; a < active.size(); ++a) {
    Sketch<T>& sketch = sketches_[active[a]];
    sketch.factor = factors[a];
    const bool is_low = 2 * sketch.factor.rank <= std::min(sketch.rows, sketch.columns);
    sketch.is_done = sketch.factor.is_sufficient && is_low;
    sketch.is_dense = !sketch.is_done && (!is_low || sketch.samples == sketch.most);
    sketch.is_deferred = rule_.deferred && !sketch.is_done && !sketch.is_dense;
    if (sketch.is_deferred) rule_.deferred->push_back(active[a]);
  }
  return true;
}

template <class T>
void CoreCompression<T>::store_low_ranks(Tile<T>* const* tiles, TileError* errors) {
  control_.begin(Phase::projection);
  backend::ProductGroups<T> groups;
  for (size_t i = 0; i < sketches_.size(); ++i) {
    const Sketch<T>& sketch = sketches_[i];
    if (!sketch.is_done) continue;
    const int64_t rank = sketch.factor.rank;
    if (errors) errors[i] = {sketch.factor.error, sketch.factor.spike};
    Tile<T>& tile = *tiles[i];
    tile.dense = false;
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

}  // namespace

template <class T>
void compress_by_cores(backend::TileOps<T>& ops, Operators<T>& operators, const Compression& rule,
                       Control& control, Tile<T>* const* tiles, TileError* errors) {
  CoreCompression<T>(ops, operators, rule, control).run(tiles, errors);
}

#define CHOL_INSTANTIATE(prefix, T, R)                                                        \
  template void compress_by_cores<T>(backend::TileOps<T>&, Operators<T>&, const Compression&, \
                                     Control&, Tile<T>* const*, TileError*);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
