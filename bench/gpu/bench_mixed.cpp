// dsposv and zcposv against posv and cuSOLVER's potrf with potrs, with new input for each
// repetition: bench_mixed precisions n,n,... nrhs [file.csv [repetitions]]
#include "generated_matrix.hpp"
#include "large_peer.hpp"

namespace chol::bench {
namespace {

using test::GeneratedMatrix;

chol_status_t mixed(int64_t n, int64_t nrhs, double* A, const double* B, double* X, int* iter,
                    int* info) {
  return chol_dsposv(handle, CHOL_LOWER, n, nrhs, A, n, B, n, X, n, iter, info);
}
chol_status_t mixed(int64_t n, int64_t nrhs, std::complex<double>* A, const std::complex<double>* B,
                    std::complex<double>* X, int* iter, int* info) {
  return chol_zcposv(handle, CHOL_LOWER, n, nrhs, A, n, B, n, X, n, iter, info);
}

template <class T>
double difference(const std::vector<T>& x, const std::vector<T>& y) {
  double most = 0, size = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    most = std::max(most, double(std::abs(x[i] - y[i])));
    size = std::max(size, double(std::abs(x[i])));
  }
  return most / size;
}

template <class T>
void bench(GeneratedMatrix::Kind kind, int64_t n, int64_t nrhs) {
  const char letter = letter_of(T{});
  // Its largest eigenvalue is n / 8: a condition number of 1e8.
  const GeneratedMatrix matrix{kind, n, -1, 1.25e-9 * double(n)};
  DeviceArray<T> A(size_t(n) * n), B(n * nrhs), X(n * nrhs);
  std::vector<T> period(4099);
  std::mt19937_64 engine(1);
  for (T& x : period) x = test::random_element<T>(engine);
  fill(B, period, size_t(n * nrhs));
  DeviceArray<int> device_info(1);
  const auto write = [&] {
    CHOL_TEST_CUDA(matrix.write(letter, false, A.data(), n, stream));
    CHOL_TEST_CUDA(cudaMemcpyAsync(X.data(), B.data(), sizeof(T) * n * nrhs,
                                   cudaMemcpyDeviceToDevice, stream));
  };
  double peer_ms = 0;
  {
    Peer<T> cusolver(CUBLAS_FILL_MODE_LOWER, n);
    peer_ms = median_ms(write, [&] {
      cusolver.factor(A.data(), device_info.data());
      cusolver.solve(A.data(), nrhs, X.data(), device_info.data());
    });
  }
  const double full_ms = median_ms(write, [&] {
    ours(test::posv_of(T{})(handle, CHOL_LOWER, n, nrhs, A.data(), n, X.data(), n,
                            device_info.data()));
  });
  const std::vector<T> full = X.get();
  int iter = 0, info = 0;
  const double ms =
      median_ms(write, [&] { ours(mixed(n, nrhs, A.data(), B.data(), X.data(), &iter, &info)); });
  char line[256];
  std::snprintf(line, sizeof line, "%c,%s,%lld,%lld,%.2f,%.2f,%.2f,%.2f,%.2f,%d,%d,%.1e", letter,
                kind == GeneratedMatrix::random ? "random" : "smooth", static_cast<long long>(n),
                static_cast<long long>(nrhs), ms, full_ms, peer_ms, peer_ms / ms, full_ms / ms,
                iter, info, difference(full, X.get()));
  print_line(line);
}

}  // namespace
}  // namespace chol::bench

int main(int argc, char** argv) {
  using namespace chol::bench;
  return run_cases(
      argc, argv, 4, "bench_mixed precisions n,n,... nrhs [file.csv [repetitions]]",
      "precision,matrix,n,nrhs,ms,posv_ms,cusolver_ms,over_cusolver,over_posv,iter,info,"
      "difference",
      [&]<class T>(T, int64_t n) {
        if constexpr (sizeof(Real<T>) == sizeof(double))
          for (const auto kind : {GeneratedMatrix::random, GeneratedMatrix::smooth})
            bench<T>(kind, n, std::atoll(argv[3]));
      });
}
