#include "tlr/assemble.hpp"

#include <cmath>
#include <memory>

#include "base/precisions.h"
#include "tlr/dense_tiles.hpp"
#include "tlr/row_error.hpp"
#include "tlr/settings.hpp"

namespace chol::tlr {
namespace {

template <class T>
class Assembly {
 public:
  Assembly(backend::TileOps<T>& ops, Matrix<T>& A, Source<T>& source,
           const chol_tlr_options_t& options, Control& control)
      : ops_(ops), A_(A), source_(source), options_(options), control_(control) {}

  Status run();

 private:
  struct Place {
    int64_t i, j;
    Tile<T>* tile;
  };
  Status fill_diagonal();
  Status estimate_growth();
  Status estimate_growth(int64_t row, double* growth);
  double tolerance() const {
    return tile_tolerance(options_.eps, kAssemblyShare, options_.each_tile != 0, A_.growth);
  }
  /// Compresses tiles in runs that fit into the workspace.
  /// @param step columns of a sampling round; 0: chosen automatically
  /// @param deferred receives the tiles that need more samples, or nullptr
  Status compress_tiles(const std::vector<Place>& places, int64_t step,
                        std::vector<Place>* deferred);
  /// The same for a row of tiles whose error is measured.
  Status compress_row(const std::vector<Place>& places, TileError* errors, RowError<T>& row);
  /// Fills dense_ with tiles from places[first] on and compresses them. `count` receives their
  /// number.
  Status compress_run(const std::vector<Place>& places, int64_t first, const Compression& rule,
                      TileError* errors, int64_t* count);
  Status compress_all();
  int64_t tiles_at_once() const;

