// chol::backend::Backend over the kernels of this folder.
#include <cuda_runtime.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string_view>

#include "backend.hpp"
#include "call_workspace.hpp"
#include "host/threads/available_cores.hpp"
#include "interleaved/problem.hpp"
#include "interleaved/via_column_major.hpp"
#include "multi/panel_ops.hpp"
#include "native/host_matrix.hpp"
#include "native/refinement/refinement.hpp"
#include "tlr/tile_ops.hpp"
#include "tune/cluster_rows.hpp"
#include "tune/method_list.hpp"
#include "tune/methods.hpp"
#include "tune/rows.hpp"
#include "tune/solve_rows.hpp"

namespace chol::cuda {
namespace {

using backend::Chosen;
using backend::Place;
using backend::Problem;
using backend::Resources;

/// Positions of the arrays of a variable batch in its C function (handle is the first argument).
VariablePositions positions_of(Routine routine) {
  if (has_rhs(routine)) return {5, 6, 7, 8, 9, 10};
  return {4, 0, 5, 6, 0, 0};
}

/// What ran of an interleaved call: the method of each step and, of slices, theirs.
class Trace {
 public:
  void add(const Choice& choice, const char* of_slices) {
    char own[160];
    print_choice(own, sizeof own, choice);
    const size_t used = std::strlen(text_);
    std::snprintf(text_ + used, sizeof text_ - used, "%s%s%s%s", used ? "+" : "", own,
                  *of_slices ? ":" : "", of_slices);
  }
  /// Until the thread's next call.
  const char* text() const {
    thread_local char kept[sizeof text_];
    std::memcpy(kept, text_, sizeof text_);
    return kept;
  }

 private:
  char text_[360] = "";
};

/// The bounds of a variable batch are unknown: the arrays have to be read before all else.
bool needs_bounds(const BatchSizes& sizes) {
  return sizes.variable() && (sizes.n == 0 || (sizes.rhs_counts && sizes.nrhs == 0));
}

/// Kernels count rows in int, and a multiple of them.
Status check_order(int64_t n) {
  if (n <= INT_MAX / 2) return Status::success();
  return Status::error(CHOL_STATUS_NOT_SUPPORTED, "n = %lld, must be below 2^30 on a CUDA device",
                       static_cast<long long>(n));
}

bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) != cudaSuccess) cudaGetLastError();
  return status != cudaStreamCaptureStatusNone;
}

class CudaBackend final : public backend::Backend {
 public:
  CudaBackend(int device, const cudaDeviceProp& properties)
      : device_(device),
        multiprocessors_(properties.multiProcessorCount),
        tile_store_(device),
        queues_(device) {
    std::snprintf(name_, sizeof name_, "cuda %s", properties.name);
    tuning_.load_rows(
        built_in_rows(10 * properties.major + properties.minor, properties.multiProcessorCount));
    size_t count = 0;
    const RateRow* rates = built_in_rates(10 * properties.major + properties.minor, &count);
    tuning_.load_rates(rates, count);
    const ResidueRow* residues =
        built_in_residues(10 * properties.major + properties.minor, &count);
    tuning_.load_residues(residues, count);
    const MixedRow* mixed = built_in_mixed(&count);
    tuning_.load_mixed(mixed, count);
  }

  const char* name() const override { return name_; }
  chol_backend_t kind() const override { return CHOL_BACKEND_CUDA; }
  TuningStore& tuning() override { return tuning_; }
  /// They copy host matrices to and from pinned memory.
  int default_threads() const override { return host::default_threads(); }

  std::span<const MethodInfo* const> methods() const override { return kMethods; }
  bool accepts(const Row& row) const override {
    switch (row.precision) {
      case 's':
        return accepts_row<float>(row);
      case 'd':
        return accepts_row<double>(row);
      case 'c':
        return accepts_row<Complex<float>>(row);
      default:
        return accepts_row<Complex<double>>(row);
    }
  }

  int device() const override { return device_; }
  Place place_of(const void* array) const override {
    cudaPointerAttributes attributes{};
    if (cudaPointerGetAttributes(&attributes, array) != cudaSuccess) {
      cudaGetLastError();
      return Place::host;
    }
    if (attributes.type == cudaMemoryTypeManaged) return Place::device;
    return attributes.type == cudaMemoryTypeDevice ? Place(Place::device, attributes.device)
                                                   : Place::host;
  }

