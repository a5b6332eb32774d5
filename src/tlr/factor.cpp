#include "tlr/factor.hpp"

#include <algorithm>
#include <cmath>

#include "base/precisions.h"
#include "tlr/dense_tiles.hpp"
#include "tlr/diagonal_tile.hpp"
#include "tlr/diagonal_update.hpp"
#include "tlr/pivoting.hpp"
#include "tlr/schur_tiles.hpp"
#include "tlr/settings.hpp"

namespace chol::tlr {
namespace {

template <class T>
class Factorization {
 public:
  Factorization(backend::TileOps<T>& ops, Matrix<T>& A, const chol_tlr_options_t& options,
                Control& control)
      : ops_(ops),
        A_(A),
        options_(options),
        control_(control),
        samples_(ops, A.tile, options.seed),
        tolerance_(tile_tolerance(options.eps, kFactorShare, options.each_tile != 0, A.growth)),
        least_tolerance_(tolerance_ / 3.5),
        diagonal_(ops, options, compensation(options, A.tiles)),
        pivoting_(ops, A, options) {}

  Status run(int* info) {
    for (int64_t k = 0; k < A_.tiles; ++k) {
      if (options_.pivot)
        pivoting_.exchange_largest(k);
      else
        update_diagonal(ops_, A_, k, control_);
      control_.begin(Phase::potrf);
      if (!options_.ldl) diagonal_.begin(A_, k);
      const bool waits = !options_.ldl && ops_.factors_beside();
      int failed = waits ? 0 : factor_diagonal(k);
      if (failed == 0) {
        right_.make(ops_, A_, k, 0, k);
        compress_column(k);
        if (waits) failed = factor_diagonal(k);
      }
      if (failed != 0) {
        *info = static_cast<int>(A_.start(k)) + failed;
        return Status::success();
      }
      solve_column(k);
      if (ops_.has_cores()) finish_column(k);
      if (options_.pivot) update_diagonals_after(ops_, A_, k, control_);
      const double done = double(k + 1) / double(A_.tiles);
      const Status status = control_.report(1 - (1 - done) * (1 - done) * (1 + 2 * done));
      if (!status.ok()) return status;
    }
    if (options_.pivot || options_.ldl) A_.permutation = pivoting_.permutation();
    return Status::success();
  }

 private:
  int factor_diagonal(int64_t k) {
    control_.begin(Phase::potrf);
    return options_.ldl ? factor_indefinite(k) : factor_definite(k);
  }
  int factor_definite(int64_t k);
  int factor_indefinite(int64_t k);
  void compress_column(int64_t k);
  void compress_rows(int64_t k, const std::vector<int64_t>& rows);
  void compress_formed(int64_t k, const std::vector<int64_t>& rows);
  void solve_column(int64_t k);
  void finish_column(int64_t k);
  /// Of block column k: L_ik := L_ik D_k.
  void apply_signs(int64_t k);
  std::vector<std::vector<int64_t>> rows_at_once(int64_t k, const std::vector<int64_t>& rows,
                                                 bool formed) const;
  /// Sampling costs four products of the rank's size a term, forming the tile two of half of one.
  bool is_better_formed(int64_t i, int64_t k) const {
    return A_.at(i, k).dense ||
           A_.at(i, k).rank * 5 / 2 + 2 * Samples<T>::kTests > std::min(A_.rows(i), A_.rows(k));
  }

