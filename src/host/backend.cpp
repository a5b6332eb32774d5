#include "host/backend.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "host/batch/batched.hpp"
#include "host/batch/interleaved.hpp"
#include "host/blas/blas.hpp"
#include "host/dispatch.hpp"
#include "host/refinement.hpp"
#include "host/rows.hpp"
#include "host/single/resume.hpp"
#include "host/single/tile_size.hpp"
#include "host/threads/available_cores.hpp"
#include "host/threads/openmp_runtime.hpp"
#include "host/tile_ops.hpp"

namespace chol::host {
namespace {

class HostBackend final : public backend::Backend {
 public:
  HostBackend()
      : kernels_(KernelSet::of_this_machine()), name_(std::string("host ") + kernels_.isa()) {
    find_openmp_runtimes();
    const HostRows built_in = host_rows(kernels_.isa());
    // A row of a method that this build lacks is passed over: one that follows serves its orders.
    for (size_t i = 0; i < built_in.count; ++i)
      if (accepts(built_in.rows[i])) tuning_.load_rows(&built_in.rows[i], 1);
    const HostRates rates = host_rates(kernels_.isa());
    tuning_.load_rates(rates.rows, rates.count);
    const HostCores cores = host_cores(kernels_.isa());
    tuning_.load_cores(cores.rows, cores.count);
    const HostMixedRows mixed = host_mixed_rows();
    tuning_.load_mixed(mixed.rows, mixed.count);
  }
  const char* name() const override { return name_.c_str(); }
  chol_backend_t kind() const override { return CHOL_BACKEND_HOST; }
  TuningStore& tuning() override { return tuning_; }
  bool accepts(const TuningRow& row) const override;
  backend::Place place_of(const void*) const override { return backend::Place::host; }
  Status summarize_info(const int* info, int64_t batch, int64_t* failed, int64_t* first,
                        void*) override {
    *failed = batch - std::count(info, info + batch, 0);
    const int* const end = info + batch;
    const int* const found = std::find_if(info, end, [](int i) { return i != 0; });
    *first = found == end ? -1 : found - info;
    return Status::success();
  }
  void* allocate(size_t bytes) override {
    const size_t whole = (bytes + Arena::kAlignment - 1) / Arena::kAlignment * Arena::kAlignment;
    return std::aligned_alloc(Arena::kAlignment, whole);
  }
  void release(void* memory) override { std::free(memory); }
  int default_threads() const override { return host::default_threads(); }
  backend::SmallFactor small_factor(char precision) override;

#define CHOL_HOST_SOLVER(T)                                                                     \
  size_t workspace_bytes(const backend::Problem<T>& problem, const PlanTable& plans,            \
                         const backend::Resources& resources) const override {                  \
    if (is_partially_factored(problem))                                                         \
      return workspace_bytes(rest_of(problem), plans, resources);                               \
    const Kernels& kernels = kernels_.kernels<T>();                                             \
    PlanTable own;                                                                              \
    const PlanTable& chosen = with_tiles(problem, plans, resources.threads, own);               \
    if (problem.form == Form::interleaved)                                                      \
      return InterleavedBatch<T>(kernels, problem, plans, resources.threads).workspace_bytes(); \
    return Batch<T>(kernels, problem, chosen, resources.threads).workspace_bytes();             \
  }                                                                                             \
  Status run(const backend::Problem<T>& problem, const PlanTable& plans,                        \
             const backend::Resources& resources) override {                                    \
    if (is_partially_factored(problem)) return finish(problem, plans, resources);               \
    PlanTable own;                                                                              \
    const PlanTable& chosen = with_tiles(problem, plans, resources.threads, own);               \
    if (problem.form == Form::interleaved)                                                      \
      run_batch<InterleavedBatch<T>>(problem, plans, resources);                                \
    else                                                                                        \
      run_batch<Batch<T>>(problem, chosen, resources);                                          \
    return Status::success();                                                                   \
  }
#define CHOL_HOST_TILE_OPS(T)                                                            \
  std::unique_ptr<backend::TileOps<T>> tile_ops(const T*, int threads, void*) override { \
    return make_tile_ops<T>(*this, threads);                                             \
  }
  CHOL_HOST_TILE_OPS(float)
  CHOL_HOST_TILE_OPS(double)
  CHOL_HOST_TILE_OPS(std::complex<float>)
  CHOL_HOST_TILE_OPS(std::complex<double>)
#undef CHOL_HOST_TILE_OPS
#define CHOL_HOST_REFINEMENT(T)                                                                \
  std::unique_ptr<backend::Refinement<T>> refinement(const T* type, int threads, void* stream, \
                                                     int64_t n, Arena& arena) override {       \
    return make_refinement<T>(tile_ops(type, threads, stream), n, arena);                      \
  }
  CHOL_HOST_REFINEMENT(double)
  CHOL_HOST_REFINEMENT(std::complex<double>)
#undef CHOL_HOST_REFINEMENT
  CHOL_HOST_SOLVER(float)
  CHOL_HOST_SOLVER(double)
  CHOL_HOST_SOLVER(std::complex<float>)
  CHOL_HOST_SOLVER(std::complex<double>)
#undef CHOL_HOST_SOLVER

