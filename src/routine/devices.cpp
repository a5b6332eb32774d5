#include "routine/devices.hpp"

#include <algorithm>
#include <cmath>

#include "base/precisions.h"
#include "routine/team.hpp"
#include "routine/trace.hpp"
#include "tile/potrf.hpp"
#include "tile/potri.hpp"
#include "tile/potrs.hpp"
#include "tile/redistribute.hpp"

namespace chol::routine {
namespace {

template <class T>
tile::CyclicMatrix<T> matrix_of(const CyclicProblem<T>& problem, int devices) {
  const bool upper = problem.uplo == CHOL_UPPER;
  tile::CyclicMatrix<T> A;
  A.over = {problem.n, problem.nb, devices};
  A.by_rows = upper && devices > 1;
  for (int d = 0; d < devices; ++d) A.local.push_back({problem.A[d], problem.lda[d], upper});
  return A;
}

/// A call without workspace: work(devices, matrix) enqueues it.
template <class T, class Work>
Status run_simple(Handle& handle, const CyclicProblem<T>& problem, Work&& work) {
  if (handle.workspace_need) return Status::success();
  handle.last_backend = CHOL_BACKEND_CUDA;
  Team<T> team(handle);
  team.begin();
  work(team.all, matrix_of(problem, static_cast<int>(team.all.size())));
  team.finish();
  return Status::success();
}

/// Operands and workspace of potrf, potrs and posv.
template <class T>
struct Workspace {
  tile::PotrfWorkspace<T> factor;
  tile::PotrsWorkspace<T> solve;
};

/// Factors, solves, or does both as long as info is 0.
/// @param info nullptr: solve only.
template <class T>
Status run_cyclic(Handle& handle, const char* function, const CyclicProblem<T>& problem, int* info,
                  bool solves) {
  Team<T> team(handle);
  const tile::CyclicMatrix<T> A = matrix_of(problem, static_cast<int>(team.all.size()));
  const bool upper = problem.uplo == CHOL_UPPER;
  solves = solves && problem.n > 0 && problem.nrhs > 0;
  Workspace<T> work;
  if (!team.take_workspace(handle, work, [&](auto& part, size_t d, Arena& arena) {
        if (info) {
          part.factor.carve(arena, *team.all[d], A.over, problem.n, upper, team.by_planes);
        }
        if (solves) part.solve.carve(arena, A.over, problem.nrhs);
      }))
    return Status::success();
  handle.last_backend = CHOL_BACKEND_CUDA;
  const double n = static_cast<double>(problem.n), nrhs = static_cast<double>(problem.nrhs);
  double flops = 0;
  const Stopwatch watch;
  team.begin();
  if (info) {
    if (work.factor.group() > 0) {
      work.factor.diagonal.resize(static_cast<size_t>(problem.n));
      tile::read_diagonal(team.all, A, work.factor.diagonal.data());
      team.wait();
    }
    tile::factor(team.all, A, work.factor);
    team.wait();
    *info = tile::first_bad_minor(team.all);
    flops += n * n * n / 3;
  }
  if (solves && (!info || *info == 0)) {
    tile::FactorColumns<T> factor(A);
    tile::solve(team.all, factor, problem.nrhs, problem.B, problem.ldb, work.solve);
    flops += 2 * n * n * nrhs;
  }
  team.finish();
  print_cyclic_call(function, *handle.named_devices().front()->backend, team.all.size(),
                    problem.uplo, problem.n, problem.nb, watch.milliseconds(),
                    flop_factor<T> * flops);
  return Status::success();
}

}  // namespace

template <class T>
Status potrf_cyclic(Handle& handle, const char* function, const CyclicProblem<T>& problem,
                    int* info) {
  return run_cyclic(handle, function, problem, info, false);
}

template <class T>
Status potrs_cyclic(Handle& handle, const char* function, const CyclicProblem<T>& problem) {
  return run_cyclic(handle, function, problem, nullptr, true);
}

template <class T>
Status posv_cyclic(Handle& handle, const char* function, const CyclicProblem<T>& problem,
                   int* info) {
  return run_cyclic(handle, function, problem, info, true);
}

template <class T>
Status potri_cyclic(Handle& handle, const char* function, const CyclicProblem<T>& problem,
                    int* info) {
  Team<T> team(handle);
  const tile::CyclicMatrix<T> A = matrix_of(problem, static_cast<int>(team.all.size()));
  tile::PotriWorkspace<T> work;
  if (!team.take_workspace(handle, work, [&](auto& part, size_t d, Arena& arena) {
        part.carve(arena, *team.all[d], A.over);
      }))
    return Status::success();
  handle.last_backend = CHOL_BACKEND_CUDA;
  const Stopwatch watch;
  team.begin();
  std::vector<T> diagonal(static_cast<size_t>(problem.n));
  tile::read_diagonal(team.all, A, diagonal.data());
  team.wait();
  const auto zero = std::find(diagonal.begin(), diagonal.end(), T(0));
  *info = zero == diagonal.end() ? 0 : static_cast<int>(zero - diagonal.begin()) + 1;
  if (*info == 0 && problem.n > 0) tile::invert(team.all, A, work);
  team.finish();
  const double n = static_cast<double>(problem.n);
  print_cyclic_call(function, *handle.named_devices().front()->backend, team.all.size(),
                    problem.uplo, problem.n, problem.nb, watch.milliseconds(),
                    flop_factor<T> * 2 * n * n * n / 3);
  return Status::success();
}

template <class T>
Status logdet_cyclic(Handle& handle, const char*, const CyclicProblem<T>& problem,
                     RealOf<T>* logdet) {
  std::vector<T> diagonal(static_cast<size_t>(problem.n));
  const Status status = run_simple(handle, problem, [&](const auto& devices, const auto& A) {
    tile::read_diagonal(devices, A, diagonal.data());
  });
  if (!status.ok() || handle.workspace_need) return status;
  double sum = 0;
  for (const T& x : diagonal) sum += std::log(static_cast<double>(std::real(x)));
  *logdet = static_cast<RealOf<T>>(2 * sum);
  return status;
}

template <class T>
Status scatter_cyclic(Handle& handle, const char*, const CyclicProblem<T>& problem) {
  return run_simple(handle, problem, [&](const auto& devices, const auto& A) {
    tile::scatter(devices, A, {problem.B, problem.ldb, problem.uplo == CHOL_UPPER});
  });
}

template <class T>
Status gather_cyclic(Handle& handle, const char*, const CyclicProblem<T>& problem) {
  return run_simple(handle, problem, [&](const auto& devices, const auto& A) {
    tile::gather(devices, A, {problem.B, problem.ldb, problem.uplo == CHOL_UPPER});
  });
}

#define CHOL_INSTANTIATE(prefix, T, R)                                                  \
  template Status potrf_cyclic<T>(Handle&, const char*, const CyclicProblem<T>&, int*); \
  template Status potrs_cyclic<T>(Handle&, const char*, const CyclicProblem<T>&);       \
  template Status posv_cyclic<T>(Handle&, const char*, const CyclicProblem<T>&, int*);  \
  template Status potri_cyclic<T>(Handle&, const char*, const CyclicProblem<T>&, int*); \
  template Status logdet_cyclic<T>(Handle&, const char*, const CyclicProblem<T>&, R*);  \
  template Status scatter_cyclic<T>(Handle&, const char*, const CyclicProblem<T>&);     \
  template Status gather_cyclic<T>(Handle&, const char*, const CyclicProblem<T>&);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::routine
