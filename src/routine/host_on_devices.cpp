#include "routine/host_on_devices.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/precisions.h"
#include "routine/team.hpp"
#include "routine/trace.hpp"
#include "tile/host_matrix.hpp"
#include "tile/potri.hpp"
#include "tile/potrs.hpp"
#include "tile/redistribute.hpp"
#include "tile/staging.hpp"

namespace chol::routine {
namespace {

using backend::Problem;

/// How a matrix is divided, and whether transfers are staged in pinned buffers, which is required
/// for pageable memory and for tracking which columns have been written back.
template <class T>
tile::HostPlan plan_for(const Team<T>& team, const std::vector<size_t>& bytes,
                        const Problem<T>& problem, bool offloaded) {
  tile::HostPlan plan = tile::plan_host_matrix(team.all, bytes, problem.sizes.n,
                                               problem.uplo == CHOL_UPPER, team.by_planes);
  if (!plan)
    throw StatusError(Status::error(CHOL_STATUS_ALLOC_FAILED,
                                    "the devices' memory does not hold panels of the matrix"));
  if (offloaded || team.all.front()->is_pageable(problem.A.first))
    plan.staging = tile::Staging<T>::kBytes;
  plan.is_kept_before_bad = offloaded;
  return plan;
}

/// Factors the problem's matrix of order n > 0.
/// @param need of a query, or nullptr.
/// @param returned of an offloaded matrix: as Problem::factored. nullptr: of another.
template <class T>
void factor_whole(Team<T>& team, const char* function, const Problem<T>& problem, size_t* need,
                  int64_t* returned, int* info) {
  const int64_t n = problem.sizes.n;
  const bool upper = problem.uplo == CHOL_UPPER;
  const int devices = static_cast<int>(team.all.size());
  const std::vector<size_t> bytes = team.available();
  const tile::HostPlan plan = plan_for(team, bytes, problem, returned != nullptr);
  tile::HostWorkspace<T> work;
  const auto carve = [&](auto& part, size_t d, Arena& arena) {
    part.carve(arena, *team.all[d], devices, n, plan, upper);
  };
  if (!team.take_workspace(need, work, carve)) return;
  const Stopwatch watch;
  team.begin();
  tile::HostProgress progress;
  const backend::View<T> whole{problem.A.first, problem.A.ld, upper};
  try {
    *info = tile::factor_host_matrix(team.all, whole, n, plan, work, &progress);
  } catch (...) {
    if (returned) *returned = progress.returned;
    throw;
  }
  if (returned) *returned = progress.returned;
  team.finish();
  const double order = static_cast<double>(n);
  print_cyclic_call(function, team.device(), team.all.size(), problem.uplo, n, plan.nb,
                    watch.milliseconds(), flop_factor<T> * order * order * order / 3);
  const double memory = static_cast<double>(*std::max_element(bytes.begin(), bytes.end()));
  print_traffic(sizeof(T) * static_cast<double>(progress.moved),
                sizeof(T) * tile::least_traffic(n, plan, memory / sizeof(T)));
  team.give_back();
}

template <class T>
class HostCall {
 public:
  HostCall(Handle& handle, const char* function, const Problem<T>& problem)
      : handle_(handle),
        function_(function),
        problem_(problem),
        n_(problem.sizes.n),
        upper_(problem.uplo == CHOL_UPPER),
        team_(handle) {}

  void potrf(int* info) {
    if (n_ == 0) {
      *info = 0;
      return;
    }
    factor_whole(team_, function_, problem_, handle_.workspace_need, nullptr, info);
  }

  /// With the whole factor on the devices, or, if it does not fit, while it is streamed through
  /// them.
  void potrs() {
    const int64_t nrhs = problem_.sizes.nrhs;
    if (n_ == 0 || nrhs == 0) return;
    const double flops = 2 * static_cast<double>(nrhs);
    tile::PotrsWorkspace<T> work;
    const auto carve = [&](auto& part, Arena& arena, size_t) { part.carve(arena, over(), nrhs); };
    if (holds_factor(carve))
      return with_factor(work, carve, flops, [&](const auto& A, auto*) {
        tile::FactorColumns<T> factor(A);
        tile::solve(team_.all, factor, nrhs, problem_.B.first, problem_.B.ld, work);
      });
    tile::StreamedPotrsWorkspace<T> streamed;
    const auto carve_all = [&](auto& part, size_t d, Arena& arena) { carve(part, arena, d); };
    if (!team_.take_workspace(handle_, streamed, carve_all)) return;
    timed(flops, [&] {
      const auto staging = staging_of_pageable();
      tile::FactorColumns<T> factor(team_.all, over(), whole(), streamed.ring, staging.get());
      tile::solve(team_.all, factor, nrhs, problem_.B.first, problem_.B.ld, streamed.solve);
    });
  }

  void potri(int* info) {
    if (handle_.workspace_need == nullptr) *info = first_zero();
    if (n_ == 0 || (!handle_.workspace_need && *info > 0)) return;
    tile::PotriWorkspace<T> work;
    const auto carve = [&](auto& part, Arena& arena, size_t d) {
      part.carve(arena, *team_.all[d], over());
    };
    with_factor(work, carve, 2 * static_cast<double>(n_) / 3, [&](const auto& A, auto* staging) {
      tile::invert(team_.all, A, work);
      team_.wait();
      tile::store_inverse(team_.all, A, whole(), staging);
    });
  }