  Status summarize_info(const int* info, int64_t batch, int64_t* failed, int64_t* first,
                        void* stream) override {
    for (const void* result : {failed, first}) {
      cudaPointerAttributes attributes{};
      if (cudaPointerGetAttributes(&attributes, result) != cudaSuccess) cudaGetLastError();
      if (attributes.type == cudaMemoryTypeUnregistered)
        return Status::error(
            CHOL_STATUS_INVALID_VALUE,
            "chol_info_summary: %s lies in pageable host memory, must lie in device "
            "or pinned host memory while info lies in device memory",
            result == failed ? "failed" : "first");
    }
    const DeviceGuard guard(device_);
    return summarize(info, batch, failed, first, static_cast<cudaStream_t>(stream));
  }

  void* allocate(size_t bytes) override {
    const DeviceGuard guard(device_);
    void* memory = nullptr;
    if (cudaMalloc(&memory, bytes) == cudaSuccess) return memory;
    cudaGetLastError();
    return nullptr;
  }
  void release(void* memory) override {
    const DeviceGuard guard(device_);
    cudaFree(memory);
  }

#define CHOL_SOLVER(T)                                                                    \
  size_t workspace_bytes(const Problem<T>& problem, const RowTable& rows,                 \
                         const Resources& resources) const override {                     \
    return workspace_of(problem, rows, resources);                                        \
  }                                                                                       \
  Status run(const Problem<T>& problem, const RowTable& rows, const Resources& resources) \
      override {                                                                          \
    return run_call(problem, rows, resources);                                            \
  }                                                                                       \
  Chosen choose(const Problem<T>& problem, const RowTable& rows) const override {         \
    return look_up(problem, rows);                                                        \
  }
  CHOL_SOLVER(float)
  CHOL_SOLVER(double)
  CHOL_SOLVER(std::complex<float>)
  CHOL_SOLVER(std::complex<double>)
#undef CHOL_SOLVER

#define CHOL_CUDA_REFINEMENT(T)                                                              \
  std::unique_ptr<backend::Refinement<T>> refinement(const T*, int, void* stream, int64_t n, \
                                                     Arena& arena) override {                \
    return make_refinement<T>(device_, blas_, static_cast<cudaStream_t>(stream), n, arena);  \
  }
  CHOL_CUDA_REFINEMENT(double)
  CHOL_CUDA_REFINEMENT(std::complex<double>)
#undef CHOL_CUDA_REFINEMENT

#define CHOL_TILE_OPS(T)                                                                          \
  std::unique_ptr<backend::TileOps<T>> tile_ops(const T*, int threads, void* stream) override {   \
    return tlr::make_tile_ops<T>(*this, tile_store_, threads, static_cast<cudaStream_t>(stream)); \
  }
  CHOL_TILE_OPS(float)
  CHOL_TILE_OPS(double)
  CHOL_TILE_OPS(std::complex<float>)
  CHOL_TILE_OPS(std::complex<double>)
#undef CHOL_TILE_OPS

#define CHOL_PANEL_OPS(T)                                                                \
  std::shared_ptr<backend::PanelOps<T>> panel_ops(const T*, void* stream) override {     \
    const Choice& choice = largest_one<T>();                                             \
    return multi::make_panel_ops<T>(queues_, choice, static_cast<cudaStream_t>(stream)); \
  }
  CHOL_PANEL_OPS(float)
  CHOL_PANEL_OPS(double)
  CHOL_PANEL_OPS(std::complex<float>)
  CHOL_PANEL_OPS(std::complex<double>)
#undef CHOL_PANEL_OPS

 private:
  template <class D>
  bool accepts_row(const Row& row) const {
    const DeviceGuard guard(device_);
    const Choice& choice = row.choice;
    const int64_t n = row.cases.n.most;
    if (row.form == Form::interleaved) return accepts_interleaved<D>(row);
    if (!is_native(choice)) return cuda::accepts<D>(row);
    if (row.form != Form::one) return false;
    if (choice.is(kInPlaceInverse)) return row.routine == Routine::potri;
    if (solves_one(choice))
      return row.routine == Routine::potrs &&
             (choice.is(kCublasSolve) ||
              (solve::Params::of(choice).is_valid() && solve::can_run<D>()));
    const native::Case asked{row.routine, row.precision, false, n, 1};
    return (row.routine == Routine::potrf || row.routine == Routine::posv) &&
           native::method_of<D>(*choice.method).accepts(asked, native::Params::of(choice));
  }

