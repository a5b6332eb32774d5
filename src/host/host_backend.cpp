#include "host/host_backend.hpp"

#include <omp.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "host/batch.hpp"
#include "host/dispatch.hpp"
#include "tune/host_rows.hpp"

namespace chol::host {
namespace {

class HostBackend final : public backend::Backend {
 public:
  HostBackend()
      : kernels_(KernelSet::of_this_machine()), name_(std::string("host ") + kernels_.isa()) {
    const HostRows built_in = host_rows(kernels_.isa());
    tuning_.load_rows(built_in.rows, built_in.count);
  }
  const char* name() const override { return name_.c_str(); }
  chol_backend_t kind() const override { return CHOL_BACKEND_HOST; }
  TuningStore& tuning() override { return tuning_; }
  bool accepts(const TuningRow& row) const override;
  backend::Place place_of(const void*) const override { return backend::Place::host; }
  void* allocate(size_t bytes) override {
    const size_t whole = (bytes + Arena::kAlignment - 1) / Arena::kAlignment * Arena::kAlignment;
    return std::aligned_alloc(Arena::kAlignment, whole);
  }
  void release(void* memory) override { std::free(memory); }
  int default_threads() const override { return omp_get_max_threads(); }

#define CHOL_HOST_SOLVER(T)                                                                       \
  size_t workspace_bytes(const backend::Problem<T>& problem, const PlanTable& plans, int threads) \
      const override {                                                                            \
    return Batch<T>(kernels_.kernels<T>(), problem, plans, threads).workspace_bytes();            \
  }                                                                                               \
  Status run(const backend::Problem<T>& problem, const PlanTable& plans,                          \
             const backend::Resources& resources) override {                                      \
    Batch<T>(kernels_.kernels<T>(), problem, plans, resources.threads).run(resources.workspace);  \
    return Status::success();                                                                     \
  }
  CHOL_HOST_SOLVER(float)
  CHOL_HOST_SOLVER(double)
  CHOL_HOST_SOLVER(std::complex<float>)
  CHOL_HOST_SOLVER(std::complex<double>)
#undef CHOL_HOST_SOLVER

 private:
  const KernelSet& kernels_;
  std::string name_;
  TuningStore tuning_;
};

bool HostBackend::accepts(const TuningRow& row) const {
  const Plan& plan = row.plan;
  if (plan.block < 0 || plan.tile < 0 || plan.threads != 0) return false;
  const bool solves = row.routine == Routine::potrs || row.routine == Routine::posv;
  const bool groups = row.routine == Routine::potrf && plan.method == Method::lanes;
  if (plan.tile != 0 && !groups && (!solves || plan.method == Method::lanes)) return false;
  switch (plan.method) {
    case Method::lanes:
      // A lane buffer of a larger order would leave the caches that lanes live by.
      return row.form == Form::batch && row.max_n <= 128 && row.routine != Routine::logdet;
    case Method::panel:
      return plan.block == 0;
    case Method::tiles:
      return plan.block >= 16 && (row.routine == Routine::potrf || row.routine == Routine::posv);
    default:
      return false;
  }
}

}  // namespace

backend::Backend* open(Status& status) {
  auto* made = new (std::nothrow) HostBackend;
  if (!made) status = Status::error(CHOL_STATUS_ALLOC_FAILED, "host backend: out of memory");
  return made;
}

}  // namespace chol::host
