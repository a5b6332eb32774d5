// One panel's products of residues and their reconstruction: cuBLAS's products, whose 32-bit sums
// are reduced by the reconstruction, against products reduced to bytes by the kernel. Checks that
// both agree: bench_byte_product n panel start,start,... [repetitions]
#include <cublas_v2.h>

#include <cstdio>

#include "native/residues/byte_product/byte_product.hpp"
#include "native/residues/kernels.cuh"
#include "timing.hpp"

namespace chol::bench {
namespace {

using namespace cuda::residues;

__global__ void fill_bytes(unsigned* words, size_t count) {
  for (size_t i = blockIdx.x * size_t(256) + threadIdx.x; i < count; i += size_t(gridDim.x) * 256) {
    uint64_t x = i * 0x9E3779B97F4A7C15u;
    x ^= x >> 31;
    x *= 0xBF58476D1CE4E5B9u;
    words[i] = static_cast<unsigned>(x >> 32);
  }
}

/// Elements (slow, fast) of the triangle whose byte is not congruent to the sum.
__global__ void count_differences(Sums sums, ByteRows bytes, TriangleOfProducts triangle,
                                  const int* moduli, int* differences) {
  const int64_t fast = blockIdx.x * int64_t(256) + threadIdx.x, slow = blockIdx.y;
  const bool is_inside = triangle.above ? slow <= fast : slow >= fast;
  if (fast >= triangle.columns || !is_inside) return;
  for (int k = 0; k < triangle.moduli; ++k) {
    const int sum = sums.first[k * sums.stride + slow * sums.ld + fast];
    const int byte = bytes.first[k * bytes.stride + slow * bytes.ld + fast];
    if ((sum - byte) % moduli[k] != 0) atomicAdd(differences, 1);
  }
}

void check(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "cuBLAS: %d\n", static_cast<int>(status));
  std::exit(4);
}
void check(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.message());
  std::exit(5);
}

/// Both methods on the rows from `start` down, of which the first `panel` are the diagonal block.
template <class T, bool swapped>
class Panel {
 public:
  static constexpr int kCount = kModuli<T>;

  Panel(int64_t n, int64_t panel, int64_t start, const DeviceArray<int8_t>& planes, int64_t ld)
      : depth_(start),
        rows_(n - start),
        columns_(panel),
        ld_(ld),
        stride_(ld * padded(n)),
        first_(planes.data() + start * ld),
        slow_(swapped ? rows_ : columns_),
        fast_(swapped ? columns_ : rows_),
        sums_(size_t(kCount) * padded(slow_) * padded(fast_)),
        bytes_(size_t(kCount) * padded(slow_) * padded(fast_)),
        C_(size_t(rows_) * columns_),
        down_(std::vector<double>(rows_, 1.0)),
        flagged_(std::vector<int>(1, kNone)),
        differences_(std::vector<int>(1, 0)) {
    check(cublasCreate(&blas_));
    check(cublasSetStream(blas_, stream));
  }
  ~Panel() { cublasDestroy(blas_); }

  void run(char letter, int64_t n) {
    const auto nothing = [] {};
    const double by_blas = median_ms(nothing, [&] { multiply_by_blas(); });
    const double from_sums = median_ms(nothing, [&] { reconstruct_from(sums()); });
    const double by_bytes = median_ms(nothing, [&] { multiply_own(); });
    const double from_bytes = median_ms(nothing, [&] { reconstruct_from(bytes()); });
    std::vector<int> all(std::begin(moduli<kCount>().to.modulus),
                         std::end(moduli<kCount>().to.modulus));
    const DeviceArray<int> device_moduli(all);
    count_differences<<<dim3((fast_ + 255) / 256, slow_), 256, 0, stream>>>(
        sums(), {bytes().first, bytes().ld, bytes().stride}, triangle(), device_moduli.data(),
        differences_.data());
    CHOL_TEST_CUDA(cudaStreamSynchronize(stream));
    const double teraops = 2.0 * kCount * double(depth_) * rows_ * columns_ * 1e-9;
    const double needed = teraops * (1 - (columns_ - 1.0) / (2.0 * rows_));
    std::printf("%c,%c,%lld,%lld,%lld,%d,%.3f,%.3f,%.3f,%.3f,%.0f,%.0f,%.2f,%d\n", letter,
                swapped ? 'U' : 'L', (long long)n, (long long)columns_, (long long)depth_, kCount,
                by_blas, from_sums, by_bytes, from_bytes, teraops / by_blas, needed / by_bytes,
                (by_blas + from_sums) / (by_bytes + from_bytes), differences_.get()[0]);
    std::fflush(stdout);
  }