  template <class T>
  const RowTable& rows_of(Routine routine, Form form) const {
    return tuning_.rows(routine, form, precision_letter<T>);
  }
  /// What serves one matrix as large as there is.
  template <class T>
  const Choice& largest_one() const {
    Case asked{Routine::potrf, Form::one, precision_letter<T>};
    asked.n = INT64_MAX;
    return rows_of<T>(asked.routine, asked.form).choose(asked);
  }
  /// What a problem has of these rows; of potrs of batches solve_choice() asks the methods too.
  template <class T>
  const Choice& choice_of(const Problem<T>& problem, const RowTable& rows) const {
    const BatchSizes& sizes = problem.sizes;
    Case asked{problem.routine, problem.form, precision_letter<T>};
    asked.upper = problem.uplo == CHOL_UPPER;
    asked.variable = sizes.variable();
    asked.n = sizes.n;
    asked.nrhs = sizes.nrhs;
    asked.batch = sizes.count;
    const auto accepts = [&](const Choice& choice) {
      if (!choice.is(kPersistentPotrf) || problem.form == Form::one) return true;
      const DeviceGuard guard(device_);
      return persistent::factors_whole<Device<T>>(sizes.n, problem.A.ld);
    };
    const Choice* const choice = rows.choose(asked, accepts);
    return choice ? *choice : rows.choose(asked);
  }
  template <class T>
  const Choice& choice_of(Problem<T> problem, Routine routine) const {
    problem.routine = routine;
    return choice_of(problem, rows_of<T>(routine, problem.form));
  }
  template <class T>
  Chosen look_up(const Problem<T>& problem, const RowTable& rows) const {
    if (problem.form != Form::interleaved && needs_bounds(problem.sizes)) return {};
    const Choice& choice = choice_of(problem, rows);
    if (choice.is(kInterleavedTwoSteps))
      return {&choice_of(problem, Routine::potrf), &choice_of(problem, Routine::potrs)};
    const bool solves = problem.routine == Routine::posv && problem.form == Form::one;
    return {&choice, solves ? &choice_of(problem, Routine::potrs) : nullptr};
  }
  /// What was chosen before, or is now.
  template <class T>
  Chosen chosen_of(const Problem<T>& problem, const RowTable& rows,
                   const Resources& resources) const {
    return resources.chosen.choice ? resources.chosen : look_up(problem, rows);
  }

  /// How one matrix is factored with its products on integer tensor cores, if it is.
  template <class T>
  std::optional<ResidueRow> residues_of(const Problem<T>& problem,
                                        const Resources& resources) const {
    const int64_t n = problem.sizes.n;
    if (resources.math_mode != CHOL_MATH_TENSOR || problem.form != Form::one || problem.factored ||
        (problem.routine != Routine::potrf && problem.routine != Routine::posv) ||
        problem.A.ld >= persistent::kLargestDimension<Device<T>>)
      return {};
    const ResidueRow* const row = tuning_.residues(precision_letter<T>, n);
    const DeviceGuard guard(device_);
    if (!row || !residues::can_run<Device<T>>(n)) return {};
    ResidueRow result = *row;
    if (resources.moduli > 0) result.moduli = resources.moduli;
    return result;
  }

  template <class T>
  size_t workspace_of(const Problem<T>& problem, const RowTable& rows,
                      const Resources& resources) const {
    if (problem.form == Form::interleaved)
      return side_by_side_workspace(problem, chosen_of(problem, rows, resources));
    if (problem.factored) {
      Arena arena;
      HostMatrixWorkspace<Device<T>>::carve(arena, problem.sizes.n);
      return arena.used();
    }
    // The rest is allocated on the stream, once they are read.
    if (needs_bounds(problem.sizes)) return 2 * Arena::kAlignment;
    const DeviceGuard guard(device_);
    Arena arena;
    carve(arena, problem, chosen_of(problem, rows, resources), residues_of(problem, resources));
    return arena.used();
  }

  template <class T>
  Status run_call(const Problem<T>& problem, const RowTable& rows, const Resources& resources) {
    const DeviceGuard guard(device_);
    if (problem.factored) return run_host_matrix(problem, rows, resources);
    if (needs_bounds(problem.sizes) && problem.form != Form::interleaved)
      return run_unbounded(problem, rows, resources);
    const Chosen chosen = chosen_of(problem, rows, resources);
    return problem.form == Form::interleaved ? run_side_by_side(problem, chosen, resources)
                                             : run_bounded(problem, chosen, resources);
  }

