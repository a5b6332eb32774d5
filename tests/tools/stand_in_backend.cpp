// A device backend for tests of chol-tune: the host's results under the name of a device, with
// plans that it refuses, plans with wrong results and plans that terminate the process.
#include <chol.h>

#include <complex>
#include <cstdlib>
#include <cstring>

#include "backend/plugin.hpp"
#include "base/precisions.h"
#include "tune/interleaved_methods.hpp"
#include "tune/method_list.hpp"
#include "tune/methods.hpp"

namespace chol::test {
namespace {

bool has(const Choice& choice, const char* method, const char* knob, int value) {
  for (size_t k = 0; k < choice.method->knobs.size(); ++k)
    if (std::strcmp(choice.method->knobs[k].name, knob) == 0 && choice.values[k] == value)
      return !*method || std::strcmp(choice.method->name, method) == 0;
  return false;
}
bool is_refused(const Choice& choice) {
  return has(choice, "interleaved_registers", "threads", 128);
}
bool is_wrong(const Choice& choice) { return has(choice, "", "threads", 64); }
bool is_deadly(const Choice& choice) { return has(choice, "interleaved_warps", "warps", 4); }

#define CHOL_TEST_CALL(p, T, R)                                                                    \
  chol_status_t call(chol_handle_t h, const backend::Problem<T>& c) {                              \
    const int64_t n = c.sizes.n, batch = c.sizes.count;                                            \
    T *A = c.A.first, *B = c.B.first;                                                              \
    const bool side_by_side = c.form == Form::interleaved;                                         \
    switch (c.routine) {                                                                           \
      case Routine::potrf:                                                                         \
        return side_by_side ? chol_##p##potrf_interleaved(h, c.uplo, n, A, c.A.ld, c.A.chunk,      \
                                                          c.info, batch)                           \
                            : chol_##p##potrf_strided_batched(h, c.uplo, n, A, c.A.ld, c.A.stride, \
                                                              c.info, batch);                      \
      case Routine::potrs:                                                                         \
        return side_by_side                                                                        \
                   ? chol_##p##potrs_interleaved(h, c.uplo, n, c.sizes.nrhs, A, c.A.ld, B, c.B.ld, \
                                                 c.A.chunk, batch)                                 \
                   : chol_##p##potrs_strided_batched(h, c.uplo, n, c.sizes.nrhs, A, c.A.ld,        \
                                                     c.A.stride, B, c.B.ld, c.B.stride, batch);    \
      case Routine::posv:                                                                          \
        return side_by_side ? chol_##p##posv_interleaved(h, c.uplo, n, c.sizes.nrhs, A, c.A.ld, B, \
                                                         c.B.ld, c.A.chunk, c.info, batch)         \
                            : chol_##p##posv_strided_batched(h, c.uplo, n, c.sizes.nrhs, A,        \
                                                             c.A.ld, c.A.stride, B, c.B.ld,        \
                                                             c.B.stride, c.info, batch);           \
      default:                                                                                     \
        return CHOL_STATUS_NOT_SUPPORTED;                                                          \
    }                                                                                              \
  }
CHOL_FOR_EACH_PRECISION(CHOL_TEST_CALL)
#undef CHOL_TEST_CALL

template <class T>
Case case_of(const backend::Problem<T>& problem) {
  Case asked;
  asked.n = problem.sizes.n;
  asked.nrhs = problem.sizes.nrhs;
  asked.batch = problem.sizes.count;
  return asked;
}

class StandIn final : public backend::Backend {
 public:
  StandIn() {
    for (const Routine routine : {Routine::potrf, Routine::potrs, Routine::posv})
      for (const Form form : {Form::batch, Form::interleaved})
        for (const char precision : {'s', 'd', 'c', 'z'}) {
          tuning_.load_row({routine,
                            form,
                            precision,
                            {},
                            form == Form::batch ? Choice(cuda::kLeftLookingPotrf)
                                                : Choice(cuda::kInterleavedStreamed)});
        }
    chol_create_on(&host_, CHOL_BACKEND_HOST, 0, nullptr);
  }
  ~StandIn() override { chol_destroy(host_); }

  const char* name() const override { return "cuda stand-in"; }
  chol_backend_t kind() const override { return CHOL_BACKEND_CUDA; }
  TuningStore& tuning() override { return tuning_; }
  std::span<const MethodInfo* const> methods() const override { return cuda::all_methods(); }
  bool accepts(const Row& row) const override { return !is_refused(row.choice); }
  backend::Place place_of(const void*) const override { return backend::Place::device; }
  Status summarize_info(const int*, int64_t, int64_t*, int64_t*, void*) override {
    return Status::error(CHOL_STATUS_NOT_SUPPORTED, "stand-in: no summary");
  }
  void* allocate(size_t bytes) override { return std::malloc(bytes); }
  void release(void* memory) override { std::free(memory); }

#define CHOL_TEST_SOLVER(T)                                                                        \
  std::unique_ptr<backend::TileOps<T>> tile_ops(const T*, int, void*) override { return nullptr; } \
  size_t workspace_bytes(const backend::Problem<T>&, const RowTable&, const backend::Resources&)   \
      const override {                                                                             \
    return 0;                                                                                      \
  }                                                                                                \
  Status run(const backend::Problem<T>& problem, const RowTable& rows, const backend::Resources&)  \
      override {                                                                                   \
    return run_as_host(problem, rows.choose(case_of(problem)));                                    \
  }
  CHOL_TEST_SOLVER(float)
  CHOL_TEST_SOLVER(double)
  CHOL_TEST_SOLVER(std::complex<float>)
  CHOL_TEST_SOLVER(std::complex<double>)
#undef CHOL_TEST_SOLVER

 private:
  template <class T>
  Status run_as_host(const backend::Problem<T>& problem, const Choice& choice) {
    if (is_deadly(choice)) std::_Exit(9);
    if (is_wrong(choice)) return Status::success();
    if (call(host_, problem) == CHOL_STATUS_SUCCESS) return Status::success();
    return Status::error(CHOL_STATUS_INTERNAL, "%s", chol_last_error(host_));
  }

  TuningStore tuning_;
  chol_handle_t host_ = nullptr;
};

}  // namespace
}  // namespace chol::test

extern "C" __attribute__((visibility("default"))) chol::backend::Backend* chol_backend_open(
    int plugin_version, int, const int*, chol::Status* status) {
  if (plugin_version == chol::backend::kPluginVersion) return new chol::test::StandIn;
  *status = chol::Status::error(CHOL_STATUS_NO_DEVICE, "stand-in: another version");
  return nullptr;
}
