// Batched Cholesky on a CUDA device: chol, cuSOLVER and cuBLAS on the same input in the same run,
// with the device's copy bandwidth and GEMM rate, as CSV. One line a case; ratio is the rate of
// chol over that of the peer, share that over the roofline of the case.
#include <optional>

#include "cusolverdx_peer.hpp"
#include "few_matrices.hpp"
#include "one_solve.hpp"
#include "triangle_copy.hpp"

namespace chol::bench {
namespace {

/// Batches of 1.5 GB and of 1000 matrices at least, as those of MAGMA's published figures: with few
/// matrices a multiprocessor the rate depends on how evenly they are distributed.
constexpr int64_t kBatchBytes = 1500000000, kFewest = 1000;

int64_t batch_for(int64_t n, size_t size, int64_t bytes) {
  return std::clamp<int64_t>(bytes / int64_t(n * n * size), kFewest, 4000000);
}

template <class T, class Peer>
void bench_potrf(chol_uplo_t uplo, int64_t n, int64_t batch, const Peer& beside) {
  bench_batched(BatchedCase<T>(uplo, n, 0, batch, true), beside);
}

/// The memory bound of bench_potrf: the same bytes copied in place, without computation.
template <class T>
void bench_triangle_copy(int64_t n) {
  const int64_t batch = batch_for(n, sizeof(T), kBatchBytes);
  const DeviceBatch<T> A(n, batch);
  void* const* const matrices = reinterpret_cast<void* const*>(A.pointers.data());
  if (!run_triangle_copy(n, n * int64_t(sizeof(T)), matrices, batch, stream)) return;
  const double ms = median_ms(
      [] {}, [&] { run_triangle_copy(n, n * int64_t(sizeof(T)), matrices, batch, stream); });
  print("triangle_copy", letter_of(T{}), 'L', n, 0, batch,
        factor_of<T>() * double(batch) * potrf_flops(double(n)), ms, 0, "",
        2 * triangle_sectors(n, sizeof(T)) * double(batch));
}

template <class T, class Peer>
void bench_solve(chol_uplo_t uplo, int64_t n, int64_t nrhs, bool factors, const Peer& beside) {
  const int64_t batch = batch_for(n, sizeof(T), kBatchBytes / 2);
  bench_batched(BatchedCase<T>(uplo, n, nrhs, batch, factors), beside);
}

/// Sizes uniform in 1 .. n; the peer column is our own fixed-size rate for the same flops.
template <class T>
void bench_variable(int64_t n, int64_t batch, double fixed_rate) {
  const DeviceBatch<T> A(n, batch);
  std::mt19937_64 engine(1);
  std::vector<int64_t> orders(batch);
  double flops = 0, bytes = 0;
  std::vector<double> sectors(n + 1);
  for (int64_t k = 1; k <= n; ++k) sectors[k] = triangle_sectors(k, sizeof(T));
  for (int64_t& k : orders) {
    k = 1 + int64_t(engine() % n);
    flops += factor_of<T>() * potrf_flops(double(k));
    bytes += 2 * sectors[k];
  }
  const DeviceArray<int64_t> dn(orders), ld(std::vector<int64_t>(batch, n));
  const double ms = median_ms(
      [&] { A.restore(); },
      [&] {
        ours(test::potrf_vbatched_of(T{})(handle, CHOL_LOWER, n, dn.data(), A.pointers.data(),
                                          ld.data(), A.info.data(), batch));
      });
  print("potrf_vbatched_uniform", letter_of(T{}), 'L', n, 0, batch, flops, ms,
        flops / fixed_rate * 1e-6, "own_fixed_size", bytes);
}

template <class T>
double fixed_rate(int64_t n, int64_t batch) {
  const DeviceBatch<T> A(n, batch);
  const double ms =
      median_ms([&] { A.restore(); },
                [&] {
                  ours(test::potrf_batched_of(T{})(handle, CHOL_LOWER, n, A.pointers.data(), n,
                                                   A.info.data(), batch));
                });
  return factor_of<T>() * double(batch) * potrf_flops(double(n)) / ms * 1e-6;
}

/// One matrix generated on the device: repeated random elements with a dominant diagonal.
template <class T>
struct OneMatrix {
  DeviceArray<T> master, work;
  DeviceArray<int> info;

