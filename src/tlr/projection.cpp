#include "tlr/projection.hpp"

#include <algorithm>
#include <cmath>

#include "base/precisions.h"

namespace chol::tlr {
namespace {

template <class T>
void grow(backend::TileOps<T>& ops, ProjectedSketch<T>& sketch, int64_t samples) {
  if (sketch.Y.count() >= sketch.rows * samples) return;
  Buffer<T> larger = ops.buffer(sketch.rows * samples);
  ops.copy(sketch.Y.get(), sketch.rows * sketch.samples, larger.get());
  sketch.Y = std::move(larger);
}

/// Samples tiles until the test columns indicate that the remainder is below the tolerance.
template <class T>
void find_ranges(backend::TileOps<T>& ops, Operators<T>& operators, const Compression& rule,
                 Control& control, std::vector<ProjectedSketch<T>>& sketches) {
  constexpr int64_t kTests = Samples<T>::kTests;
  // Remainder at which a basis is complete, relative to the tolerance: truncation uses the rest.
  constexpr double kEnough = 0.05;
  const bool keeps = ops.keeps_samples();
  for (;;) {
    std::vector<backend::Orthonormalization<T>> list;
    std::vector<size_t> active;
    backend::ProductSteps<T> steps;
    control.begin(Phase::sampling);
    std::vector<int64_t> wanted(sketches.size(), 0);
    int64_t most = 0;
    for (size_t i = 0; i < sketches.size(); ++i) {
      const ProjectedSketch<T>& sketch = sketches[i];
      if (sketch.is_done || sketch.is_dense) continue;
      const int64_t samples = sketch.samples == 0 ? first_samples(rule, sketch.index)
                                                  : more_samples(rule, sketch.samples);
      wanted[i] = std::min(sketch.most, std::max(samples, sketch.samples + kTests + 1));
      most = std::max(most, wanted[i]);
      active.push_back(i);
    }
    if (active.empty()) return;
    operators.prepare(most);
    for (const size_t i : active) {
      ProjectedSketch<T>& sketch = sketches[i];
      grow(ops, sketch, wanted[i]);
      operators.sample(sketch.index, sketch.samples, wanted[i],
                       sketch.Y.get() + sketch.rows * sketch.samples, steps);
      if (keeps) sketch.Q = ops.buffer(sketch.rows * wanted[i]);
      list.push_back({sketch.Y.get(), sketch.rows, keeps ? 0 : sketch.samples, wanted[i], kTests, 0,
                      sketch.Q.get(), 0, static_cast<RealOf<T>>(kEnough * rule.tolerance)});
      sketch.samples = wanted[i];
    }
    ops.multiply(steps);
    control.add_flops(steps.flops());
    control.begin(Phase::orthogonalization);
    ops.orthonormalize(list);
    for (size_t a = 0; a < active.size(); ++a) {
      ProjectedSketch<T>& sketch = sketches[active[a]];
      sketch.rank = list[a].rank;
      // The squared tolerance is divided between the remainder and the truncation.
      sketch.is_done = double(list[a].residual) <= 0.7 * rule.tolerance;
      if (!sketch.is_done) sketch.is_dense = sketch.samples == sketch.most;
      if (sketch.is_done) sketch.residual = double(list[a].residual);
    }
  }
}

template <class T>
TileError error_of(const backend::Truncation<T>& item, double not_found) {
  const double norm = std::hypot(double(item.dropped), not_found);
  if (!(norm > 0)) return {};
  // An error that the rank-revealing factorization does not resolve counts as one direction.
  return {norm, item.largest > 0 ? std::min(1.0, double(item.largest) / norm) : 1};
}

/// Projects tiles on their bases, truncates, and stores the tiles of low rank.
template <class T>
void store_low_ranks(backend::TileOps<T>& ops, Operators<T>& operators, const Compression& rule,
                     Control& control, std::vector<ProjectedSketch<T>>& sketches,
                     Tile<T>* const* tiles, TileError* errors) {
  control.begin(Phase::projection);
  std::vector<size_t> active;
  std::vector<Buffer<T>> memory;
  std::vector<backend::Truncation<T>> list;
  backend::ProductSteps<T> steps;
  for (size_t i = 0; i < sketches.size(); ++i) {
    const ProjectedSketch<T>& sketch = sketches[i];
    if (!sketch.is_done) continue;
    const int64_t q = sketch.rank;
    const auto carve = [&](T* base) {
      Carver<T> carver(base);
      backend::Truncation<T> item{};
      item.B = carver.take(sketch.columns * q);
      item.U = carver.take(sketch.rows * q);
      item.V = carver.take(sketch.columns * q);
      item.scratch = carver.take(backend::Truncation<T>::scratch_elements(q));
      return std::pair(item, carver.used());
    };
    memory.push_back(ops.buffer(carve(nullptr).second));
    backend::Truncation<T> item = carve(memory.back().get()).first;
    item.Q = sketch.Q.get() ? sketch.Q.get() : sketch.Y.get();
    item.q_rows = sketch.rows;
    item.b_rows = sketch.columns;
    item.columns = q;
    item.tolerance = static_cast<RealOf<T>>(
        std::sqrt(rule.tolerance * rule.tolerance - sketch.residual * sketch.residual));
    operators.project(sketch.index, item.Q, sketch.rows, q, item.B, steps);
    list.push_back(item);
    active.push_back(i);
  }
  ops.multiply(steps);
  control.add_flops(steps.flops());
  control.begin(Phase::orthogonalization);
  ops.truncate(list);
  std::vector<backend::Copy<T>> copies;
  for (size_t a = 0; a < active.size(); ++a) {
    ProjectedSketch<T>& sketch = sketches[active[a]];
    const backend::Truncation<T>& item = list[a];
    if (2 * item.rank > std::min(sketch.rows, sketch.columns)) {
      sketch.is_dense = true;
      continue;
    }
    if (errors) errors[sketch.index] = error_of(item, sketch.residual);
    Tile<T>& tile = *tiles[sketch.index];
    tile.dense = false;
    tile.projected = true;
    tile.rank = item.rank;
    tile.U = ops.buffer(sketch.rows * item.rank);
    tile.V = ops.buffer(sketch.columns * item.rank);
    if (item.rank == 0) continue;
    copies.push_back(
        {false, sketch.rows, item.rank, item.U, sketch.rows, tile.U.get(), sketch.rows});
    copies.push_back(
        {false, sketch.columns, item.rank, item.V, sketch.columns, tile.V.get(), sketch.columns});
  }
  ops.copy(copies);
}

}  // namespace

template <class T>
void project(backend::TileOps<T>& ops, Operators<T>& operators, const Compression& rule,
             Control& control, std::vector<ProjectedSketch<T>>& sketches, Tile<T>* const* tiles,
             TileError* errors) {
  find_ranges(ops, operators, rule, control, sketches);
  store_low_ranks(ops, operators, rule, control, sketches, tiles, errors);
}

#define CHOL_INSTANTIATE(prefix, T, R)                                                        \
  template void project<T>(backend::TileOps<T>&, Operators<T>&, const Compression&, Control&, \
                           std::vector<ProjectedSketch<T>>&, Tile<T>* const*, TileError*);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
