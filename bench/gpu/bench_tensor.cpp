// potrf of one matrix in CHOL_MATH_TENSOR against cuSOLVER and the native method, with new input
// for each repetition: bench_tensor precisions n,n,... [file.csv [repetitions]]
#include "generated_matrix.hpp"
#include "large_peer.hpp"

namespace chol::bench {
namespace {

using test::GeneratedMatrix;
using test::SampledResidual;

struct Times {
  double peer = 0, native = 0, tensor = 0;
};

template <class T>
void bench(chol_uplo_t uplo, int64_t n) {
  const char letter = letter_of(T{});
  const bool upper = uplo == CHOL_UPPER;
  const GeneratedMatrix matrix{GeneratedMatrix::random, n};
  DeviceArray<T> A(size_t(n) * n);
  DeviceArray<int> info(1);
  const auto write = [&] { CHOL_TEST_CUDA(matrix.write(letter, upper, A.data(), n, stream)); };
  const auto factor = [&] { ours(test::potrf_of(T{})(handle, uplo, n, A.data(), n, info.data())); };
  Times times;
  {
    Peer<T> cusolver(upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER, n);
    times.peer = median_ms(write, [&] { cusolver.factor(A.data(), info.data()); });
  }
  SampledResidual native{}, tensor{};
  ours(chol_set_math_mode(handle, CHOL_MATH_IEEE));
  times.native = median_ms(write, factor);
  CHOL_TEST_CUDA(test::sampled_residual(matrix, letter, upper, A.data(), n, &native));
  ours(chol_set_math_mode(handle, CHOL_MATH_TENSOR));
  times.tensor = median_ms(write, factor);
  CHOL_TEST_CUDA(test::sampled_residual(matrix, letter, upper, A.data(), n, &tensor));
  const double gflop =
      double(n) * double(n) * double(n) / 3e9 * (sizeof(T) > sizeof(Real<T>) ? 4 : 1);
  char line[256];
  std::snprintf(
      line, sizeof line, "%c,%c,%lld,%.2f,%.2f,%.2f,%.1f,%.2f,%.2f,%.1e,%.1e,%.2f,%.2f,%d", letter,
      static_cast<char>(uplo), static_cast<long long>(n), times.tensor, times.native, times.peer,
      gflop / times.tensor, times.peer / times.tensor, times.native / times.tensor, tensor.ratio,
      native.ratio, tensor.scaled, native.scaled, info.get()[0]);
  print_line(line);
}

}  // namespace
}  // namespace chol::bench

int main(int argc, char** argv) {
  using namespace chol::bench;
  return run_cases(
      argc, argv, 3, "bench_tensor precisions n,n,... [file.csv [repetitions]]",
      "precision,uplo,n,tensor_ms,native_ms,cusolver_ms,tensor_tflops,over_cusolver,over_native,"
      "ratio,native_ratio,scaled,native_scaled,info",
      []<class T>(T, int64_t n) {
        for (const chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER}) bench<T>(uplo, n);
      });
}