  void logdet() {
    double sum = 0;
    for (int64_t i = 0; i < n_; ++i)
      sum += std::log(static_cast<double>(std::real(problem_.A.first[i * (problem_.A.ld + 1)])));
    *problem_.result = static_cast<RealOf<T>>(2 * sum);
  }

 private:
  int devices() const { return static_cast<int>(team_.all.size()); }
  const backend::Backend& device() const { return *handle_.named_devices().front()->backend; }
  backend::View<T> whole() const { return {problem_.A.first, problem_.A.ld, upper_}; }
  /// Block columns of a solve, which has little work for each.
  int64_t block_columns() const {
    constexpr int64_t kLeast = 64, kMost = 512;
    return std::clamp(n_ / (4 * devices()) / kLeast * kLeast, kLeast, kMost);
  }
  tile::Distribution over() const { return {n_, block_columns(), devices()}; }
  T* take_columns(Arena& arena, size_t d) const {
    return arena.take<T>(static_cast<size_t>(n_ * over().columns_of(static_cast<int>(d))));
  }
  /// Whether the devices have memory for the factor in addition to that of carve().
  template <class Carve>
  bool holds_factor(Carve&& carve) const {
    const std::vector<size_t> available = team_.available();
    tile::PotrsWorkspace<T> count;
    for (size_t d = 0; d < available.size(); ++d) {
      Arena arena;
      take_columns(arena, d);
      carve(count, arena, d);
      if (arena.used() > available[d]) return false;
    }
    return true;
  }
  /// Copies the factor to the devices, in block columns, and calls body(factor, staging).
  /// @param flops of it over n^2.
  template <class Work, class Carve, class Body>
  void with_factor(Work& work, Carve&& carve_work, double flops, Body&& body) {
    tile::CyclicMatrix<T> A;
    A.over = over();
    A.by_rows = upper_;
    A.local.resize(team_.all.size());
    const auto carve = [&](auto& part, size_t d, Arena& arena) {
      A.local[d] = {take_columns(arena, d), n_, upper_};
      carve_work(part, arena, d);
    };
    if (!team_.take_workspace(handle_, work, carve)) return;
    timed(flops, [&] {
      const auto staging = staging_of_pageable();
      tile::load_factor(team_.all, A, whole(), staging.get());
      team_.wait();
      body(A, staging.get());
    });
  }
  template <class Body>
  void timed(double flops, Body&& body) {
    const Stopwatch watch;
    team_.begin();
    body();
    team_.finish();
    team_.give_back();
    const double n = static_cast<double>(n_);
    print_cyclic_call(function_, device(), team_.all.size(), problem_.uplo, n_, block_columns(),
                      watch.milliseconds(), flop_factor<T> * n * n * flops);
  }
  /// The position, from 1, of the first zero on the factor's diagonal, or 0.
  int first_zero() const {
    for (int64_t i = 0; i < n_; ++i)
      if (problem_.A.first[i * (problem_.A.ld + 1)] == T(0)) return static_cast<int>(i) + 1;
    return 0;
  }
  /// Pinned buffers for the matrix, where its memory is pageable.
  std::unique_ptr<tile::Staging<T>> staging_of_pageable() const {
    if (!team_.all.front()->is_pageable(problem_.A.first)) return nullptr;
    return std::make_unique<tile::Staging<T>>(team_.all, whole(), n_, tile::Staging<T>::kBytes,
                                              nullptr);
  }

  Handle& handle_;
  const char* function_;
  const Problem<T>& problem_;
  const int64_t n_;
  const bool upper_;
  Team<T> team_;
};

}  // namespace

bool works_on_host_arrays(const Handle& handle, Routine routine) {
  if (handle.named_devices().empty()) return false;
  return routine == Routine::potrf || routine == Routine::potrs || routine == Routine::posv ||
         routine == Routine::potri || routine == Routine::logdet;
}

template <class T>
Status run_host_on_devices(Handle& handle, const char* function, const Problem<T>& problem) {
  HostCall<T> call(handle, function, problem);
  if (!handle.workspace_need) handle.last_backend = CHOL_BACKEND_CUDA;
  switch (problem.routine) {
    case Routine::potrf:
      call.potrf(problem.info);
      break;
    case Routine::potrs:
      call.potrs();
      break;
    case Routine::potri:
      call.potri(problem.info);
      break;
    case Routine::posv:
      call.potrf(problem.info);
      if (handle.workspace_need || *problem.info == 0) call.potrs();
      break;
    default:
      if (!handle.workspace_need) call.logdet();
  }
  return Status::success();
}

template <class T>
Status run_offloaded_on_devices(Handle::Devices devices, int threads, const char* function,
                                const Problem<T>& problem) {
  int info = 0;
  try {
    Team<T> team(devices, threads);
    factor_whole(team, function, problem, nullptr, problem.factored, &info);
  } catch (const StatusError& error) {
    return error.status();
  } catch (const std::bad_alloc&) {
    return Status::error(CHOL_STATUS_ALLOC_FAILED, "%s: out of memory", function);
  }
  if (info > 0)
    return Status::error(CHOL_STATUS_NOT_SUPPORTED,
                         "the minor of order %d is not positive definite", info);
  *problem.info = 0;
  return Status::success();
}

#define CHOL_INSTANTIATE(prefix, T, R)                                             \
  template Status run_host_on_devices<T>(Handle&, const char*, const Problem<T>&); \
  template Status run_offloaded_on_devices<T>(Handle::Devices, int, const char*, const Problem<T>&);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::routine
