// chol::backend::Backend over the kernels of this folder.
#include <cuda_runtime.h>

#include <cstdio>

#include "backend.hpp"
#include "base/threads/available_cores.hpp"
#include "call.hpp"
#include "call_choice.hpp"
#include "multi/panel_ops.hpp"
#include "native/refinement/refinement.hpp"
#include "tlr/tile_ops.hpp"
#include "tune/method_list.hpp"
#include "tune/rows.hpp"

namespace chol::cuda {
namespace {

using backend::Chosen;
using backend::Place;
using backend::Problem;
using backend::Resources;

class CudaBackend final : public backend::Backend {
 public:
  CudaBackend(int device, const cudaDeviceProp& properties)
      : state_(device, properties.multiProcessorCount), tile_store_(device), queues_(device) {
    std::snprintf(name_, sizeof name_, "cuda %s", properties.name);
    state_.tuning.load_rows(
        built_in_rows(10 * properties.major + properties.minor, properties.multiProcessorCount));
    size_t count = 0;
    const RateRow* rates = built_in_rates(10 * properties.major + properties.minor, &count);
    state_.tuning.load_rates(rates, count);
    const ResidueRow* residues =
        built_in_residues(10 * properties.major + properties.minor, &count);
    state_.tuning.load_residues(residues, count);
    const MixedRow* mixed = built_in_mixed(&count);
    state_.tuning.load_mixed(mixed, count);
    const TileRow* tiles = built_in_tiles(&count);
    state_.tuning.load_tiles(tiles, count);
  }

  const char* name() const override { return name_; }
  chol_backend_t kind() const override { return CHOL_BACKEND_CUDA; }
  TuningStore& tuning() override { return state_.tuning; }
  /// Host threads that copy matrices to and from pinned memory.
  int default_threads() const override { return chol::default_threads(); }

  std::span<const MethodInfo* const> methods() const override { return all_methods(); }
  bool accepts(const Row& row) const override {
    switch (row.precision) {
      case 's':
        return accepts_row<float>(state_, row);
      case 'd':
        return accepts_row<double>(state_, row);
      case 'c':
        return accepts_row<Complex<float>>(state_, row);
      default:
        return accepts_row<Complex<double>>(state_, row);
    }
  }

  int device() const override { return state_.device; }
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
        return Status::error(CHOL_STATUS_INVALID_VALUE,
                             "chol_info_summary: %s is in pageable host memory, must be in device "
                             "or pinned host memory while info is in device memory",
                             result == failed ? "failed" : "first");
    }
    const DeviceGuard guard(state_.device);
    return summarize(info, batch, failed, first, static_cast<cudaStream_t>(stream));
  }

  void* allocate(size_t bytes) override {
    const DeviceGuard guard(state_.device);
    void* memory = nullptr;
    if (cudaMalloc(&memory, bytes) == cudaSuccess) return memory;
    cudaGetLastError();
    return nullptr;
  }
  void release(void* memory) override {
    const DeviceGuard guard(state_.device);
    cudaFree(memory);
  }

#define CHOL_SOLVER(T)                                                                    \
  size_t workspace_bytes(const Problem<T>& problem, const RowTable& rows,                 \
                         const Resources& resources) const override {                     \
    return workspace_of(state_, problem, rows, resources);                                \
  }                                                                                       \
  Status run(const Problem<T>& problem, const RowTable& rows, const Resources& resources) \
      override {                                                                          \
    return run_call(state_, problem, rows, resources);                                    \
  }                                                                                       \
  Chosen choose(const Problem<T>& problem, const RowTable& rows) const override {         \
    return look_up(state_, problem, rows);                                                \
  }
  CHOL_SOLVER(float)
  CHOL_SOLVER(double)
  CHOL_SOLVER(std::complex<float>)
  CHOL_SOLVER(std::complex<double>)
#undef CHOL_SOLVER

#define CHOL_CUDA_REFINEMENT(T)                                                                 \
  std::unique_ptr<backend::Refinement<T>> refinement(const T*, int, void* stream, int64_t n,    \
                                                     Arena& arena) override {                   \
    return make_refinement<T>(state_.device, state_.blas, static_cast<cudaStream_t>(stream), n, \
                              arena);                                                           \
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

#define CHOL_PANEL_OPS(T)                                                            \
  std::shared_ptr<backend::PanelOps<T>> panel_ops(const T*, void* stream) override { \
    const Choice& choice = largest_one<T>(state_);                                   \
    return multi::make_panel_ops<T>(queues_, choice, state_.tuning,                  \
                                    static_cast<cudaStream_t>(stream));              \
  }
  CHOL_PANEL_OPS(float)
  CHOL_PANEL_OPS(double)
  CHOL_PANEL_OPS(std::complex<float>)
  CHOL_PANEL_OPS(std::complex<double>)
#undef CHOL_PANEL_OPS

 private:
  DeviceState state_;
  char name_[272];
  tlr::Store tile_store_;
  multi::Queues queues_;
};

}  // namespace

backend::Backend* make_backend(int device, const cudaDeviceProp& properties) {
  return new CudaBackend(device, properties);
}

}  // namespace chol::cuda
