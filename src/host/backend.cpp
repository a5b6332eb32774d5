#include "host/backend.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "base/threads/available_cores.hpp"
#include "base/threads/openmp_runtime.hpp"
#include "host/batch/batched.hpp"
#include "host/batch/interleaved.hpp"
#include "host/blas/blas.hpp"
#include "host/dispatch.hpp"
#include "host/methods.hpp"
#include "host/refinement.hpp"
#include "host/rows.hpp"
#include "host/single/resume.hpp"
#include "host/single/tile_size.hpp"
#include "host/tile_ops.hpp"

namespace chol::host {
namespace {

class HostBackend final : public backend::Backend {
 public:
  HostBackend()
      : kernels_(KernelSet::of_this_machine()), name_(std::string("host ") + kernels_.isa()) {
    find_openmp_runtimes();
    for (const Row& row : host_rows(kernels_.isa()))
      if (accepts(row)) tuning_.load_row(row);
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
  std::span<const MethodInfo* const> methods() const override { return kMethods; }
  bool accepts(const Row& row) const override {
    return host::accepts(row, blas_tile_product(row.precision) != nullptr);
  }
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
  int default_threads() const override { return chol::default_threads(); }
  backend::SmallFactor small_factor(char precision) override;

#define CHOL_HOST_SOLVER(T)                                                        \
  size_t workspace_bytes(const backend::Problem<T>& problem, const RowTable& rows, \
                         const backend::Resources& resources) const override {     \
    return workspace_of(problem, rows, resources);                                 \
  }                                                                                \
  Status run(const backend::Problem<T>& problem, const RowTable& rows,             \
             const backend::Resources& resources) override {                       \
    return run_call(problem, rows, resources);                                     \
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
  template <class T>
  size_t workspace_of(const backend::Problem<T>& problem, const RowTable& rows,
                      const backend::Resources& resources) const {
    if (is_partially_factored(problem)) return workspace_of(rest_of(problem), rows, resources);
    const Kernels& kernels = kernels_.kernels<T>();
    if (problem.form == Form::interleaved)
      return InterleavedBatch<T>(kernels, problem, rows, resources.threads).workspace_bytes();
    RowTable own;
    const RowTable& chosen = with_tiles(problem, rows, resources.threads, own);
    return Batch<T>(kernels, problem, chosen, resources.threads).workspace_bytes();
  }
  template <class T>
  Status run_call(const backend::Problem<T>& problem, const RowTable& rows,
                  const backend::Resources& resources) {
    if (is_partially_factored(problem)) return finish(problem, rows, resources);
    const CallScope scope(resources.threads_are_default);
    const Kernels& kernels = kernels_.kernels<T>();
    RowTable own;
    const RowTable& chosen = with_tiles(problem, rows, resources.threads, own);
    if (problem.form == Form::interleaved)
      InterleavedBatch<T>(kernels, problem, rows, resources.threads, resources.math_mode)
          .run(resources.workspace);
    else
      Batch<T>(kernels, problem, chosen, resources.threads).run(resources.workspace);
    if (resources.threads_used) *resources.threads_used = scope.workers();
    if (resources.method_used) note_method(chosen.choose(largest_case(problem)), resources);
    return Status::success();
  }
  /// Reports to the trace what ran.
  static void note_method(const Choice& choice, const backend::Resources& resources) {
    thread_local char text[160];
    print_choice(text, sizeof text, choice);
    *resources.method_used = text;
  }

  /// A tile size of 0 in a row is replaced by the model's for this problem.
  /// @param own holds the choice then
  template <class T>
  const RowTable& with_tiles(const backend::Problem<T>& problem, const RowTable& rows, int threads,
                             RowTable& own) const {
    const bool factors = problem.routine == Routine::potrf || problem.routine == Routine::posv;
    if (problem.form != Form::one || !factors) return rows;
    const Choice& choice = rows.choose(largest_case(problem));
    const CoreRow* const core = tuning_.core(precision_letter<T>);
    if (!choice.is(kTiles) || tile_order(choice) != 0 || !core) return rows;
    const TileMachine machine =
        tile_machine(core->core_gflops, core->memory_gbytes, sizeof(T), is_complex<T>);
    Choice sized = choice;
    sized.values[kTileOrder] = choose_tile(machine, problem.sizes.n, threads);
    own = RowTable(sized);
    return own;
  }

  /// The number of columns that are not yet factored on entry.
  template <class T>
  Status finish(const backend::Problem<T>& problem, const RowTable& rows,
                const backend::Resources& resources) {
    {
      const CallScope scope(resources.threads_are_default);
      update_trailing_matrix(problem, resources.threads);
    }
    const backend::Problem<T> rest = rest_of(problem);
    const Status status = run_call(rest, rows, resources);
    if (*problem.info > 0) *problem.info += static_cast<int>(*problem.factored);
    *problem.factored = problem.sizes.n;
    return status;
  }

  const KernelSet& kernels_;
  std::string name_;
  TuningStore tuning_;
};

/// Orders up to the first one for which the rows choose another method: the small kernel computes
/// as the panel kernels do.
backend::SmallFactor HostBackend::small_factor(char precision) {
  const RowTable& rows = tuning_.rows(Routine::potrf, Form::one, precision);
  Case asked{Routine::potrf, Form::one, precision};
  asked.batch = 1;
  const auto is_by_panel = [&](int64_t n) {
    asked.n = n;
    return rows.choose(asked).is(kPanel);
  };
  int64_t most = 0;
  while (most < kMostSmallOrder && is_by_panel(most + 1)) ++most;
  return {most, kernels_.kernels(precision).factor_small};
}

}  // namespace

backend::Backend* open(Status& status) {
  auto* made = new (std::nothrow) HostBackend;
  if (!made) status = Status::error(CHOL_STATUS_ALLOC_FAILED, "host backend: out of memory");
  return made;
}

}  // namespace chol::host