  explicit OneMatrix(int64_t n) : master(n * n), work(n * n), info(1) {
    constexpr size_t kDifferent = (1 << 20) - 3;  // not a multiple of any tested order
    std::vector<T> elements(kDifferent);
    std::mt19937_64 engine(n);
    for (T& x : elements) x = test::random_element<T>(engine);
    fill(master, elements, size_t(n * n));
    const std::vector<T> diagonal(n, T(Real<T>(n + 1)));
    CHOL_TEST_CUDA(cudaMemcpy2D(master.data(), (n + 1) * sizeof(T), diagonal.data(), sizeof(T),
                                sizeof(T), n, cudaMemcpyHostToDevice));
  }
  void restore() const {
    CHOL_TEST_CUDA(cudaMemcpyAsync(work.data(), master.data(), sizeof(T) * work.size(),
                                   cudaMemcpyDeviceToDevice, stream));
  }
};

template <class T>
void bench_one(chol_uplo_t uplo, int64_t n) {
  const OneMatrix<T> A(n);
  const cublasFillMode_t triangle =
      uplo == CHOL_UPPER ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  cusolverDnParams_t params;
  peer(cusolverDnCreateParams(&params));
  size_t device_bytes = 0, host_bytes = 0;
  const cudaDataType type = data_type<T>();
  peer(cusolverDnXpotrf_bufferSize(solver, params, triangle, n, type, A.work.data(), n, type,
                                   &device_bytes, &host_bytes));
  DeviceArray<char> device_work(device_bytes);
  std::vector<char> host_work(host_bytes + 1);
  const auto restore = [&] { A.restore(); };
  const double ms = median_ms(restore, [&] {
    ours(test::potrf_of(T{})(handle, uplo, n, A.work.data(), n, A.info.data()));
  });
  const double peer_ms = median_ms(restore, [&] {
    peer(cusolverDnXpotrf(solver, params, triangle, n, type, A.work.data(), n, type,
                          device_work.data(), device_bytes, host_work.data(), host_bytes,
                          A.info.data()));
  });
  print("potrf", letter_of(T{}), static_cast<char>(uplo), n, 0, 1,
        factor_of<T>() * potrf_flops(double(n)), ms, peer_ms, "cusolverDnXpotrf",
        2 * triangle_sectors(n, sizeof(T)));
  peer(cusolverDnDestroyParams(params));
  constexpr double kLongEnough = 20;  // ms; shorter calls run at the same clock as single products
  if (ms > kLongEnough) bench_products_for<T>(ms);
}

bool is_dx(const std::string& mode) { return mode == "dx" || mode.rfind("dx=", 0) == 0; }
bool is_dx_build(const std::string& mode) {
  return mode == "dx-build" || mode.rfind("dx-build=", 0) == 0;
}

template <class T>
void run_all(const std::string& what) {
  const auto wants = [&](const char* name) { return what == "all" || what == name; };
  const bool is_real = sizeof(T) == sizeof(Real<T>);
  const auto factored_batch = [](int64_t n) {
    return n > 512 ? 500 : batch_for(n, sizeof(T), kBatchBytes);
  };
  if (wants("potrf"))
    for (int64_t n :
         {4,   5,   8,   12,  16,  20,  24,  28,  32,  33,  40,  48,  64,  65,  80,  96,  100,
          112, 128, 160, 161, 176, 192, 193, 200, 208, 256, 320, 384, 500, 512, 768, 1024})
      bench_potrf<T>(CHOL_LOWER, n, factored_batch(n), cusolver<T>);
  if (wants("copy"))
    for (int64_t n : {4, 8, 12, 16, 20, 24, 28, 32}) bench_triangle_copy<T>(n);
  const auto each_order = [&](const std::string& prefix, auto&& bench) {
    if (what.rfind(prefix, 0) == 0)
      for (int64_t n : orders_of(what)) bench(n);
  };
  const auto factor_of_order = [&](chol_uplo_t uplo) {
    return [&, uplo](int64_t n) { bench_potrf<T>(uplo, n, factored_batch(n), no_peer<T>); };
  };
  each_order("n=", factor_of_order(CHOL_LOWER));
  each_order("upper=", factor_of_order(CHOL_UPPER));
  each_order("few=", bench_few<T>);
  each_order("potrs=", [](int64_t n) {
    for (int64_t nrhs : {1, 4, 16}) bench_solve<T>(CHOL_LOWER, n, nrhs, false, cusolver<T>);
  });
  each_order("upper-potrs=", [](int64_t n) {
    for (int64_t nrhs : {1, 4, 16}) bench_solve<T>(CHOL_UPPER, n, nrhs, false, no_peer<T>);
  });
  each_order("posv=", [](int64_t n) { bench_solve<T>(CHOL_LOWER, n, 1, true, cusolver<T>); });
  const auto solution_of_order = [](chol_uplo_t uplo) {
    return [uplo](int64_t n) { bench_solve<T>(uplo, n, 1, true, no_peer<T>); };
  };
  each_order("lower-posv=", solution_of_order(CHOL_LOWER));
  each_order("upper-posv=", solution_of_order(CHOL_UPPER));
  if (wants("quick"))
    for (int64_t n : {4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512})
      bench_potrf<T>(CHOL_LOWER, n, batch_for(n, sizeof(T), kBatchBytes), no_peer<T>);
  if (wants("upper"))
    for (int64_t n : {4, 8, 16, 24, 32, 48, 64, 128, 256, 512})
      bench_potrf<T>(CHOL_UPPER, n, batch_for(n, sizeof(T), kBatchBytes), no_peer<T>);
  if (wants("few") && is_real)
    for (int64_t n : {32, 64, 128, 256, 512})
      for (int64_t batch : {1, 10, 100}) bench_potrf<T>(CHOL_LOWER, n, batch, cusolver<T>);
  if (wants("posv"))
    for (int64_t n : {4, 8, 16, 32, 64}) bench_solve<T>(CHOL_LOWER, n, 1, true, cusolver<T>);
  if (wants("potrs"))
    for (int64_t nrhs : {1, 16})
      for (int64_t n : {8, 16, 32, 64, 128})
        bench_solve<T>(CHOL_LOWER, n, nrhs, false, cusolver<T>);
  if (is_dx(what))
    for (const dx::Case& c : cusolverdx_cases(letter_of(T{}), orders_of(what))) {
      if (c.solves())
        bench_solve<T>(CHOL_LOWER, c.n, c.nrhs, c.factors(), cusolverdx<T>);
      else
        bench_potrf<T>(CHOL_LOWER, c.n, batch_for(c.n, sizeof(T), kBatchBytes), cusolverdx<T>);
    }
  if (wants("variable"))
    for (int64_t n : {32, 64, 128, 256, 512}) {
      // The fixed size whose cube is the mean cube of sizes uniform in 1 .. n.
      const auto same = static_cast<int64_t>(double(n) * 0.63);
      bench_variable<T>(n, 10000, fixed_rate<T>(same, 10000));
    }
  const auto one_of_order = [](int64_t n) {
    for (chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER}) bench_one<T>(uplo, n);
  };
  each_order("one=", one_of_order);
  each_order("one-solve=", [](int64_t n) { bench_one_solve<T>(CHOL_LOWER, n); });
  each_order("upper-one-solve=", [](int64_t n) { bench_one_solve<T>(CHOL_UPPER, n); });
  each_order("lower-one=", [](int64_t n) { bench_one<T>(CHOL_LOWER, n); });
  if (wants("one"))
    for (int64_t n : {64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384})
      if (n < 16384 || is_real) one_of_order(n);
}

}  // namespace
}  // namespace chol::bench

int main(int argc, char** argv) {
  using namespace chol::bench;
  const std::string what = argc > 1 ? argv[1] : "all";
  const std::string precisions = argc > 2 ? argv[2] : "sdcz";
  std::optional<CubinFolder> folder;
  if (is_dx(what) || is_dx_build(what)) {
    folder.emplace();
    if (!folder->prepare(precisions, orders_of(what))) return 1;
    if (is_dx_build(what)) return 0;
  }
  if (!chol::test::device_present()) return 0;
  if (!open_all(argc, argv, 3)) return 1;
  peer(cublasCreate(&blas));
  peer(cublasSetStream(blas, stream));
  measure_ceilings();
  print_line("case,precision,uplo,n,nrhs,batch,ms,gflops,peer,peer_gflops,ratio,roofline,share");
  for (char p : precisions) {
    if (p == 's') run_all<float>(what);
    if (p == 'd') run_all<double>(what);
    if (p == 'c') run_all<std::complex<float>>(what);
    if (p == 'z') run_all<std::complex<double>>(what);
  }
  if (csv) std::fclose(csv);
  chol_destroy(handle);
  return cusolverdx_was_wrong ? 5 : 0;
}
