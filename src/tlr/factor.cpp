#include "tlr/factor.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/precisions.h"
#include "tlr/column_rows.hpp"
#include "tlr/diagonal_tile.hpp"
#include "tlr/diagonal_update.hpp"
#include "tlr/pivoting.hpp"
#include "tlr/rank_guess.hpp"
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
        in_order_(!options.pivot),
        samples_(ops, A.tile, options.seed),
        widths_(A.tiles),
        tolerance_(tile_tolerance(options.eps, kFactorShare, options.each_tile != 0, A.growth)),
        least_tolerance_(tolerance_ / 3.5),
        diagonal_(ops, options, compensation(options, A.tiles)),
        pivoting_(ops, A, options) {}

  Status run(int* info) {
    for (int64_t k = 0; k < A_.tiles; ++k) {
      if (options_.pivot) {
        pivoting_.exchange_largest(k);
        for (int64_t j = 0; j < k; ++j) widths_.enter_column(A_, j);
      }
      guess_.begin_column(A_, k);
      const int failed = factor_column(k);
      if (failed != 0) {
        *info = static_cast<int>(A_.start(k)) + failed;
        return Status::success();
      }
      solve_column(k);
      widths_.enter_column(A_, k);
      guess_.end_column(A_, k);
      if (samples_columns()) finish_column(k);
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
  void begin_indefinite(int64_t k);
  int factor_indefinite(int64_t k);
  /// A block column whose sums are partially computed.
  struct Column {
    int64_t k;
    int64_t finished;     ///< number of columns whose contributions are in the sums
    RightTiles<T> right;  ///< tiles of row k
    std::vector<std::unique_ptr<ColumnRows<T>>> parts;
  };
  bool looks_ahead() const { return in_order_ && ops_.looks_ahead(); }
  bool samples_columns() const { return in_order_ && ops_.has_cores(); }
  /// Rows of one kind that are compressed together.
  struct Run {
    bool forms;
    std::vector<int64_t> rows;
  };
  /// Factors the diagonal tile and compresses the tiles below it, without the triangular solve.
  /// Returns info of potrf.
  int factor_column(int64_t k);
  std::unique_ptr<Column> begin_column(int64_t k, int64_t finished);
  /// Starts the sums of the diagonal tile and of the tiles that are formed, or of the samples of
  /// the others.
  void begin_sums(Column& column, bool forms);
  /// Starts the contributions of the columns before k to column k + 1, concurrently with the
  /// further operations for column k.
  void begin_next(int64_t k);
  void compress_in_turn(Column& column, const std::vector<Run>& runs);
  std::vector<Run> runs_of(int64_t k) const;
  static bool run_together(const std::vector<Run>& runs) {
    return runs.size() < 2 || (runs.size() == 2 && runs[0].forms != runs[1].forms);
  }
  std::unique_ptr<ColumnRows<T>> rows_of(const Column& column, const Run& run) {
    return std::make_unique<ColumnRows<T>>(ops_, A_, samples_, widths_, column.k, column.right,
                                           samples_columns(), run.forms, run.rows, guess_,
                                           options_.sample_columns, control_);
  }
  void solve_column(int64_t k);
  void finish_column(int64_t k);
  /// For block column k: L_ik := L_ik D_k.
  void apply_signs(int64_t k);
  /// Sampling takes four products of the rank's size for each term, forming the tile two with half
  /// the tile's order. If the operations have cores, sampling is faster.
  bool is_better_formed(int64_t i, int64_t k) const {
    if (ops_.has_cores()) return A_.at(i, k).dense;
    return A_.at(i, k).dense || guess_(A_.at(i, k).rank) * 5 / 2 + 2 * Samples<T>::kTests >
                                    std::min(A_.rows(i), A_.rows(k));
  }

  backend::TileOps<T>& ops_;
  Matrix<T>& A_;
  const chol_tlr_options_t& options_;
  Control& control_;
  bool in_order_;  ///< tiles are not interchanged
  const Samples<T> samples_;
  Widths widths_;
  RankGuess guess_;
  double tolerance_, least_tolerance_;
  DiagonalTile<T> diagonal_;
  TilePivoting<T> pivoting_;
  std::unique_ptr<Column> next_;
};

template <class T>
int Factorization<T>::factor_definite(int64_t k) {
  const int info = diagonal_.finish(A_, k);
  control_.add_flops(flop_factor<T> * std::pow(double(A_.rows(k)), 3) / 3);
  // The amount added to the diagonal of a singular matrix must exceed the later errors.
  if (A_.compensated == 1) tolerance_ = least_tolerance_;
  return info;
}

template <class T>
void Factorization<T>::begin_indefinite(int64_t k) {
  const int64_t n = A_.rows(k);
  A_.inverses[k] = ops_.buffer(ops_.inverse_elements(n));
  if (ops_.factors_beside()) ops_.begin_ldl(A_.diagonal[k].get(), n, A_.inverses[k].get());
}

/// The row interchanges inside the tile are applied to the rows of the whole matrix.
template <class T>
int Factorization<T>::factor_indefinite(int64_t k) {
  const int64_t n = A_.rows(k);
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::vector<RealOf<T>> signs(static_cast<size_t>(n));
  T* const D = A_.diagonal[k].get();
  const bool is_beside = ops_.factors_beside();
  const int info = is_beside ? ops_.end_ldl(n, order.data(), signs.data())
                             : ops_.ldl(D, n, order.data(), signs.data());
  control_.add_flops(flop_factor<T> * std::pow(double(n), 3) / 3);
  if (info != 0) return info;
  if (!is_beside) ops_.invert_blocks(D, n, A_.inverses[k].get(), true);
  if (std::any_of(signs.begin(), signs.end(), [](RealOf<T> sign) { return sign < 0; }))
    A_.signs[k] = std::move(signs);
  pivoting_.reorder_rows(k, order);
  return 0;
}

/// Groups rows in runs whose memory fits into the workspace, at least one row a thread.
template <class T>
std::vector<typename Factorization<T>::Run> Factorization<T>::runs_of(int64_t k) const {
  const double most =
      options_.workspace_bytes > 0 ? double(options_.workspace_bytes) : ops_.default_workspace();
  const int64_t of_row = widths_.sum(k, 0, k);
  std::vector<Run> runs;
  for (const bool forms : {false, true}) {
    bool is_first = true;
    double bytes = 0;
    for (int64_t i = k + 1; i < A_.tiles; ++i) {
      if (is_better_formed(i, k) != forms) continue;
      const int64_t order = std::max(A_.rows(i), A_.rows(k));
      const int64_t samples =
          forms ? order / 2 : std::min(order, guess_(A_.rank(i, k)) * 5 / 4 + 24);
      const int64_t elements =
          widths_.inner(i, k, 0, k) +
          samples * (widths_.sum(i, 0, k) + of_row + 2 * A_.rows(i) + 2 * A_.rows(k) + 6 * samples);
      const double each =
          double(sizeof(T)) * double(elements + (forms ? 2 * order * order : int64_t{0}));
      if (is_first || (bytes + each > most && std::ssize(runs.back().rows) >= ops_.threads())) {
        runs.push_back({forms, {}});
        is_first = false;
        bytes = 0;
      }
      runs.back().rows.push_back(i);
      bytes += each;
    }
  }
  return runs;
}

template <class T>
std::unique_ptr<typename Factorization<T>::Column> Factorization<T>::begin_column(
    int64_t k, int64_t finished) {
  auto column = std::make_unique<Column>();
  column->k = k;
  column->finished = finished;
  if (!looks_ahead()) return column;
  column->right.make(ops_, A_, k, 0, finished);
  const std::vector<Run> runs = runs_of(k);
  if (run_together(runs))
    for (const Run& run : runs) column->parts.push_back(rows_of(*column, run));
  return column;
}

template <class T>
void Factorization<T>::begin_sums(Column& column, bool forms) {
  if (forms && !options_.pivot) update_diagonal(ops_, A_, column.k, 0, column.finished, control_);
  for (const auto& part : column.parts)
    if (part->forms() == forms) part->begin(column.finished);
}

template <class T>
void Factorization<T>::begin_next(int64_t k) {
  using Ahead = typename backend::TileOps<T>::Ahead;
  if (!looks_ahead() || k + 1 >= A_.tiles) return;
  if (!next_) next_ = begin_column(k + 1, k);
  for (const bool forms : {false, true}) {
    ops_.begin_ahead(forms ? Ahead::tiles : Ahead::samples);
    begin_sums(*next_, forms);
    ops_.end_ahead();
  }
}
template <class T>
int Factorization<T>::factor_column(int64_t k) {
  const bool is_begun = next_ != nullptr;
  if (is_begun) ops_.join_ahead();
  const std::unique_ptr<Column> column = is_begun ? std::move(next_) : begin_column(k, k);
  // Signs are applied to copies; the look-ahead needs the original tiles.
  if (looks_ahead() && options_.ldl && k + 1 < A_.tiles) next_ = begin_column(k + 1, k);
  if (looks_ahead()) ops_.fork_ahead();
  if (!is_begun)
    for (const bool forms : {true, false}) begin_sums(*column, forms);
  if (column->finished < k) update_diagonal(ops_, A_, k, column->finished, k, control_);
  control_.begin(Phase::potrf);
  options_.ldl ? begin_indefinite(k) : diagonal_.begin(A_, k);
  // L D L^H reorders the rows of the tile, and with them the rows of block row and block column k.
  // This must follow the sampling, which uses the order of the finished columns, and the
  // look-ahead.
  const bool waits = options_.ldl ? samples_columns() || looks_ahead() : ops_.factors_beside();
  const int failed = waits ? 0 : factor_diagonal(k);
  if (failed != 0) return failed;
  column->right.make(ops_, A_, k, 0, k);
  for (const auto& part : column->parts) part->queue(tolerance_);
  begin_next(k);
  for (const auto& part : column->parts) part->finish();
  if (column->parts.empty()) compress_in_turn(*column, runs_of(k));
  return waits ? factor_diagonal(k) : 0;
}

template <class T>
void Factorization<T>::compress_in_turn(Column& column, const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    const std::unique_ptr<ColumnRows<T>> rows = rows_of(column, run);
    rows->begin(column.k);
    rows->queue(tolerance_);
    rows->finish();
  }
}

/// V := D_k inverse(L_kk) V for low rank tiles, U := U inverse(L_kk^H) D_k for dense tiles.
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
    list.push_back(
        {A_.diagonal[k].get(), A_.inverses[k].get(), n, false, V, count, n, options_.ldl != 0});
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
  const Status accepted = check_eps(ops, A, options.eps, control.function());
  if (!accepted.ok()) return accepted;
  *info = 0;
  A.state = State::failed;
  A.eps = options.eps;
  A.compensated = A.modified = 0;
  A.inverses.resize(static_cast<size_t>(A.tiles));
  A.forget_sweeps();
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
