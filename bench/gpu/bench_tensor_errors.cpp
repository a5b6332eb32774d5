// Errors of potrf in CHOL_MATH_TENSOR and of the native method, against order and condition number:
// bench_tensor_errors precisions n,n,... [file.csv]. The number of moduli is that of the tuning
// rows.
#include "generated_matrix.hpp"
#include "large_peer.hpp"

namespace chol::bench {
namespace {

using test::GeneratedMatrix;
using test::SampledResidual;

template <class T>
void bench(const char* name, const GeneratedMatrix& matrix, double condition, DeviceArray<T>& A) {
  const char letter = letter_of(T{});
  const int64_t n = matrix.n;
  DeviceArray<int> info(1);
  SampledResidual residual[2];
  int infos[2];
  for (const bool tensor : {false, true}) {
    ours(chol_set_math_mode(handle, tensor ? CHOL_MATH_TENSOR : CHOL_MATH_IEEE));
    CHOL_TEST_CUDA(matrix.write(letter, false, A.data(), n, stream));
    ours(test::potrf_of(T{})(handle, CHOL_LOWER, n, A.data(), n, info.data()));
    CHOL_TEST_CUDA(cudaStreamSynchronize(stream));
    CHOL_TEST_CUDA(test::sampled_residual(matrix, letter, false, A.data(), n, &residual[tensor]));
    infos[tensor] = info.get()[0];
  }
  char line[256];
  std::snprintf(line, sizeof line, "%c,%s,%lld,%.0e,%.2e,%.2e,%.3f,%.3f,%d,%d", letter, name,
                static_cast<long long>(n), condition, residual[1].ratio, residual[0].ratio,
                residual[1].scaled, residual[0].scaled, infos[1], infos[0]);
  print_line(line);
}

template <class T>
void bench_all(int64_t n) {
  DeviceArray<T> A(size_t(n) * n);
  bench("random", {GeneratedMatrix::random, n}, 50, A);
  bench("graded", {GeneratedMatrix::graded, n}, 50, A);
  // The largest eigenvalue of the smooth matrix is n / 8, the smallest one the nugget.
  const double most = sizeof(Real<T>) == 8 ? 1e14 : 1e6;
  for (double condition = 1e4; condition < 2 * most; condition *= 100)
    bench("smooth", {GeneratedMatrix::smooth, n, -1, double(n) / 8 / condition}, condition, A);
}

}  // namespace
}  // namespace chol::bench

int main(int argc, char** argv) {
  using namespace chol::bench;
  return run_cases(
      argc, argv, 3, "bench_tensor_errors precisions n,n,... [file.csv]",
      "precision,matrix,n,condition,ratio,native_ratio,scaled,native_scaled,info,native_info",
      []<class T>(T, int64_t n) { bench_all<T>(n); });
}
