// Recursion over block columns: leaves by the kernel of persistent/ and updates by that of update/,
// or leaves by the panel and strip kernels and updates by cuBLAS.
#include <algorithm>
#include <type_traits>

#include "common/precisions.hpp"
#include "native/blocked/interface.hpp"
#include "native/method.hpp"

namespace chol::cuda::native {
namespace {

template <class T>
struct Factorization {
  const BatchProblem<T>& problem;
  const Params& params;
  bool by_persistent;  ///< the leaves
  const FactorResources<T>& resources;

  T* at(int64_t i, int64_t j) const {
    const int64_t ld = problem.A.ld;
    return problem.A.first + (problem.swapped ? i * ld + j : j * ld + i);
  }
  int64_t leaf_columns() const {
    if (!by_persistent) return kBlockColumns<T>;
    return params.panel > 0 ? params.panel : problem.n;
  }

  /// Factors columns [first, first + width), which have all their updates, over all rows from
  /// `first` down.
  Status block_column(int64_t first, int64_t width) const {
    const int64_t leaf_width = leaf_columns();
    if (width <= leaf_width) return leaf(first, width);
    const int64_t half = (width / 2 + leaf_width - 1) / leaf_width * leaf_width;
    const int64_t middle = first + half, rest = width - half;
    Status status = block_column(first, half);
    if (status.ok() && resources.watch) status = resources.watch->need(first + width);
    if (status.ok()) status = update(first, half, middle, rest, problem.n);
    return status.ok() ? block_column(middle, rest) : status;
  }

  bool by_blas() const { return !by_persistent || params.blas_updates; }
  /// Subtracts the products with columns [first, first + depth) from columns [column, column +
  /// width), from the diagonal down to row `end`.
  Status update(int64_t first, int64_t depth, int64_t column, int64_t width, int64_t end) const {
    if (!by_blas())
      return persistent::update_columns(problem, first, depth, column, width, resources.stream);
    const bool in_halves = by_persistent && params.whole_square > 0 && width > params.whole_square;
    const int64_t part = in_halves ? (width / 2 + 63) / 64 * 64 : width, next = column + part;
    Status status =
        in_halves ? update(first, depth, column, part, next)
                  : resources.blas.subtract_square(problem.swapped, width, depth, at(column, first),
                                                   problem.A.ld, at(column, column), problem.A.ld);
    if (status.ok() && next < end)
      status =
          resources.blas.subtract_product(problem.swapped, end - next, part, depth, at(next, first),
                                          at(column, first), at(next, column), problem.A.ld);
    return status.ok() && in_halves ? update(first, depth, next, width - part, end) : status;
  }

  Status leaf(int64_t first, int64_t width) const {
    const int64_t end = std::min<int64_t>(first + width, problem.n);
    Status status;
    if (resources.watch) status = resources.watch->need(end);
    if (status.ok())
      status = by_persistent
                   ? persistent::factor_columns(problem, first, width, params.groups,
                                                resources.work.persistent, resources.stream)
                   : panel(first, end);
    return status.ok() && resources.watch ? resources.watch->finished(end) : status;
  }
  Status panel(int64_t first, int64_t end) const {
    constexpr int kBlock = kBlockColumns<T>;
    const PanelStep<T> step{first, kBlock, resources.work.inverses, kBlock / kTileOrder<T>};
    const Status status = run_panel(problem, step, params.leaf_threads, resources.stream);
    return status.ok() && end < problem.n ? run_strips(problem, step, resources.stream) : status;
  }
};

template <class T>
Status run(const Factorization<T>& factorization) {
  const int64_t n = factorization.problem.n;
  if (factorization.by_blas() && n > factorization.leaf_columns())
    if (const Status status = factorization.resources.blas.use(factorization.resources.stream);
        !status.ok())
      return status;
  return factorization.block_column(0, n);
}

template <class T>
class Blocked final : public FactorMethod<T> {
 public:
  bool accepts(const Case&, const Params& params) const override {
    return params.is_valid() && has_panel<T>(params.leaf_threads);
  }
  FactorWorkspace<T> carve(Arena& arena, int64_t, const Params&) const override {
    FactorWorkspace<T> work;
    work.inverses = arena.take<T>(kBlockColumns<T> * kTileOrder<T>);
    return work;
  }
  Status run(const BatchProblem<T>& problem, const Params& params,
             const FactorResources<T>& resources) const override {
    return native::run(Factorization<T>{problem, params, false, resources});
  }
};

/// If the device or the leading dimension does not allow it, Blocked runs instead.
template <class T>
class Persistent final : public FactorMethod<T> {
 public:
  bool accepts(const Case&, const Params& params) const override {
    return params.is_valid() && has_panel<T>(params.leaf_threads) && persistent::can_run<T>();
  }
  FactorWorkspace<T> carve(Arena& arena, int64_t n, const Params& params) const override {
    FactorWorkspace<T> work = Blocked<T>().carve(arena, n, params);
    const int64_t columns = params.panel > 0 ? std::min<int64_t>(params.panel, n) : n;
    work.persistent = persistent::Workspace<T>::carve(arena, n, columns);
    return work;
  }
  Status run(const BatchProblem<T>& problem, const Params& params,
             const FactorResources<T>& resources) const override {
    const bool can_run = persistent::factors_whole<T>(problem.n, problem.A.ld);
    return native::run(Factorization<T>{problem, params, can_run, resources});
  }
};

}  // namespace

template <class T>
const FactorMethod<T>& method_of(const MethodInfo& method) {
  static const Blocked<T> blocked;
  static const Persistent<T> persistent;
  if (&method == &kPersistentPotrf) return persistent;
  return blocked;
}

#define CHOL_INSTANTIATE(T) template const FactorMethod<T>& method_of<T>(const MethodInfo&);
CHOL_FOR_EACH_DEVICE_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda::native