  template <class T>
  Status run_host_matrix(const Problem<T>& problem, const RowTable& rows,
                         const Resources& resources) {
    const int64_t n = problem.sizes.n;
    if (Status status = check_order(n); !status.ok()) return status;
    Arena arena(resources.workspace, resources.workspace_bytes);
    const auto work = HostMatrixWorkspace<Device<T>>::carve(arena, n);
    const Choice& choice = *chosen_of(problem, rows, resources).choice;
    const HostMatrixThreads threads{native::Params::of(choice).leaf_threads, resources.threads};
    const TriangleView A{reinterpret_cast<char*>(problem.A.first), sizeof(T), n, problem.A.ld,
                         problem.uplo == CHOL_UPPER};
    return factor_host_matrix(A, threads, work, blas_, staging_, problem.info, problem.factored);
  }

  /// Calls body(problem, choice) for the routines that an interleaved call consists of.
  template <class T, class Body>
  static Status over_steps(const Problem<T>& problem, const Chosen& chosen, Body&& body) {
    if (!chosen.solution) return body(problem, *chosen.choice);
    Problem<T> step = problem;
    step.routine = Routine::potrf;
    step.sizes.nrhs = 0;
    const Status status = body(step, *chosen.choice);
    if (!status.ok()) return status;
    step = problem;
    step.routine = Routine::potrs;
    return body(step, *chosen.solution);
  }
  template <class T>
  size_t side_by_side_workspace(const Problem<T>& problem, const Chosen& chosen) const {
    size_t bytes = 0;
    over_steps(problem, chosen, [&](const Problem<T>& step, const Choice& choice) {
      if (!in_slices(step, choice)) return Status::success();
      Arena arena;
      const Slices<T> slices(arena, step);
      const auto columns = slices.columns(0, slices.most());
      bytes = std::max(
          bytes,
          arena.used() + workspace_of(columns, rows_of<T>(step.routine, Form::batch), Resources{}));
      return Status::success();
    });
    return bytes;
  }

  /// Interleaved batches.
  template <class T>
  Status run_side_by_side(const Problem<T>& problem, const Chosen& chosen,
                          const Resources& resources) {
    const auto stream = static_cast<cudaStream_t>(resources.stream);
    if (Status status = check_order(problem.sizes.n); !status.ok()) return status;
    const bool packs = problem.routine == Routine::pack || problem.routine == Routine::unpack;
    Trace trace;
    const Status status = over_steps(problem, chosen, [&](const Problem<T>& step, Choice choice) {
      const bool sliced = in_slices(step, choice);
      const Status its = packs    ? copy_interleaved(step, stream)
                         : sliced ? run_in_slices(step, resources)
                                  : run_in_place(step, choice, stream);
      if (resources.method_used) trace.add(choice, sliced ? *resources.method_used : "");
      return its;
    });
    if (resources.method_used) *resources.method_used = trace.text();
    return status;
  }
  template <class T>
  Status run_in_slices(const Problem<T>& problem, const Resources& resources) {
    const bool factors = problem.routine != Routine::potrs;
    const bool solves = problem.sizes.nrhs > 0;
    if (!factors && !solves) return Status::success();
    const auto stream = static_cast<cudaStream_t>(resources.stream);
    Arena arena(resources.workspace, resources.workspace_bytes);
    const Slices<T> slices(arena, problem);
    Resources left = resources;
    left.workspace = static_cast<char*>(resources.workspace) + arena.used();
    left.workspace_bytes = resources.workspace_bytes - arena.used();
    const RowTable& rows = rows_of<T>(problem.routine, Form::batch);
    Status status = Status::success();
    int64_t count = 0;
    for (int64_t first = 0; first < problem.sizes.count && status.ok(); first += count) {
      count = slices.count(first);
      const Problem<T> columns = slices.columns(first, count);
      const auto copy = [&](Routine routine, bool wanted, bool of_B) {
        if (status.ok() && wanted)
          status = copy_interleaved(slices.copy(routine, of_B, first, columns), stream);
      };
      copy(Routine::unpack, true, false);
      copy(Routine::unpack, solves, true);
      if (status.ok()) status = run_bounded(columns, look_up(columns, rows), left);
      copy(Routine::pack, factors, false);
      copy(Routine::pack, solves, true);
    }
    return status;
  }
  /// Reads the bounds of a variable batch, the one case that waits for the stream.
  template <class T>
  Status run_unbounded(Problem<T> problem, const RowTable& rows, Resources resources) {
    const auto stream = static_cast<cudaStream_t>(resources.stream);
    BatchSizes& sizes = problem.sizes;
    Arena arena(resources.workspace, resources.workspace_bytes);
    int64_t* const largest = arena.take<int64_t>(2);
    int64_t bounds[2] = {0, 0};
    Status status = largest_value(sizes.orders, sizes.count, largest, stream);
    if (status.ok() && sizes.rhs_counts)
      status = largest_value(sizes.rhs_counts, sizes.count, largest + 1, stream);
    if (status.ok())
      status =
          status_of(cudaMemcpyAsync(bounds, largest, sizeof(int64_t) * (sizes.rhs_counts ? 2 : 1),
                                    cudaMemcpyDeviceToHost, stream),
                    "bounds of a variable batch");
    if (status.ok())
      status = status_of(cudaStreamSynchronize(stream), "bounds of a variable batch");
    if (!status.ok()) return status;
    if (sizes.n == 0) sizes.n = bounds[0];
    if (sizes.nrhs == 0) sizes.nrhs = bounds[1];

    Arena counted;
    const Chosen chosen = look_up(problem, rows);
    carve(counted, problem, chosen);
    status = status_of(
        cudaMallocAsync(&resources.workspace, std::max<size_t>(counted.used(), 1), stream),
        "workspace");
    if (!status.ok()) return status;
    resources.workspace_bytes = counted.used();
    status = run_bounded(problem, chosen, resources);
    const Status freed = status_of(cudaFreeAsync(resources.workspace, stream), "workspace");
    return status.ok() ? freed : status;
  }

