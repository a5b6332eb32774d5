#include "tlr/right_tiles.hpp"

#include "base/precisions.h"

namespace chol::tlr {

template <class T>
void RightTiles<T>::make(backend::TileOps<T>& ops, const Matrix<T>& A, int64_t k, int64_t from,
                         int64_t to) {
  from_ = from;
  views_.clear();
  memory_.clear();
  std::vector<backend::Rearrangement<T>> list;
  for (int64_t j = from; j < to; ++j) {
    const Tile<T>& tile = A.at(k, j);
    TileView<T> view{tile.dense, tile.rank, tile.U.get(), tile.V.get()};
    if (!A.signs.empty() && !A.signs[j].empty()) {
      const int64_t rows = tile.dense ? A.rows(k) : A.rows(j);
      const int64_t columns = tile.dense ? A.rows(j) : tile.rank;
      memory_.push_back(ops.buffer(rows * columns));
      backend::Rearrangement<T> copy{};
      copy.from = tile.dense ? view.U : view.V;
      copy.to = memory_.back().get();
      copy.ld_from = copy.ld_to = copy.rows = rows;
      copy.columns = columns;
      (tile.dense ? copy.column_signs : copy.row_signs) = A.signs[j].data();
      (tile.dense ? view.U : view.V) = copy.to;
      list.push_back(copy);
    }
    views_.push_back(view);
  }
  if (!list.empty()) ops.rearrange(list);
}

#define CHOL_INSTANTIATE(prefix, T, R) template class RightTiles<T>;
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