 private:
  /// Tiles that a plan leaves to the model get their size for this problem.
  /// @param own holds the plan then
  template <class T>
  const PlanTable& with_tiles(const backend::Problem<T>& problem, const PlanTable& plans,
                              int threads, PlanTable& own) const {
    if (problem.form != Form::one) return plans;
    Plan plan = plans.plan_for(problem.sizes.n);
    const CoreRow* const core = tuning_.core(precision_letter<T>);
    if (plan.method != Method::tiles || plan.block != 0 || !core) return plans;
    const TileMachine machine =
        tile_machine(core->core_gflops, core->memory_gbytes, sizeof(T), is_complex<T>);
    plan.block = choose_tile(machine, problem.sizes.n, threads);
    own.add(INT64_MAX, plan);
    return own;
  }
  template <class SomeBatch, class T>
  void run_batch(const backend::Problem<T>& problem, const PlanTable& plans,
                 const backend::Resources& resources) const {
    const CallScope scope(resources.threads_are_default);
    const Kernels& kernels = kernels_.kernels<T>();
    if constexpr (std::is_same_v<SomeBatch, InterleavedBatch<T>>)
      SomeBatch(kernels, problem, plans, resources.threads, resources.math_mode)
          .run(resources.workspace);
    else
      SomeBatch(kernels, problem, plans, resources.threads).run(resources.workspace);
    if (resources.threads_used) *resources.threads_used = scope.workers();
  }

  /// The columns that a problem came without.
  template <class T>
  Status finish(const backend::Problem<T>& problem, const PlanTable& plans,
                const backend::Resources& resources) {
    {
      const CallScope scope(resources.threads_are_default);
      update_trailing_matrix(problem, resources.threads);
    }
    const backend::Problem<T> rest = rest_of(problem);
    const Status status = run(rest, plans, resources);
    if (*problem.info > 0) *problem.info += static_cast<int>(*problem.factored);
    *problem.factored = problem.sizes.n;
    return status;
  }

  const KernelSet& kernels_;
  std::string name_;
  TuningStore tuning_;
};

/// Lanes: tile is the edge of a register tile of potrf, 0 for what suits the order.
bool accepts_interleaved(const TuningRow& row) {
  const Plan& plan = row.plan;
  if (plan.block != 0) return false;
  if (plan.method == Method::panel)
    return plan.tile == 0 || row.routine == Routine::potrs || row.routine == Routine::posv;
  const bool tile = plan.tile == 0 || (row.routine == Routine::potrf && plan.tile <= 4);
  // A packed triangle of a larger order would leave the caches that lanes live by.
  return plan.method == Method::lanes && tile && plan.tile != 1 && row.max_n <= kMostLaneOrder &&
         row.routine <= Routine::potri;
}

bool HostBackend::accepts(const TuningRow& row) const {
  const Plan& plan = row.plan;
  if (plan.block < 0 || plan.tile < 0 || plan.threads != 0) return false;
  if (row.form == Form::interleaved) return accepts_interleaved(row);
  if (row.routine == Routine::pack || row.routine == Routine::unpack) return false;
  const bool solves = row.routine == Routine::potrs || row.routine == Routine::posv;
  const bool factors = row.routine == Routine::potrf || row.routine == Routine::posv;
  const bool lane_groups = plan.method == Method::lanes && row.routine == Routine::potrf;
  if (plan.tile != 0 && !lane_groups && !solves) return false;
  switch (plan.method) {
    case Method::lanes:
      // A lane buffer of a larger order would leave the caches that lanes live by.
      return row.form == Form::batch && row.max_n <= kMostLaneOrder &&
             row.routine != Routine::logdet;
    case Method::panel:
      return plan.block == 0;
    case Method::blas_tiles:
      return plan.block >= 16 && blas_tile_product(row.precision) && factors;
    case Method::tiles:
      // 0: what the order, the threads and the machine ask for.
      if (plan.block == 0) return factors && row.form == Form::one;
      return plan.block >= 16 && (factors || row.routine == Routine::potri);
    default:
      return false;
  }
}

/// The orders that go by panels up to the first one that does not: the kernel does as they do.
backend::SmallFactor HostBackend::small_factor(char precision) {
  int64_t most = 0;
  bool by_panel = true;
  tuning_.plans(Routine::potrf, Form::one, precision)
      .for_each_up_to(kMostSmallOrder, [&](const Plan& plan, int64_t n) {
        by_panel = by_panel && plan.method == Method::panel;
        if (by_panel) most = n;
      });
  return {most, kernels_.kernels(precision).factor_small};
}

}  // namespace

backend::Backend* open(Status& status) {
  auto* made = new (std::nothrow) HostBackend;
  if (!made) status = Status::error(CHOL_STATUS_ALLOC_FAILED, "host backend: out of memory");
  return made;
}

}  // namespace chol::host