  template <class T>
  Status run_bounded(const Problem<T>& problem, const Chosen& chosen, const Resources& resources) {
    using D = Device<T>;
    const auto stream = static_cast<cudaStream_t>(resources.stream);
    const BatchSizes& sizes = problem.sizes;
    if (Status status = check_order(sizes.n); !status.ok()) return status;
    const Choice& choice = *chosen.choice;
    Arena arena(resources.workspace, resources.workspace_bytes);
    const std::optional<ResidueRow> residues = residues_of(problem, resources);
    CallWorkspace<D> work = carve(arena, problem, chosen, residues);
    if (resources.method_used) note_choice(resources, choice);
    if (residues) {
      work.one.progress = &progress_;
      work.one.residues.in_capture = is_captured(stream);
      if (resources.method_used) note_residues(resources, work.one.residues);
    }

    BatchProblem<D> call;
    call.A = device_view(problem.A);
    call.B = device_view(problem.B);
    call.count = sizes.count;
    call.n = sizes.n;
    call.nrhs = sizes.nrhs;
    call.info = problem.info;
    call.swapped = problem.uplo == CHOL_UPPER;
    if (sizes.variable()) {
      const Status status = settle_variable(problem, choice, work, call, stream);
      if (!status.ok()) return status;
    }
    auto* const result = problem.result;
    if (problem.routine == Routine::pocon)
      return estimate_condition(call, solve_choice(call, 1, solve_rows_of_pocon(kLetter<D>)),
                                work.condition, problem.anorm, result, stream);
    if (problem.routine == Routine::logdet) return log_determinants(call, result, stream);
    return is_native(choice) ? run_one(problem, call, chosen, work.one, stream)
                             : run_batch(problem, call, choice, work.batch, resources);
  }

  const DeviceLimits& limits() {
    std::call_once(limits_known_, [&] { limits_ = current_device_limits(); });
    return limits_;
  }
  /// What solves with the factors of a call.
  template <class D>
  SolveChoice solve_choice(const BatchProblem<D>& call, const RowTable& rows) {
    return choose_solve<D>(case_of(call, Routine::potrs), rows, limits());
  }
  /// The same for so many right-hand sides, by rows that no file changes.
  template <class D>
  SolveChoice solve_choice(const BatchProblem<D>& call, int64_t nrhs, const SolveRows& rows) {
    Case asked = case_of(call, Routine::potrs);
    asked.nrhs = nrhs;
    return choose_solve<D>(asked, rows, limits());
  }
  /// The same for the second half of a posv.
  template <class T, class D>
  SolveChoice second_choice(const Problem<T>& problem, const BatchProblem<D>& call) {
    if (call.n <= kWarpSolveOrder)
      return solve_choice(call, call.nrhs, solve_rows_of_posv(kLetter<D>));
    return solve_choice(call, rows_of<T>(Routine::potrs, problem.form));
  }
  /// Tells the trace what runs.
  static void note_method(const Resources& resources, const char* method, const Params& params) {
    thread_local char text[160];
    print_method(text, sizeof text, method, params);
    *resources.method_used = text;
  }

