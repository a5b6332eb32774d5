#include "tlr/compress.hpp"

#include "base/precisions.h"
#include "tlr/core_compression.hpp"
#include "tlr/dense_store.hpp"
#include "tlr/projection.hpp"

namespace chol::tlr {
template <class T>
void compress(backend::TileOps<T>& ops, Operators<T>& operators, const Compression& rule,
              Control& control, Tile<T>* const* tiles, TileError* errors) {
  if (ops.has_cores()) {
    Compression with_errors = rule;
    with_errors.wants_errors = errors != nullptr;
    CoreCompression<T> compression(ops, operators, with_errors, control);
    compression.begin_samples();
    compression.begin_cores();
    return compression.finish(tiles, errors);
  }
  std::vector<ProjectedSketch<T>> sketches;
  for (int64_t i = 0; i < operators.count(); ++i) {
    const int64_t order = std::min(operators.rows(i), operators.columns(i));
    sketches.push_back(
        {i, operators.rows(i), operators.columns(i), Samples<T>::most_columns(order)});
    sketches.back().is_dense = sketches.back().most > order;
  }
  project(ops, operators, rule, control, sketches, tiles, errors);
  store_dense(ops, operators, control, sketches, tiles);
}

#define CHOL_INSTANTIATE(prefix, T, R)                                                         \
  template void compress<T>(backend::TileOps<T>&, Operators<T>&, const Compression&, Control&, \
                            Tile<T>* const*, TileError*);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
