#include "routine/host_on_devices.hpp"

#include <cmath>

#include "base/precisions.h"
#include "routine/team.hpp"
#include "routine/trace.hpp"
#include "tile/host_matrix.hpp"
#include "tile/potrs.hpp"

namespace chol::routine {
namespace {

using backend::Problem;

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
    const tile::HostPlan plan = tile::plan_host_matrix(team_.all, team_.available(), n_, upper_);
    if (!plan)
      throw StatusError(Status::error(CHOL_STATUS_ALLOC_FAILED,
                                      "the devices' memory does not hold panels of the matrix"));
    tile::HostWorkspace<T> work;
    const auto carve = [&](auto& part, size_t d, Arena& arena) {
      part.carve(arena, *team_.all[d], devices(), n_, plan, upper_);
    };
    if (!team_.take_workspace(handle_, work, carve)) return;
    const Stopwatch watch;
    team_.begin();
    int64_t moved = 0;
    *info = tile::factor_host_matrix(team_.all, whole(), n_, plan, work, &moved);
    team_.finish();
    team_.give_back();
    const double n = static_cast<double>(n_);
    print_cyclic_call(function_, device(), team_.all.size(), problem_.uplo, n_, plan.nb,
                      watch.milliseconds(), flop_factor<T> * n * n * n / 3);
    print_traffic(sizeof(T) * static_cast<double>(moved), sizeof(T) * least_traffic(plan));
  }

  void potrs() {
    const int64_t nrhs = problem_.sizes.nrhs;
    if (n_ == 0 || nrhs == 0) return;
    tile::CyclicMatrix<T> A;
    A.over = {n_, block_columns(), devices()};
    A.by_rows = upper_;
    tile::PotrsWorkspace<T> work;
    const auto carve = [&](auto& part, size_t d, Arena& arena) {
      T* const memory =
          arena.take<T>(static_cast<size_t>(n_ * A.over.columns_of(static_cast<int>(d))));
      if (memory) A.local.push_back({memory, n_, upper_});
      part.carve(arena, A.over, nrhs);
    };
    if (!team_.take_workspace(handle_, work, carve)) return;
    const Stopwatch watch;
    team_.begin();
    for (int64_t k = 0; k < A.over.blocks(); ++k) load_block(A, k);
    team_.wait();
    tile::solve(team_.all, A, nrhs, problem_.B.first, problem_.B.ld, work);
    team_.finish();
    team_.give_back();
    const double n = static_cast<double>(n_);
    print_cyclic_call(function_, device(), team_.all.size(), problem_.uplo, n_, A.over.nb,
                      watch.milliseconds(), flop_factor<T> * 2 * n * n * static_cast<double>(nrhs));
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
  /// Of a solve, which has little to do for each block.
  int64_t block_columns() const {
    constexpr int64_t kLeast = 64, kMost = 512;
    return std::clamp(n_ / (4 * devices()) / kLeast * kLeast, kLeast, kMost);
  }
  /// A block column of the factor, with the whole of its diagonal block.
  void load_block(const tile::CyclicMatrix<T>& A, int64_t k) {
    const int64_t first = A.over.start(k), end = A.over.end(k), width = end - first;
    backend::PanelOps<T>& owner = *team_.all[static_cast<size_t>(A.over.owner(k))];
    if (upper_)
      owner.copy(backend::Queue::load, A.at(first, 0), whole().at(first, 0), width, end);
    else
      owner.copy(backend::Queue::load, A.at(first, first), whole().at(first, first), n_ - first,
                 width);
  }
  /// Elements that any schedule moves: the triangle there and back, and n^3 / (3 sqrt(M)) where the
  /// memory of one device, M elements, holds no more than a part of it.
  double least_traffic(const tile::HostPlan& plan) const {
    const double n = static_cast<double>(n_), triangle = n * n;
    if (plan.blocks * plan.nb >= n_) return triangle;
    const auto bytes = team_.available();
    const double M = static_cast<double>(*std::max_element(bytes.begin(), bytes.end())) / sizeof(T);
    return std::max(triangle, n * n * n / (3 * std::sqrt(M)));
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
         routine == Routine::logdet;
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
    case Routine::posv:
      call.potrf(problem.info);
      if (handle.workspace_need || *problem.info == 0) call.potrs();
      break;
    default:
      if (!handle.workspace_need) call.logdet();
  }
  return Status::success();
}

#define CHOL_INSTANTIATE(prefix, T, R) \
  template Status run_host_on_devices<T>(Handle&, const char*, const Problem<T>&);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::routine