 private:
  Sums sums() const { return {sums_.data(), padded(fast_), padded(fast_) * padded(slow_)}; }
  SumsOf<int8_t> bytes() const {
    return {bytes_.data(), padded(fast_), padded(fast_) * padded(slow_)};
  }
  TriangleOfProducts triangle() const {
    return {static_cast<int>(slow_), static_cast<int>(fast_), kCount, !swapped};
  }
  void multiply_by_blas() {
    const int one = 1, zero = 0;
    const Sums to = sums();
    for (int k = 0; k < kCount; ++k)
      check(cublasGemmEx_64(blas_, CUBLAS_OP_T, CUBLAS_OP_N, padded(fast_), padded(slow_), depth_,
                            &one, first_ + k * stride_, CUDA_R_8I, ld_, first_ + k * stride_,
                            CUDA_R_8I, ld_, &zero, to.first + k * to.stride, CUDA_R_32I, to.ld,
                            CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT));
  }
  void multiply_own() {
    ByteProduct call{
        triangle(), static_cast<int>(depth_), {}, {}, {bytes().first, bytes().ld, bytes().stride},
        {}};
    std::copy_n(moduli<kCount>().from.modulus, kCount, call.from.modulus);
    std::copy_n(moduli<kCount>().from.reciprocal, kCount, call.from.reciprocal);
    const ByteMatrix operand{first_, padded(rows_), depth_, ld_, stride_};
    check(multiply_bytes(call, operand, operand, stream));
  }
  template <class Sum>
  void reconstruct_from(const SumsOf<Sum>& sums) {
    const Reconstruction<T, Sum> call{C_.data(),
                                      swapped ? columns_ : rows_,
                                      static_cast<int>(rows_),
                                      static_cast<int>(columns_),
                                      down_.data(),
                                      sums,
                                      sums,
                                      1,
                                      flagged_.data(),
                                      moduli<kCount>().from};
    reconstruct<T, swapped, Sum>
        <<<dim3((fast_ + kThreads - 1) / kThreads, std::min<int64_t>(slow_, 65535)), kThreads, 0,
           stream>>>(call);
    CHOL_TEST_CUDA(cudaGetLastError());
  }

  int64_t depth_, rows_, columns_, ld_, stride_;
  const int8_t* first_;
  int64_t slow_, fast_;
  DeviceArray<int> sums_;
  DeviceArray<int8_t> bytes_;
  DeviceArray<T> C_;
  DeviceArray<double> down_;
  DeviceArray<int> flagged_, differences_;
  cublasHandle_t blas_ = nullptr;
};

void run(int64_t n, int64_t panel, const std::vector<int64_t>& starts) {
  const int64_t ld = padded(n, kChunk) + kChunk;
  const DeviceArray<int8_t> planes(size_t(kModuli<double>) * ld * padded(n));
  fill_bytes<<<1024, 256>>>(reinterpret_cast<unsigned*>(planes.data()), planes.size() / 4);
  CHOL_TEST_CUDA(cudaDeviceSynchronize());
  for (const int64_t start : starts) {
    Panel<double, false>(n, panel, start, planes, ld).run('d', n);
    Panel<double, true>(n, panel, start, planes, ld).run('d', n);
    Panel<float, false>(n, panel, start, planes, ld).run('s', n);
  }
}

}  // namespace
}  // namespace chol::bench

int main(int argc, char** argv) {
  using namespace chol::bench;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("SKIPPED: no device\n");
    return 0;
  }
  if (argc < 4) {
    std::fprintf(stderr, "usage: bench_byte_product n panel start,start,... [repetitions]\n");
    return 1;
  }
  if (argc > 4) repetitions = std::atoi(argv[4]);
  if (!chol::cuda::residues::multiplies_bytes()) {
    std::printf("SKIPPED: no device of compute capability 9.0\n");
    return 0;
  }
  CHOL_TEST_CUDA(cudaStreamCreate(&stream));
  std::printf(
      "precision,uplo,n,panel,depth,moduli,cublas_ms,from_sums_ms,bytes_ms,from_bytes_ms,"
      "cublas_tops,bytes_tops,ratio,differences\n");
  run(std::atoll(argv[1]), std::atoll(argv[2]), orders_of(std::string("=") + argv[3]));
  return 0;
}
