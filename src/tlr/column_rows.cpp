#include "tlr/column_rows.hpp"

#include "base/precisions.h"

namespace chol::tlr {

template <class T>
ColumnRows<T>::ColumnRows(backend::TileOps<T>& ops, Matrix<T>& A, const Samples<T>& samples,
                          const Widths& widths, int64_t k, const RightTiles<T>& right,
                          bool samples_columns, bool forms, const std::vector<int64_t>& rows,
                          const RankGuess& guess, int64_t step, Control& control)
    : ops_(ops),
      A_(A),
      control_(control),
      k_(k),
      forms_(forms),
      rows_(rows),
      schur_(ops, A, samples, widths, k, right, samples_columns, rows),
      formed_(ops, samples) {
  for (const int64_t i : rows_) {
    tiles_.push_back(&A_.at(i, k));
    guess_.push_back(A_.at(i, k).dense ? std::min(A_.rows(i), A_.rows(k)) / 2
                                       : guess(A_.at(i, k).rank));
  }
  rule_ = {0, step, guess_.data()};

  for (const int64_t i : rows_) {
    if (!forms_) break;
    dense_.push_back(ops_.buffer(A_.rows(i) * A_.rows(k)));
    formed_.add(dense_.back().get(), A_.rows(i), A_.rows(k));
  }
  if (ops_.has_cores() && !forms_)
    cores_ = std::make_unique<CoreCompression<T>>(ops_, schur_, rule_, control_);
}

template <class T>
void ColumnRows<T>::begin(int64_t finished) {
  finished_ = finished;
  schur_.set_finished(finished);
  if (forms_) {
    control_.begin(Phase::dense_update);
    backend::ProductSteps<T> steps;
    for (int64_t r = 0; r < std::ssize(rows_); ++r) schur_.expand(r, dense_[r].get(), steps);
    ops_.multiply(steps);
    control_.add_flops(steps.flops());
  } else if (cores_) {
    cores_->begin_samples();
  }
}

template <class T>
void ColumnRows<T>::queue(double tolerance) {
  rule_.tolerance = tolerance;
  if (forms_ && finished_ < k_) {
    control_.begin(Phase::dense_update);
    backend::ProductSteps<T> steps;
    for (int64_t r = 0; r < std::ssize(rows_); ++r) schur_.expand_rest(r, dense_[r].get(), steps);
    ops_.multiply(steps);
    control_.add_flops(steps.flops());
  }
  if (cores_) cores_->begin_cores();
  schur_.set_finished(k_);
}

template <class T>
void ColumnRows<T>::finish() {
  if (cores_)
    cores_->finish(tiles_.data(), nullptr);
  else if (forms_ && ops_.has_cores())
    keep_dense();
  else if (forms_)
    compress<T>(ops_, formed_, rule_, control_, tiles_.data());
  else
    compress<T>(ops_, schur_, rule_, control_, tiles_.data());
}

/// For a tile that is dense in A at the smaller tolerance: its rank would be near half its order.
template <class T>
void ColumnRows<T>::keep_dense() {
  for (size_t r = 0; r < tiles_.size(); ++r) {
    Tile<T>& tile = *tiles_[r];
    tile.dense = true;
    tile.projected = false;
    tile.rank = 0;
    tile.U = std::move(dense_[r]);
    tile.V = {};
  }
}

#define CHOL_INSTANTIATE(prefix, T, R) template class ColumnRows<T>;
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