  backend::TileOps<T>& ops_;
  Matrix<T>& A_;
  Source<T>& source_;
  const chol_tlr_options_t& options_;
  Control& control_;
  std::unique_ptr<Samples<T>> samples_;
  std::vector<Buffer<T>> dense_;
  int64_t finished_ = 0;  ///< tiles
};

template <class T>
Status Assembly<T>::fill_diagonal() {
  control_.begin(Phase::assembly);
  std::vector<backend::Block<T>> blocks;
  std::vector<T*> tiles;
  std::vector<int64_t> orders;
  for (int64_t i = 0; i < A_.tiles; ++i) {
    const int64_t rows = A_.rows(i);
    A_.diagonal[i] = ops_.buffer(rows * rows);
    blocks.push_back({A_.start(i), A_.start(i), rows, rows, A_.diagonal[i].get(), rows});
    tiles.push_back(A_.diagonal[i].get());
    orders.push_back(rows);
  }
  const Status status = source_.fill(ops_, blocks);
  if (!status.ok()) return status;
  ops_.make_hermitian(tiles, orders);
  return control_.report(0);
}

/// Limited by the workspace, but at least one tile a thread, so that no thread is idle.
template <class T>
int64_t Assembly<T>::tiles_at_once() const {
  const double bytes = options_.workspace_bytes > 0
                           ? double(options_.workspace_bytes)
                           : ops_.default_workspace() / (ops_.has_cores() ? 1 : 2);
  const double each =
      (ops_.has_cores() ? 1.5 : 3.0) * double(A_.tile) * double(A_.tile) * sizeof(T);
  const int64_t most = std::max<int64_t>(static_cast<int64_t>(bytes / each), ops_.threads());
  return std::min<int64_t>(most, std::ssize(A_.lower));
}

template <class T>
Status Assembly<T>::compress_run(const std::vector<Place>& places, int64_t first,
                                 const Compression& rule, TileError* errors, int64_t* count) {
  *count = std::min(std::ssize(dense_), std::ssize(places) - first);
  control_.begin(Phase::assembly);
  std::vector<backend::Block<T>> blocks;
  DenseTiles<T> operators(ops_, *samples_);
  std::vector<Tile<T>*> to;
  for (int64_t t = 0; t < *count; ++t) {
    const auto [i, j, tile] = places[first + t];
    blocks.push_back(
        {A_.start(i), A_.start(j), A_.rows(i), A_.rows(j), dense_[t].get(), A_.rows(i)});
    operators.add(dense_[t].get(), A_.rows(i), A_.rows(j));
    to.push_back(tile);
  }
  const Status status = source_.fill(ops_, blocks);
  if (status.ok()) compress(ops_, operators, rule, control_, to.data(), errors);
  return status;
}

template <class T>
Status Assembly<T>::compress_tiles(const std::vector<Place>& places, int64_t step,
                                   std::vector<Place>* deferred) {
  int64_t count = 0;
  for (int64_t first = 0; first < std::ssize(places); first += count) {
    std::vector<int64_t> left;
    Status status = compress_run(
        places, first, {tolerance(), step, nullptr, deferred ? &left : nullptr}, nullptr, &count);
    if (!status.ok()) return status;
    for (const int64_t t : left) deferred->push_back(places[first + t]);
    finished_ += count - std::ssize(left);
    status = control_.report(double(finished_) / double(A_.lower.size()));
    if (!status.ok()) return status;
  }
  return Status::success();
}

template <class T>
Status Assembly<T>::compress_row(const std::vector<Place>& places, TileError* errors,
                                 RowError<T>& row) {
  int64_t count = 0;
  for (int64_t first = 0; first < std::ssize(places); first += count) {
    const Status status =
        compress_run(places, first, {tolerance(), options_.sample_columns, nullptr, nullptr},
                     errors + first, &count);
    if (!status.ok()) return status;
    for (int64_t t = 0; t < count; ++t) {
      const auto [i, j, tile] = places[first + t];
      row.add(dense_[t].get(), A_.rows(i), A_.rows(j), i == row.index(), *tile,
              errors[first + t].norm);
    }
    row.update();
  }
  return Status::success();
}

/// If a sampling round is a few launches for any number of tiles, tiles of higher rank are deferred
/// to a later pass over all of them.
template <class T>
Status Assembly<T>::compress_all() {
  std::vector<Place> places;
  places.reserve(A_.lower.size());
  for (int64_t i = 1; i < A_.tiles; ++i)
    for (int64_t j = 0; j < i; ++j) places.push_back({i, j, &A_.at(i, j)});
  int64_t step = options_.sample_columns;
  if (ops_.has_cores() && step == 0) {
    for (const int64_t samples : {24, 56, 120}) {
      std::vector<Place> left;
      const Status status = compress_tiles(places, samples, &left);
      if (!status.ok()) return status;
      places = std::move(left);
    }
    step = A_.tile;
  }
  return compress_tiles(places, step, nullptr);
}

/// Estimated from the tiles of one row: see settings.hpp. In the number of tiles with similar
/// errors, a tile has the weight (spike * rank / largest rank)^2. A dense tile has no error, but
/// the corresponding tiles of the factor may be of low rank, so that it counts like the others.
template <class T>
Status Assembly<T>::estimate_growth(int64_t row, double* growth) {
  std::vector<Place> places;
  std::vector<Tile<T>> tiles(static_cast<size_t>(A_.tiles - 1));
  for (int64_t t = 0; t < A_.tiles - 1; ++t)
    places.push_back({t < row ? row : t + 1, t < row ? t : row, &tiles[t]});
  std::vector<TileError> errors(places.size());
  RowError<T> measured(ops_, row, A_.rows(row));
  const Status status = compress_row(places, errors.data(), measured);
  if (!status.ok()) return status;
  double alike = 0, largest = 1, most = 0, unknown = 0, low_rank = 0;
  for (size_t t = 0; t < tiles.size(); ++t) {
    const double rank = double(tiles[t].rank);
    if (tiles[t].dense) continue;
    ++low_rank;
    if (rank == 0 && errors[t].norm == 0) continue;
    // The error is far below the tolerance: with another tolerance it may be the last direction
    // kept.
    const bool is_unknown = errors[t].norm < tolerance() / 10;
    const double spike = is_unknown ? 1 : errors[t].spike;
    unknown += is_unknown;
    alike += spike * spike * rank * rank;
    largest = std::max(largest, rank);
    most += spike;
  }
  const double all = double(tiles.size()) / std::max(1.0, low_rank);
  alike *= all / (largest * largest);
  most *= all;
  const double independent =
      kIndependentGrowth * std::sqrt(all) * std::hypot(measured.norm(), std::sqrt(unknown));
  *growth =
      std::max(*growth, low_rank > 0 ? std::min(std::max(independent, alike), most) : A_.growth);
  return status;
}

template <class T>
Status Assembly<T>::estimate_growth() {
  A_.growth = std::max(1.0, 0.55 * std::sqrt(double(A_.tiles)));
  double growth = 1;
  for (const int64_t row : {A_.tiles / 2, A_.tiles / 5}) {
    const Status status = estimate_growth(row, &growth);
    if (!status.ok()) return status;
  }
  A_.growth = growth;
  return Status::success();
}

template <class T>
Status Assembly<T>::run() {
  A_.clear();
  A_.eps = options_.eps;
  Status status = fill_diagonal();
  if (!status.ok()) return status;
  status = check_eps(ops_, A_, options_.eps, control_.function());
  if (!status.ok()) return status;
  if (A_.tiles > 1) {
    samples_ = std::make_unique<Samples<T>>(ops_, A_.tile, options_.seed);
    dense_.resize(static_cast<size_t>(tiles_at_once()));
    for (Buffer<T>& D : dense_) D = ops_.buffer(A_.tile * A_.tile);
    if (!options_.each_tile) status = estimate_growth();
    if (!status.ok()) return status;
    status = compress_all();
    if (!status.ok()) return status;
  }
  control_.end();
  A_.state = State::assembled;
  return status;
}

}  // namespace

template <class T>
Status assemble(backend::TileOps<T>& ops, Matrix<T>& A, Source<T>& source,
                const chol_tlr_options_t& options, Control& control) {
  return Assembly<T>(ops, A, source, options, control).run();
}

#define CHOL_INSTANTIATE(prefix, T, R)                                      \
  template Status assemble<T>(backend::TileOps<T>&, Matrix<T>&, Source<T>&, \
                              const chol_tlr_options_t&, Control&);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
