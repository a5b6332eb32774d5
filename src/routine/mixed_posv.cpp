#include "routine/mixed_posv.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>

#include "base/environment.hpp"
#include "routine/conjugate_gradients.hpp"
#include "routine/run.hpp"
#include "routine/trace.hpp"

namespace chol::routine {
namespace {

using backend::Hermitian;
using backend::LowerPrecision;
using backend::Problem;

/// LAPACK's codes of dsposv: reasons for the fallback to the working precision.
enum Fallback : int { kNotWorthwhile = -1, kOverflow = -2, kNotDefinite = -3 };

/// A system with the memory of its solution: the factor and columns in the lower precision, four
/// blocks of columns in the working one, and the workspace of the routines of both.
template <class T>
class MixedPosv {
 public:
  using Low = LowerPrecision<T>;

  MixedPosv(Handle& handle, BackendSlot& slot, const MixedSystem<T>& system)
      : handle_(handle), slot_(slot), system_(system), backend_(*slot.backend) {
    width_ = std::min(system.nrhs, backend::kMostRefined);
    ld_ = (system.n + kStep - 1) / kStep * kStep;
    const MixedRow* const row = backend_.tuning().mixed(precision_letter<T>, system.n, system.nrhs);
    is_worthwhile_ = row != nullptr;
    if (row) moduli_ = row->moduli;
  }

  /// Whether the backend implements refinement; valid after workspace_bytes().
  bool is_supported() const { return operations_ != nullptr; }

  size_t workspace_bytes() {
    Arena arena;
    carve(arena);
    return arena.used() + inner_bytes();
  }

  /// Memory for the fastest method for which it can be allocated; null on failure.
  void* reserve(size_t* bytes) {
    void* workspace = slot_.workspace(*bytes = workspace_bytes());
    if (workspace || !is_worthwhile_) return workspace;
    low_mode_ = CHOL_MATH_IEEE;
    moduli_ = 0;
    workspace = slot_.workspace(*bytes = workspace_bytes());
    if (workspace) return workspace;
    is_worthwhile_ = false;
    return slot_.workspace(*bytes = workspace_bytes());
  }

  /// Returns the method.
  const char* run(void* workspace, size_t bytes) {
    Arena arena(workspace, bytes);
    carve(arena);
    inner_ = static_cast<char*>(workspace) + arena.used();
    inner_size_ = bytes - arena.used();
    const int iterations = is_worthwhile_ ? solve_by_refinement() : kNotWorthwhile;
    if (iterations < 0)
      *system_.info = solve_in_full();
    else
      *system_.info = 0;
    *system_.iter = iterations;
    return iterations < 0 ? "full precision" : "refinement";
  }

  /// The same in the working precision alone.
  Problem<T> full_problem() const {
    return {.routine = Routine::posv,
            .form = Form::one,
            .uplo = system_.uplo,
            .sizes = {1, system_.n, system_.nrhs},
            .A = MatrixBatch<T>::strided(system_.A, system_.lda, 0),
            .B = MatrixBatch<T>::strided(system_.X, system_.ldx, 0),
            .info = info_};
  }

 private:
  static constexpr int64_t kStep = 32;  ///< rows of the factor start at whole lines

  void carve(Arena& arena) {
    const auto columns = static_cast<size_t>(system_.n * width_);
    info_ = arena.take<int>(1);
    operations_ = backend_.refinement(static_cast<const T*>(nullptr), handle_.threads(backend_),
                                      slot_.stream, system_.n, arena);
    if (!is_worthwhile_) return;
    factor_ = arena.take<Low>(static_cast<size_t>(system_.n * ld_));
    work_.low = arena.take<Low>(columns);
    for (T** const block : {&work_.R, &work_.P, &work_.Z, &work_.Q})
      *block = arena.take<T>(columns);
  }

  template <class U>
  backend::Resources resources() const {
    backend::Resources resources = resources_of(handle_, slot_);
    if (!std::is_same_v<U, Low>) return resources;
    resources.math_mode = low_mode_;
    resources.moduli = moduli_;
    return resources;
  }
  /// With the largest number of moduli, which a second factorization may need.
  template <class U>
  size_t bytes_of(const Problem<U>& problem) const {
    backend::Resources with_most = resources<U>();
    with_most.moduli = 0;
    return backend_.template solver<U>().workspace_bytes(problem, rows_of(backend_, problem),
                                                         with_most);
  }
  template <class U>
  void run_routine(const Problem<U>& problem) const {
    backend::Resources with_workspace = resources<U>();
    with_workspace.workspace = inner_;
    with_workspace.workspace_bytes = inner_size_;
    require(backend_.template solver<U>().run(problem, rows_of(backend_, problem), with_workspace));
  }
  size_t inner_bytes() const {
    size_t bytes = bytes_of(full_problem());
    if (!is_worthwhile_) return bytes;
    bytes = std::max(bytes, bytes_of(factorization()));
    return std::max(bytes, bytes_of(solution({system_.n, width_, work_.low, system_.n})));
  }