  backend::TileOps<T>& ops_;
  Matrix<T>& A_;
  const chol_tlr_options_t& options_;
  Control& control_;
  const Samples<T> samples_;
  double tolerance_, least_tolerance_;
  DiagonalTile<T> diagonal_;
  TilePivoting<T> pivoting_;
  RightTiles<T> right_;  ///< of the current row
};

template <class T>
int Factorization<T>::factor_definite(int64_t k) {
  const int info = diagonal_.finish(A_, k);
  control_.add_flops(flop_factor<T> * std::pow(double(A_.rows(k)), 3) / 3);
  // What is added to the diagonal of a singular matrix has to exceed the errors to come.
  if (A_.compensated == 1) tolerance_ = least_tolerance_;
  return info;
}

/// The interchanges inside the tile are those of its rows in the whole matrix.
template <class T>
int Factorization<T>::factor_indefinite(int64_t k) {
  const int64_t n = A_.rows(k);
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::vector<RealOf<T>> signs(static_cast<size_t>(n));
  T* const D = A_.diagonal[k].get();
  const int info = ops_.ldl(D, n, order.data(), signs.data());
  control_.add_flops(flop_factor<T> * std::pow(double(n), 3) / 3);
  if (info != 0) return info;
  A_.inverses[k] = ops_.buffer(ops_.inverse_elements(n));
  ops_.invert_blocks(D, n, A_.inverses[k].get());
  if (std::any_of(signs.begin(), signs.end(), [](RealOf<T> sign) { return sign < 0; }))
    A_.signs[k] = std::move(signs);
  pivoting_.reorder_rows(k, order);
  return 0;
}

/// Rows in runs whose memory stays within the workspace, a row a thread at least.
template <class T>
std::vector<std::vector<int64_t>> Factorization<T>::rows_at_once(int64_t k,
                                                                 const std::vector<int64_t>& rows,
                                                                 bool formed) const {
  const double most =
      options_.workspace_bytes > 0 ? double(options_.workspace_bytes) : ops_.default_workspace();
  std::vector<std::vector<int64_t>> runs;
  double bytes = 0;
  for (const int64_t i : rows) {
    const int64_t order = std::max(A_.rows(i), A_.rows(k));
    const int64_t samples =
        formed ? order / 2 : std::min(order, A_.rank(i, k) + A_.rank(i, k) / 4 + 24);
    const double each = double(sizeof(T)) * double(SchurTiles<T>::elements(A_, i, k, samples) +
                                                   (formed ? 2 * order * order : 0));
    const bool is_full =
        runs.empty() || (bytes + each > most && std::ssize(runs.back()) >= ops_.threads());
    if (is_full) {
      runs.emplace_back();
      bytes = 0;
    }
    runs.back().push_back(i);
    bytes += each;
  }
  return runs;
}

template <class T>
void Factorization<T>::compress_column(int64_t k) {
  std::vector<int64_t> sampled, formed;
  for (int64_t i = k + 1; i < A_.tiles; ++i)
    (is_better_formed(i, k) ? formed : sampled).push_back(i);
  for (const auto& rows : rows_at_once(k, sampled, false)) compress_rows(k, rows);
  for (const auto& rows : rows_at_once(k, formed, true)) compress_formed(k, rows);
}

template <class T>
void Factorization<T>::compress_rows(int64_t k, const std::vector<int64_t>& rows) {
  SchurTiles<T> operators(ops_, A_, samples_, k, right_, rows);
  std::vector<Tile<T>*> tiles;
  std::vector<int64_t> guess;
  for (const int64_t i : rows) {
    tiles.push_back(&A_.at(i, k));
    guess.push_back(A_.at(i, k).rank);
  }
  compress(ops_, operators, {tolerance_, options_.sample_columns, guess.data()}, control_,
           tiles.data());
}

/// Tiles of high rank are formed, and sampled then.
template <class T>
void Factorization<T>::compress_formed(int64_t k, const std::vector<int64_t>& rows) {
  control_.begin(Phase::dense_update);
  SchurTiles<T> schur(ops_, A_, samples_, k, right_, rows);
  DenseTiles<T> operators(ops_, samples_);
  std::vector<Buffer<T>> dense;
  std::vector<Tile<T>*> tiles;
  std::vector<int64_t> guess;
  backend::ProductSteps<T> steps;
  for (int64_t r = 0; r < std::ssize(rows); ++r) {
    const int64_t i = rows[r];
    dense.push_back(ops_.buffer(A_.rows(i) * A_.rows(k)));
    schur.expand(r, dense.back().get(), steps);
    operators.add(dense.back().get(), A_.rows(i), A_.rows(k));
    tiles.push_back(&A_.at(i, k));
    guess.push_back(A_.at(i, k).dense ? std::min(A_.rows(i), A_.rows(k)) / 2 : A_.at(i, k).rank);
  }
  ops_.multiply(steps);
  control_.add_flops(steps.flops());
  compress(ops_, operators, {tolerance_, options_.sample_columns, guess.data()}, control_,
           tiles.data());
}

/// V := D_k inverse(L_kk) V, and of dense tiles U := U inverse(L_kk^H) D_k.
template <class T>
void Factorization<T>::solve_column(int64_t k) {
  control_.begin(Phase::trsm);
  const int64_t n = A_.rows(k);
  std::vector<backend::TriangularSolve<T>> list;
  std::vector<std::pair<int64_t, Buffer<T>>> dense;
  double columns = 0;
  for (int64_t i = k + 1; i < A_.tiles; ++i) {
    Tile<T>& tile = A_.at(i, k);
    T* V = tile.V.get();
    if (tile.dense) {
      dense.emplace_back(i, ops_.buffer(A_.rows(i) * n));
      V = dense.back().second.get();
    }
    const int64_t count = tile.dense ? A_.rows(i) : tile.rank;
    columns += double(count);
    list.push_back({A_.diagonal[k].get(), A_.inverses[k].get(), n, false, V, count, n});
  }
  std::vector<backend::Copy<T>> there, back;
  for (const auto& [i, adjoint] : dense) {
    const int64_t rows = A_.rows(i);
    there.push_back({true, rows, n, A_.at(i, k).U.get(), rows, adjoint.get(), n});
    back.push_back({true, n, rows, adjoint.get(), n, A_.at(i, k).U.get(), rows});
  }
  ops_.copy(there);
  ops_.solve(list);
  ops_.copy(back);
  if (options_.ldl && !A_.signs[k].empty()) apply_signs(k);
  control_.add_flops(flop_factor<T> * double(n) * double(n) * columns);
}

template <class T>
void Factorization<T>::finish_column(int64_t k) {
  backend::FinishedColumn<T> column{
      k, A_.tiles, A_.rows(k), {}, samples_.left(), samples_.left_columns(), samples_.rows()};
  for (int64_t i = k + 1; i < A_.tiles; ++i) {
    const Tile<T>& tile = A_.at(i, k);
    column.rows.push_back(
        {i, A_.rows(i), {tile.U.get(), tile.V.get(), tile.dense ? -1 : tile.rank}});
  }
  ops_.finish_column(column);
}

template <class T>
void Factorization<T>::apply_signs(int64_t k) {
  std::vector<backend::Rearrangement<T>> list;
  for (int64_t i = k + 1; i < A_.tiles; ++i) {
    Tile<T>& tile = A_.at(i, k);
    T* const x = tile.dense ? tile.U.get() : tile.V.get();
    const int64_t rows = A_.rows(tile.dense ? i : k);
    backend::Rearrangement<T> item{x, rows, x, rows, rows, A_.width(i, k)};
    (tile.dense ? item.column_signs : item.row_signs) = A_.signs[k].data();
    list.push_back(item);
  }
  ops_.rearrange(list);
}

}  // namespace

template <class T>
Status factor(backend::TileOps<T>& ops, Matrix<T>& A, const chol_tlr_options_t& options,
              Control& control, int* info) {
  const double least = least_eps<T>(A.n, largest_diagonal(ops, A));
  if (options.eps < least)
    return Status::error(CHOL_STATUS_INVALID_VALUE,
                         "%s: options->eps = %g, must be at least n * u * max |a_ii| = %g",
                         control.function(), options.eps, least);
  if ((options.ldl || options.pivot) && !ops.can_pivot())
    return Status::error(CHOL_STATUS_NOT_SUPPORTED,
                         "%s: options->%s = %d, must be 0 on this backend", control.function(),
                         options.ldl ? "ldl" : "pivot", options.ldl ? options.ldl : options.pivot);
  *info = 0;
  A.state = State::failed;
  A.eps = options.eps;
  A.compensated = A.modified = 0;
  A.inverses.resize(static_cast<size_t>(A.tiles));
  if (options.ldl) A.signs.resize(static_cast<size_t>(A.tiles));
  for (int64_t i = 0; i < A.tiles; ++i)
    ops.add_to_diagonal(A.diagonal[i].get(), A.rows(i), static_cast<RealOf<T>>(options.shift));
  A.shift = options.shift;
  const Status status = Factorization<T>(ops, A, options, control).run(info);
  control.end();
  A.flops = control.flops();
  if (status.ok() && *info == 0) A.state = State::factored;
  return status;
}

#define CHOL_INSTANTIATE(prefix, T, R)                                                             \
  template Status factor<T>(backend::TileOps<T>&, Matrix<T>&, const chol_tlr_options_t&, Control&, \
                            int*);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