  template <class D>
  static void note_residues(const Resources& resources, const residues::Workspace<D>& work) {
    thread_local char text[64];
    std::snprintf(text, sizeof text, "residues(moduli=%d, by_bytes=%d)", work.moduli,
                  work.by_bytes ? 1 : 0);
    *resources.method_used = text;
  }
  static void note_choice(const Resources& resources, const Choice& choice) {
    thread_local char text[160];
    print_choice(text, sizeof text, choice);
    *resources.method_used = text;
  }

  /// The orders of a variable batch, checked unless the kernel does so.
  template <class T>
  Status settle_variable(const Problem<T>& problem, const Choice& choice,
                         const CallWorkspace<Device<T>>& work, BatchProblem<Device<T>>& call,
                         cudaStream_t stream) {
    const BatchSizes& sizes = problem.sizes;
    const VariablePositions position = positions_of(problem.routine);
    if (is_checked_by_kernel(problem.routine, sizes.count, choice)) {
      call.orders = sizes.orders;
      call.unchecked = true;
      call.position = position;
      return Status::success();
    }
    const VariableCheck<Device<T>> check{call.A,       call.B,       sizes.count,      sizes.n,
                                         sizes.nrhs,   sizes.orders, sizes.rhs_counts, position,
                                         problem.info, work.orders,  work.rhs_counts};
    call.orders = work.orders;
    call.rhs_counts = work.rhs_counts;
    call.sequence = work.sequence.matrices;
    return check_variable(check, work.sequence, stream);
  }

  template <class T, class D>
  Status run_batch(const Problem<T>& problem, const BatchProblem<D>& call, const Choice& row,
                   const BatchWorkspace<D>& work, const Resources& resources) {
    const auto stream = static_cast<cudaStream_t>(resources.stream);
    switch (problem.routine) {
      case Routine::potrf: {
        FactorChoice ran;
        const Status status = factor_batch(call, row, clusters_for(problem), ran, stream);
        if (resources.method_used) note_method(resources, ran.method, ran.params);
        return status;
      }
      case Routine::potrs: {
        const SolveChoice choice = solve_choice(call, rows_of<T>(problem.routine, problem.form));
        if (resources.method_used) note_method(resources, choice.method, choice.params);
        return solve_batch(call, choice, stream);
      }
      case Routine::posv: {
        FactorChoice ran;
        const SolveChoice solution = second_choice(problem, call);
        const Status status =
            factor_and_solve_batch(call, row, clusters_for(problem), solution, ran, stream);
        if (resources.method_used) note_method(resources, ran.method, ran.params);
        return status;
      }
      default:
        return invert_batch(call, work, stream);
    }
  }

  /// How clusters factor a batch of few matrices.
  template <class T>
  ClusterPlan clusters_for(const Problem<T>& problem) const {
    if (problem.form != Form::batch) return {};
    const BatchSizes& sizes = problem.sizes;
    return cluster_plan(precision_letter<T>, problem.uplo == CHOL_UPPER, sizes.n, sizes.count,
                        multiprocessors_);
  }

  template <class T, class D>
  Status run_one(const Problem<T>& problem, const BatchProblem<D>& call, const Chosen& chosen,
                 const OneMatrixWorkspace<D>& work, cudaStream_t stream) {
    const Choice& choice = *chosen.choice;
    switch (problem.routine) {
      case Routine::potrf:
        return factor_one(call, choice, work, blas_, stream);
      case Routine::potrs:
        return solve_one(call, choice, work, blas_, stream);
      case Routine::posv:
        if (chosen.solution && solves_one(*chosen.solution))
          return factor_and_solve_one(call, choice, *chosen.solution, work, blas_, stream);
        if (const Status status = factor_one(call, choice, work, blas_, stream);
            !status.ok() || call.n == 0 || call.nrhs == 0)
          return status;
        return solve_batch(call, second_choice(problem, call), stream);
      default:
        return invert_one(call, work, blas_, stream);
    }
  }

  int device_;
  int multiprocessors_;
  char name_[272];
  TuningStore tuning_;
  std::once_flag limits_known_;
  DeviceLimits limits_;
  Blas blas_;
  residues::Progress progress_;
  Staging staging_;
  tlr::Store tile_store_;
  multi::Queues queues_;
};

}  // namespace

backend::Backend* make_backend(int device, const cudaDeviceProp& properties) {
  return new CudaBackend(device, properties);
}

}  // namespace chol::cuda