  Problem<Low> factorization() const {
    return {.routine = Routine::potrf,
            .form = Form::one,
            .uplo = system_.uplo,
            .sizes = {1, system_.n, 0},
            .A = MatrixBatch<Low>::strided(factor_, ld_, 0),
            .B = {},
            .info = info_};
  }
  Problem<Low> solution(const backend::Columns<Low>& columns) const {
    return {.routine = Routine::potrs,
            .form = Form::one,
            .uplo = system_.uplo,
            .sizes = {1, system_.n, columns.count},
            .A = MatrixBatch<Low>::strided(factor_, ld_, 0),
            .B = MatrixBatch<Low>::strided(columns.first, columns.ld, 0)};
  }

  /// Iterations, or why there is no solution: a Fallback or -(kMostIterations + 1).
  int solve_by_refinement() {
    int iterations = solve_with_factor();
    if (moduli_ == 0 || iterations >= 0 || iterations == kOverflow) return iterations;
    moduli_ = 0;  // the factor of few moduli is too inaccurate for this matrix
    return solve_with_factor();
  }
  int solve_with_factor() {
    const Hermitian<const T> A{system_.uplo, system_.n, system_.A, system_.lda};
    double norm = 0;
    bool overflows = false;
    require(operations_->round(A, {system_.uplo, system_.n, factor_, ld_}, &norm, &overflows));
    if (overflows) return kOverflow;
    run_routine(factorization());
    int info = 0;
    require(operations_->read(info_, &info));
    if (info != 0) return kNotDefinite;
    // Half of LAPACK's criterion, whose tests use other norms.
    const double criterion =
        0.5 * norm * std::numeric_limits<double>::epsilon() / 2 * std::sqrt(double(system_.n));
    ConjugateGradients<T> gradients(
        *operations_, A, criterion, work_,
        [&](const backend::Columns<Low>& low) { run_routine(solution(low)); });
    int iterations = 0;
    for (int64_t first = 0; first < system_.nrhs; first += width_) {
      const int64_t count = std::min(width_, system_.nrhs - first);
      const int needed =
          gradients.solve({system_.n, count, system_.B + first * system_.ldb, system_.ldb},
                          {system_.n, count, system_.X + first * system_.ldx, system_.ldx});
      if (needed == ConjugateGradients<T>::kGivenUp) return -needed;
      iterations = std::max(iterations, needed);
    }
    return iterations;
  }

  /// posv in the working precision; returns info.
  int solve_in_full() {
    std::array<double, backend::kMostRefined> ones{}, zeros{};
    ones.fill(1);
    for (int64_t first = 0; first < system_.nrhs; first += width_) {
      const int64_t count = std::min(width_, system_.nrhs - first);
      require(operations_->combine(
          ones.data(), {system_.n, count, system_.B + first * system_.ldb, system_.ldb},
          zeros.data(), {system_.n, count, system_.X + first * system_.ldx, system_.ldx}));
    }
    run_routine(full_problem());
    int info = 0;
    require(operations_->read(info_, &info));
    return info;
  }

  Handle& handle_;
  BackendSlot& slot_;
  MixedSystem<T> system_;
  backend::Backend& backend_;
  int64_t width_ = 0, ld_ = 0;
  bool is_worthwhile_ = false;
  /// Any factor of that accuracy in the lower precision will do: the fastest math mode.
  chol_math_mode_t low_mode_ = CHOL_MATH_TENSOR;
  int moduli_ = 0;       ///< of the factor, 0: of full accuracy
  int* info_ = nullptr;  ///< where the backend's routines write it
  Low* factor_ = nullptr;
  typename ConjugateGradients<T>::Work work_{};
  std::unique_ptr<backend::Refinement<T>> operations_;
  void* inner_ = nullptr;  ///< of the routines
  size_t inner_size_ = 0;
};

}  // namespace

template <class T>
Status run_mixed(Handle& handle, BackendSlot& slot, const char* function,
                 const MixedSystem<T>& system) {
  if (system.n == 0 || system.nrhs == 0) {
    // Nothing to refine; without right-hand sides LAPACK's routines return the same.
    *system.iter = *system.info = 0;
    return Status::success();
  }
  MixedPosv<T> posv(handle, slot, system);
  size_t bytes = posv.workspace_bytes();
  if (!posv.is_supported())
    return Status::error(CHOL_STATUS_NOT_SUPPORTED, "%s: %s has no refinement", function,
                         slot.backend->name());
  if (handle.workspace_need) {
    *handle.workspace_need = std::max(*handle.workspace_need, bytes + Arena::kAlignment);
    return Status::success();
  }
  void* const workspace = posv.reserve(&bytes);
  if (!workspace)
    return Status::error(CHOL_STATUS_ALLOC_FAILED, "%s: cannot allocate %zu bytes of workspace",
                         function, bytes);
  handle.last_backend = slot.backend->kind();
  const Stopwatch watch;
  const char* const method = posv.run(workspace, bytes);
  if (environment().verbose)
    print_call(function, slot.backend->name(), method, posv.full_problem(),
               handle.threads(*slot.backend), watch.milliseconds());
  return Status::success();
}

template Status run_mixed(Handle&, BackendSlot&, const char*, const MixedSystem<double>&);
template Status run_mixed(Handle&, BackendSlot&, const char*,
                          const MixedSystem<std::complex<double>>&);

}  // namespace chol::routine
