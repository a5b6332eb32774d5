// Interleaved batches on a CUDA device as CSV, a line a case: the share is bytes that must move
// (the triangle read and written, right-hand sides too) over time and copy bandwidth, measured in
// the same run. That is the roofline as well: up to n = 130 no routine here reaches the GEMM rate
// of an H200 before its copy bandwidth.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "packed_batch.hpp"
#include "top_looking.hpp"

namespace chol::bench {
namespace {

template <class T>
void print(const char* what, const PackedBatch<T>& P, double flops, double bytes, double ms,
           const char* peer, double peer_ms) {
  char line[256];
  const double factor = sizeof(T) == sizeof(Real<T>) ? 1 : 4;
  std::snprintf(line, sizeof line, "%s,%c,L,%lld,%lld,%lld,%.4f,%.1f,%.0f,%.3f,%s,%.4f,%.2f", what,
                letter_of(T{}), static_cast<long long>(P.n), static_cast<long long>(P.chunk),
                static_cast<long long>(P.count), ms, factor * flops * double(P.count) / ms * 1e-6,
                bytes * double(P.count) / ms * 1e-6,
                bytes * double(P.count) / ms * 1e-6 / copy_bandwidth, peer, peer_ms,
                peer_ms > 0 ? peer_ms / ms : 0);
  print_line(line);
}

template <class T>
void bench_order(int64_t n, int64_t chunk, bool solves, bool packs) {
  const int64_t count =
      std::min<int64_t>(16000000, (int64_t(768) << 20) / int64_t(n * n * sizeof(T)));
  const PackedBatch<T> P(n, chunk, count);
  const auto restore = [&] { P.restore(); };
  const double triangle = double(n * (n + 1) / 2) * sizeof(T),
               vectors = 2.0 * double(n) * sizeof(T);
  const double size = double(n), factor_flops = size * size * size / 3 + size * size / 2 + size / 6;
  const double potrf = median_ms(restore, [&] { P.potrf(); });
  const bool has_peer = chunk == 32;
  const auto untuned = [&] {
    run_top_looking(n, P.work.data(), P.chunk, P.info.data(), P.count, stream);
  };
  print("potrf_interleaved", P, factor_flops, 2 * triangle, potrf, has_peer ? "top_looking_8" : "",
        has_peer ? median_ms(restore, untuned) : 0);
  if (solves) {
    const auto factored = [&] {
      P.restore();
      P.potrf();
    };
    const double potrs = median_ms(factored, [&] { P.potrs(); });
    print("potrs_interleaved", P, 2 * size * size, triangle + vectors, potrs, "", 0);
    const double posv = median_ms(restore, [&] { P.posv(); });
    print("posv_interleaved", P, factor_flops + 2 * size * size, 2 * triangle + vectors, posv,
          "potrf_then_potrs", potrf + potrs);
  }
  if (!packs) return;
  DeviceArray<T> copy(P.matrices.size());
  const auto again = [&] {
    CHOL_TEST_CUDA(cudaMemcpyAsync(copy.data(), P.matrices.data(), sizeof(T) * copy.size(),
                                   cudaMemcpyDeviceToDevice, stream));
  };
  const double whole = median_ms(again, [&] {
    ours(test::pack_of(T{})(handle, CHOL_LOWER, n, copy.data(), n, n * n, P.work.data(), n, P.chunk,
                            P.count));
    P.potrf();
    ours(test::unpack_of(T{})(handle, CHOL_LOWER, n, P.work.data(), n, copy.data(), n, n * n,
                              P.chunk, P.count));
  });
  const double direct = median_ms(again, [&] {
    ours(test::potrf_strided_of(T{})(handle, CHOL_LOWER, n, copy.data(), n, n * n, P.info.data(),
                                     P.count));
  });
  print("pack_potrf_unpack", P, factor_flops, 6 * triangle, whole, "potrf_strided_batched", direct);
}

/// The selected orders: from one on, or a list.
int64_t least_order = 0;
std::vector<int64_t> named_orders;

template <class T>
void run_all(bool quick) {
  const auto bench_order = [](int64_t n, int64_t chunk, bool solves, bool packs) {
    if (n >= least_order) bench::bench_order<T>(n, chunk, solves, packs);
  };
  if (!named_orders.empty()) {
    for (int64_t chunk : {32, 8})
      for (const int64_t n : named_orders) bench_order(n, chunk, true, false);
    return;
  }
  if (quick) {
    for (int64_t n : {4, 12, 16, 24, 32, 48, 64, 100}) bench_order(n, 32, true, false);
    return;
  }
  for (int64_t n :
       {2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18,  20,  21,  22,  24,
        26, 28, 30, 32, 33, 36, 40, 44, 48, 56, 64, 65, 72, 80, 90, 96, 100, 112, 128, 144, 192})
    bench_order(n, 32, true, n <= 96 && (n % 8 == 0 || n == 4 || n == 12 || n == 20));
  for (int64_t n :
       {28, 30, 32, 33, 36, 40, 44, 48, 56, 64, 65, 72, 80, 90, 96, 100, 112, 128, 144, 192})
    bench_order(n, 8, true, false);
  for (int64_t chunk : {64, 128, 256, 512, 0})
    for (int64_t n : {4, 8, 12, 16, 24, 32, 48, 64, 96}) bench_order(n, chunk, false, false);
}

}  // namespace
}  // namespace chol::bench

/// bench_interleaved [all|quick|from=N|orders=N,N...] [precisions] [csv] [repetitions]
int main(int argc, char** argv) {
  using namespace chol::bench;
  if (!chol::test::device_present()) return 0;
  const bool quick = argc > 1 && std::strcmp(argv[1], "quick") == 0;
  if (argc > 1 && std::strncmp(argv[1], "from=", 5) == 0) least_order = std::atoll(argv[1] + 5);
  if (argc > 1 && std::strncmp(argv[1], "orders=", 7) == 0) named_orders = orders_of(argv[1]);
  const std::string precisions = argc > 2 ? argv[2] : "sdcz";
  if (argc > 3) csv = std::fopen(argv[3], "a");
  if (argc > 4) repetitions = std::atoi(argv[4]);
  if (!open_handle()) return 1;
  measure_copy();
  std::printf("# copy %.0f GB/s\n", copy_bandwidth);
  if (csv) std::fprintf(csv, "# copy %.0f GB/s\n", copy_bandwidth);
  print_line("case,precision,uplo,n,chunk,batch,ms,gflops,GB_s,share,peer,peer_ms,ratio");
  for (char p : precisions) {
    if (p == 's') run_all<float>(quick);
    if (p == 'd') run_all<double>(quick);
    if (p == 'c') run_all<std::complex<float>>(quick);
    if (p == 'z') run_all<std::complex<double>>(quick);
  }
  if (csv) std::fclose(csv);
  chol_destroy(handle);
  return 0;
}
