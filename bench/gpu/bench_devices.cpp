// potrf of one matrix over several devices, compared with one device, cusolverMgPotrf and the rate
// of GEMM on all of them: bench_devices precisions n,n,... count,... [file.csv [repetitions [nb]]]
// [options] A count above the number of devices names them cyclically.
//   --lower       lower triangles alone
//   --host        matrices in host memory, pinned and pageable, in place of such over the devices
//   --pinned      the same, pinned alone
//   --half        the same, and the devices' memory to work in is half of the matrix
//   --several     neither one device alone nor cusolverMgPotrf
//   --unchecked   no residuals, whose copies a trace would show
// Calls of n = 50,000 and more are not warmed up.
#include <cublas_v2.h>
#include <cusolverMg.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "generated_matrix.hpp"
#include "timing.hpp"

namespace chol::bench {
namespace {

using test::GeneratedMatrix;
using test::SampledResidual;

#define CHOL_BENCH_CYCLIC(p, T)                              \
  auto potrf_cyclic_of(T) { return chol_##p##potrf_cyclic; } \
  auto gather_cyclic_of(T) { return chol_##p##gather_cyclic; }
CHOL_BENCH_CYCLIC(s, float)
CHOL_BENCH_CYCLIC(d, double)
CHOL_BENCH_CYCLIC(c, std::complex<float>)
CHOL_BENCH_CYCLIC(z, std::complex<double>)
#undef CHOL_BENCH_CYCLIC

int present = 0;
int64_t block_columns = 1024;
struct Options {
  bool lower = false, host = false, pinned = false, half = false, several = false,
       unchecked = false;
} options;
constexpr int64_t kLong = 50000;

void peer(int status, const char* what) {
  if (status == 0) return;
  std::fprintf(stderr, "%s: status %d\n", what, status);
  std::exit(4);
}

std::vector<int> devices_of(int count) {
  std::vector<int> devices;
  for (int d = 0; d < count; ++d) devices.push_back(d % present);
  return devices;
}
void wait_for_all() {
  for (int d = 0; d < present; ++d) {
    CHOL_TEST_CUDA(cudaSetDevice(d));
    CHOL_TEST_CUDA(cudaDeviceSynchronize());
  }
  CHOL_TEST_CUDA(cudaSetDevice(0));
}
double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
/// Median milliseconds; all devices are idle when body() begins and when it has ended.
/// @param n 0: of something else than a matrix.
double median_of_calls(int64_t n, const std::function<void()>& prepare,
                       const std::function<void()>& body) {
  std::vector<double> times;
  for (int r = n < kLong ? -1 : 0; r < repetitions; ++r) {
    prepare();
    wait_for_all();
    const double start = seconds();
    body();
    wait_for_all();
    if (r >= 0) times.push_back(1e3 * (seconds() - start));
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/// A generated matrix in block columns over devices.
template <class T>
class Parts {
 public:
  Parts(int64_t n, int64_t nb, std::vector<int> devices, bool upper)
      : n_(n), nb_(nb), devices_(std::move(devices)), upper_(upper) {
    for (size_t d = 0; d < devices_.size(); ++d) {
      int64_t columns = 0;
      for_each_block(d, [&](int64_t, int64_t, int64_t width) { columns += width; });
      CHOL_TEST_CUDA(cudaSetDevice(devices_[d]));
      memory_.push_back(std::make_unique<DeviceArray<T>>(size_t(n * columns)));
      pointers.push_back(memory_.back()->data());
      lds.push_back(n);
    }
    CHOL_TEST_CUDA(cudaSetDevice(0));
  }
  void write() const {
    const GeneratedMatrix matrix{GeneratedMatrix::random, n_};
    for (size_t d = 0; d < devices_.size(); ++d) {
      CHOL_TEST_CUDA(cudaSetDevice(devices_[d]));
      for_each_block(d, [&](int64_t first, int64_t local, int64_t width) {
        CHOL_TEST_CUDA(matrix.write_columns(letter_of(T{}), upper_, pointers[d] + local * n_, n_,
                                            first, width, nullptr));
      });
    }
    CHOL_TEST_CUDA(cudaSetDevice(0));
  }
  double residual(chol_handle_t several) const {
    DeviceArray<T> whole(size_t(n_) * size_t(n_));
    const chol_uplo_t uplo = upper_ ? CHOL_UPPER : CHOL_LOWER;
    ours(gather_cyclic_of(T{})(several, uplo, n_, pointers.data(), lds.data(), nb_, whole.data(),
                               n_));
    SampledResidual result{};
    CHOL_TEST_CUDA(test::sampled_residual({GeneratedMatrix::random, n_}, letter_of(T{}), upper_,
                                          whole.data(), n_, &result));
    return result.ratio;
  }

  std::vector<T*> pointers;
  std::vector<int64_t> lds;

 private:
  template <class Body>
  void for_each_block(size_t device, Body&& body) const {
    int64_t local = 0;
    const int64_t count = int64_t(devices_.size());
    for (int64_t first = int64_t(device) * nb_; first < n_; first += count * nb_) {
      const int64_t width = std::min(nb_, n_ - first);
      body(first, local, width);
      local += width;
    }
  }
  int64_t n_, nb_;
  std::vector<int> devices_;
  bool upper_;
  std::vector<std::unique_ptr<DeviceArray<T>>> memory_;
};

template <class T>
cudaDataType data_type() {
  const cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
  return types[std::string("sdcz").find(letter_of(T{}))];
}

/// cusolverMgPotrf in milliseconds, in lower triangles alone; 0 where it cannot run.
template <class T>
double cusolver_mg(int64_t n, int64_t nb, std::vector<int> devices, const Parts<T>& parts) {
  for (size_t d = 1; d < devices.size(); ++d)
    if (devices[d] <= devices[d - 1]) return 0;
  cusolverMgHandle_t solver = nullptr;
  cudaLibMgGrid_t grid = nullptr;
  cudaLibMgMatrixDesc_t layout = nullptr;
  const int count = int(devices.size());
  peer(cusolverMgCreate(&solver), "cusolverMgCreate");
  peer(cusolverMgDeviceSelect(solver, count, devices.data()), "cusolverMgDeviceSelect");
  peer(
      cusolverMgCreateDeviceGrid(&grid, 1, count, devices.data(), CUDALIBMG_GRID_MAPPING_COL_MAJOR),
      "cusolverMgCreateDeviceGrid");
  peer(cusolverMgCreateMatrixDesc(&layout, n, n, n, nb, data_type<T>(), grid),
       "cusolverMgCreateMatrixDesc");
  std::vector<void*> A(parts.pointers.begin(), parts.pointers.end()), work;
  int64_t elements = 0;
  peer(cusolverMgPotrf_bufferSize(solver, CUBLAS_FILL_MODE_LOWER, int(n), A.data(), 1, 1, layout,
                                  data_type<T>(), &elements),
       "cusolverMgPotrf_bufferSize");
  std::vector<std::unique_ptr<DeviceArray<T>>> memory;
  for (const int device : devices) {
    CHOL_TEST_CUDA(cudaSetDevice(device));
    memory.push_back(std::make_unique<DeviceArray<T>>(size_t(elements)));
    work.push_back(memory.back()->data());
  }
  CHOL_TEST_CUDA(cudaSetDevice(0));
  int info = -1;
  const double ms = median_of_calls(
      n, [&] { parts.write(); },
      [&] {
        peer(cusolverMgPotrf(solver, CUBLAS_FILL_MODE_LOWER, int(n), A.data(), 1, 1, layout,
                             data_type<T>(), work.data(), elements, &info),
             "cusolverMgPotrf");
      });
  cusolverMgDestroyMatrixDesc(layout);
  cusolverMgDestroyGrid(grid);
  cusolverMgDestroy(solver);
  return info == 0 ? ms : 0;
}

/// Tflop/s of products of order 8192 on all devices at once, double precision.
double measured_gemm_rate(int count) {
  constexpr int kOrder = 8192, kProducts = 6;
  struct OnDevice {
    cublasHandle_t blas = nullptr;
    DeviceArray<double> A, B, C;
    OnDevice() : A(size_t(kOrder) * kOrder), B(A.size()), C(A.size()) {}
  };
  const GeneratedMatrix matrix{GeneratedMatrix::random, kOrder};
  std::vector<std::unique_ptr<OnDevice>> all;
  for (int d = 0; d < std::min(count, present); ++d) {
    CHOL_TEST_CUDA(cudaSetDevice(d));
    all.push_back(std::make_unique<OnDevice>());
    peer(cublasCreate(&all.back()->blas), "cublasCreate");
    for (double* x : {all.back()->A.data(), all.back()->B.data(), all.back()->C.data()})
      CHOL_TEST_CUDA(matrix.write('d', false, x, kOrder, nullptr));
  }
  const double ms = median_of_calls(
      0, [] {},
      [&] {
        const double one = 1, zero = 0;
        for (int k = 0; k < kProducts; ++k)
          for (size_t d = 0; d < all.size(); ++d) {
            CHOL_TEST_CUDA(cudaSetDevice(int(d)));
            peer(cublasDgemm(all[d]->blas, CUBLAS_OP_N, CUBLAS_OP_T, kOrder, kOrder, kOrder, &one,
                             all[d]->A.data(), kOrder, all[d]->B.data(), kOrder, &zero,
                             all[d]->C.data(), kOrder),
                 "cublasDgemm");
          }
      });
  for (const auto& on : all) cublasDestroy(on->blas);
  return 2. * kProducts * double(all.size()) * kOrder * kOrder * double(kOrder) / ms * 1e-9;
}

double gemm_rate(int count) {
  static std::map<int, double> rates;
  const auto known = rates.find(count);
  return known != rates.end() ? known->second : rates[count] = measured_gemm_rate(count);
}

template <class T>
double one_device(int64_t n, bool upper) {
  if (options.several) return 0;
  DeviceArray<T> A(size_t(n) * size_t(n));
  DeviceArray<int> info(1);
  const GeneratedMatrix matrix{GeneratedMatrix::random, n};
  return median_of_calls(
      n, [&] { CHOL_TEST_CUDA(matrix.write(letter_of(T{}), upper, A.data(), n, stream)); },
      [&] {
        ours(test::potrf_of(T{})(handle, upper ? CHOL_UPPER : CHOL_LOWER, n, A.data(), n,
                                 info.data()));
      });
}

void succeed(chol_handle_t several, chol_status_t status) {
  if (status != CHOL_STATUS_SUCCESS) std::fprintf(stderr, "chol: %s\n", chol_last_error(several));
  ours(status);
}

struct Result {
  double ms = 0, cusolver_ms = 0, ratio = 0;
  int info = -1;
};

/// In block columns on the devices.
template <class T>
Result on_devices(chol_handle_t several, int64_t n, const std::vector<int>& devices, bool upper) {
  const Parts<T> parts(n, block_columns, devices, upper);
  Result result;
  result.ms = median_of_calls(
      n, [&] { parts.write(); },
      [&] {
        succeed(several, potrf_cyclic_of(T{})(several, upper ? CHOL_UPPER : CHOL_LOWER, n,
                                              parts.pointers.data(), parts.lds.data(),
                                              block_columns, &result.info));
      });
  if (!options.unchecked) result.ratio = parts.residual(several);
  if (!upper && !options.several)
    result.cusolver_ms = cusolver_mg<T>(n, block_columns, devices, parts);
  return result;
}

/// Sets the workspace of a handle's devices during its lifetime.
class Workspaces {
 public:
  Workspaces(chol_handle_t several, const std::vector<int>& devices, size_t bytes)
      : devices_(devices) {
    for (size_t d = 0; d < devices.size(); ++d) {
      void* memory = nullptr;
      CHOL_TEST_CUDA(cudaSetDevice(devices[d]));
      CHOL_TEST_CUDA(cudaMalloc(&memory, bytes));
      memory_.push_back(memory);
      ours(chol_set_device_workspace(several, int(d), memory, bytes));
    }
    CHOL_TEST_CUDA(cudaSetDevice(devices[0]));
  }
  Workspaces(const Workspaces&) = delete;
  Workspaces& operator=(const Workspaces&) = delete;
  ~Workspaces() {
    for (size_t d = 0; d < memory_.size(); ++d) {
      cudaSetDevice(devices_[d]);
      cudaFree(memory_[d]);
    }
    cudaSetDevice(devices_[0]);
  }

 private:
  const std::vector<int> devices_;
  std::vector<void*> memory_;
};

/// In host memory.
template <class T>
Result on_host(chol_handle_t several, int64_t n, bool pinned, bool upper) {
  const size_t bytes = sizeof(T) * size_t(n) * size_t(n);
  T* A = nullptr;
  if (pinned)
    CHOL_TEST_CUDA(cudaMallocHost(reinterpret_cast<void**>(&A), bytes));
  else
    A = static_cast<T*>(std::malloc(bytes));
  const GeneratedMatrix matrix{GeneratedMatrix::random, n};
  Result result;
  const auto write = [&] {
    DeviceArray<T> whole(size_t(n) * size_t(n));
    CHOL_TEST_CUDA(matrix.write(letter_of(T{}), upper, whole.data(), n, nullptr));
    CHOL_TEST_CUDA(cudaMemcpy(A, whole.data(), bytes, cudaMemcpyDeviceToHost));
  };
  result.ms = median_of_calls(n, write, [&] {
    succeed(several,
            test::potrf_of(T{})(several, upper ? CHOL_UPPER : CHOL_LOWER, n, A, n, &result.info));
  });
  if (!options.unchecked) {
    DeviceArray<T> whole(size_t(n) * size_t(n));
    test::SampledResidual residual{};
    CHOL_TEST_CUDA(cudaMemcpy(whole.data(), A, bytes, cudaMemcpyHostToDevice));
    CHOL_TEST_CUDA(
        test::sampled_residual(matrix, letter_of(T{}), upper, whole.data(), n, &residual));
    result.ratio = residual.ratio;
  }
  if (pinned)
    cudaFreeHost(A);
  else
    std::free(A);
  return result;
}

template <class T>
void bench(int64_t n, const std::vector<int64_t>& counts) {
  const double flops =
      double(n) * double(n) * double(n) / 3 * (sizeof(T) > sizeof(Real<T>) ? 4 : 1);
  std::vector<const char*> places = {"devices"};
  if (options.host) places = {"pinned", "pageable"};
  if (options.pinned || options.half) places = {"pinned"};
  for (const bool upper : {false, true}) {
    if (upper && options.lower) continue;
    const double alone = one_device<T>(n, upper);
    for (const int64_t count : counts)
      for (const char* place : places) {
        const std::vector<int> devices = devices_of(int(count));
        chol_handle_t several = nullptr;
        ours(chol_create_on(&several, CHOL_BACKEND_CUDA, int(count), devices.data()));
        std::optional<Workspaces> half;
        if (options.half) half.emplace(several, devices, sizeof(T) * size_t(n * n / 2 / count));
        const Result result = options.host || options.pinned || options.half
                                  ? on_host<T>(several, n, *place == 'p' && place[1] == 'i', upper)
                                  : on_devices<T>(several, n, devices, upper);
        chol_destroy(several);
        const double rate = flops / result.ms * 1e-9;
        const double gemm = letter_of(T{}) == 'd' ? gemm_rate(int(count)) : 0;
        const double mg = result.cusolver_ms;
        char line[256];
        std::snprintf(line, sizeof line,
                      "%c,%c,%lld,%lld,%lld,%s,%.2f,%.1f,%.2f,%.2f,%.2f,%.2f,%.1f,%.3f,%.1e,%d",
                      letter_of(T{}), upper ? 'U' : 'L', static_cast<long long>(n),
                      static_cast<long long>(block_columns), static_cast<long long>(count), place,
                      result.ms, rate, alone, alone / result.ms, mg, mg / result.ms, gemm,
                      gemm > 0 ? rate / gemm : 0, result.ratio, result.info);
        print_line(line);
      }
  }
}

}  // namespace
}  // namespace chol::bench

int main(int argc, char** argv) {
  using namespace chol::bench;
  if (!chol::test::device_present()) return 0;
  const std::pair<const char*, bool*> flags[] = {
      {"--lower", &options.lower},     {"--host", &options.host},
      {"--pinned", &options.pinned},   {"--half", &options.half},
      {"--several", &options.several}, {"--unchecked", &options.unchecked}};
  for (const auto& [name, value] : flags) {
    char** const end = std::remove_if(
        argv + 1, argv + argc, [&](const char* word) { return std::strcmp(word, name) == 0; });
    *value = end != argv + argc;
    argc = int(end - argv);
  }
  if (argc < 4) {
    std::fprintf(stderr,
                 "usage: bench_devices precisions n,n,... count,... [file.csv [repetitions [nb]]] "
                 "[--lower] [--host] [--pinned] [--half] [--several] [--unchecked]\n");
    return 1;
  }
  CHOL_TEST_CUDA(cudaGetDeviceCount(&present));
  if (argc > 4) csv = std::fopen(argv[4], "a");
  if (argc > 5) repetitions = std::atoi(argv[5]);
  if (argc > 6) block_columns = std::atoll(argv[6]);
  if (!open_handle()) return 1;
  print_line(
      "precision,uplo,n,nb,devices,matrix,ms,tflops,one_device_ms,over_one_device,cusolvermg_ms,"
      "over_cusolvermg,gemm_tflops,share_of_gemm,ratio,info");
  const std::vector<int64_t> counts = orders_of(std::string("=") + argv[3]);
  for (const char* p = argv[1]; *p; ++p)
    for (const int64_t n : orders_of(std::string("=") + argv[2])) {
      if (*p == 's') bench<float>(n, counts);
      if (*p == 'd') bench<double>(n, counts);
      if (*p == 'c') bench<std::complex<float>>(n, counts);
      if (*p == 'z') bench<std::complex<double>>(n, counts);
    }
  if (csv) std::fclose(csv);
  chol_destroy(handle);
  return 0;
}
