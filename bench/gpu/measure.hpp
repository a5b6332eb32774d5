// Common parts of the cases of bench_device: the compared libraries, the limits of the device,
// lines of CSV.
#pragma once

#include <cublas_v2.h>
#include <cusolverDn.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "device_input.hpp"

namespace chol::bench {

inline cublasHandle_t blas;
inline cusolverDnHandle_t solver;
inline double gemm_rate[4] = {};  ///< s, d, c, z

inline int index_of(char letter) { return static_cast<int>(std::strchr("sdcz", letter) - "sdcz"); }

inline void peer(int status) {
  if (status == 0) return;
  std::fprintf(stderr, "peer library: status %d\n", status);
  std::exit(4);
}

/// Opens chol's and cuSOLVER's handles, and reads the file and the repetitions from argument
/// `place` on.
inline bool open_all(int argc, char** argv, int place) {
  if (argc > place) csv = std::fopen(argv[place], "a");
  if (argc > place + 1) repetitions = std::atoi(argv[place + 1]);
  if (!open_handle()) return false;
  peer(cusolverDnCreate(&solver));
  peer(cusolverDnSetStream(solver, stream));
  return true;
}

/// body(zero of the element type, n) for each precision of the letters and each order of the list.
template <class Body>
void for_each_case(const char* letters, const char* orders, Body&& body) {
  for (const char* p = letters; *p; ++p)
    for (const int64_t n : orders_of(std::string("=") + orders)) {
      if (*p == 's') body(float{}, n);
      if (*p == 'd') body(double{}, n);
      if (*p == 'c') body(std::complex<float>{}, n);
      if (*p == 'z') body(std::complex<double>{}, n);
    }
}

/// Closes what open_all() has opened.
inline void close_all() {
  if (csv) std::fclose(csv);
  chol_destroy(handle);
}

/// The course of a program: prints the header, then runs body(zero of the element type, n) for the
/// precisions and orders of the first two arguments; a file and repetitions follow at `place`.
/// @return the exit code
template <class Body>
int run_cases(int argc, char** argv, int place, const char* usage, const char* header,
              Body&& body) {
  if (!test::device_present()) return 0;
  if (argc < place) {
    std::fprintf(stderr, "usage: %s\n", usage);
    return 1;
  }
  if (!open_all(argc, argv, place)) return 1;
  print_line(header);
  for_each_case(argv[1], argv[2], body);
  close_all();
  return 0;
}

#define CHOL_BENCH_PEERS(P, T, C)                                                                  \
  inline void peer_potrf(cublasFillMode_t uplo, int n, T** A, int* info, int batch) {              \
    peer(cusolverDn##P##potrfBatched(solver, uplo, n, reinterpret_cast<C**>(A), n, info, batch));  \
  }                                                                                                \
  inline void peer_potrs(cublasFillMode_t uplo, int n, T** A, T** B, int* info, int batch) {       \
    peer(cusolverDn##P##potrsBatched(solver, uplo, n, 1, reinterpret_cast<C**>(A), n,              \
                                     reinterpret_cast<C**>(B), n, info, batch));                   \
  }                                                                                                \
  inline void peer_trsm(cublasFillMode_t uplo, bool adjoint, int n, int nrhs, T** A, T** B,        \
                        int batch) {                                                               \
    const T one = T(1);                                                                            \
    peer(cublas##P##trsmBatched(blas, CUBLAS_SIDE_LEFT, uplo, adjoint ? CUBLAS_OP_C : CUBLAS_OP_N, \
                                CUBLAS_DIAG_NON_UNIT, n, nrhs, reinterpret_cast<const C*>(&one),   \
                                reinterpret_cast<C* const*>(A), n, reinterpret_cast<C* const*>(B), \
                                n, batch));                                                        \
  }                                                                                                \
  inline void peer_gemm(int n, const T* A, const T* B, T* D) {                                     \
    const T one = T(1), zero = T(0);                                                               \
    peer(cublas##P##gemm(blas, CUBLAS_OP_N, CUBLAS_OP_C, n, n, n,                                  \
                         reinterpret_cast<const C*>(&one), reinterpret_cast<const C*>(A), n,       \
                         reinterpret_cast<const C*>(B), n, reinterpret_cast<const C*>(&zero),      \
                         reinterpret_cast<C*>(D), n));                                             \
  }
CHOL_BENCH_PEERS(S, float, float)
CHOL_BENCH_PEERS(D, double, double)
CHOL_BENCH_PEERS(C, std::complex<float>, cuComplex)
CHOL_BENCH_PEERS(Z, std::complex<double>, cuDoubleComplex)

template <class T>
cudaDataType data_type() {
  const cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
  return types[index_of(letter_of(T{}))];
}

inline double potrf_flops(double n) { return n * n * n / 3 + n * n / 2 + n / 6; }
template <class T>
double factor_of() {
  return sizeof(T) == sizeof(Real<T>) ? 1 : 4;
}

/// Bytes of the sectors of 32 bytes that hold the lower triangle of an n x n array, read once.
inline double triangle_sectors(int64_t n, int64_t size) {
  int64_t sectors = 0, past = -1;
  for (int64_t j = 0; j < n; ++j) {
    const int64_t from = (j * n + j) * size / 32, to = ((j + 1) * n * size - 1) / 32;
    sectors += to - std::max(from, past + 1) + 1;
    past = to;
  }
  return 32.0 * double(sectors);
}

/// Arrays of `size` elements back to back, a few different ones repeated, to be processed and
/// restored; none, with null pointers, if size = 0.
template <class T>
struct RepeatedArrays {
  DeviceArray<T> master, work;
  DeviceArray<T*> pointers;

  RepeatedArrays(const std::vector<T>& different, int64_t size, int64_t count)
      : master(size * count), work(size * count), pointers(count) {
    if (size == 0) return;
    fill(master, different, size_t(size * count));
    std::vector<T*> where(count);
    for (int64_t b = 0; b < count; ++b) where[b] = work.data() + b * size;
    pointers.put(where);
  }
  void restore() const {
    if (work.size() == 0) return;
    CHOL_TEST_CUDA(cudaMemcpyAsync(work.data(), master.data(), sizeof(T) * work.size(),
                                   cudaMemcpyDeviceToDevice, stream));
  }
};

template <class T>
struct DeviceBatch : RepeatedArrays<T> {
  DeviceArray<int> info;

  DeviceBatch(int64_t n, int64_t count)
      : RepeatedArrays<T>(random_matrices<T>(n, count, 1 << 20), n * n, count), info(count) {}
};

inline void print(const char* what, char precision, char uplo, int64_t n, int64_t nrhs,
                  int64_t batch, double flops, double ours_ms, double peer_ms,
                  const char* peer_name, double bytes) {
  const double rate = flops / ours_ms * 1e-6, peer_rate = peer_ms > 0 ? flops / peer_ms * 1e-6 : 0;
  const double roof =
      std::min(gemm_rate[index_of(precision)] * 1e3, copy_bandwidth * flops / bytes);
  char line[256];
  std::snprintf(line, sizeof line, "%s,%c,%c,%lld,%lld,%lld,%.4f,%.1f,%s,%.1f,%.2f,%.1f,%.3f", what,
                precision, uplo, static_cast<long long>(n), static_cast<long long>(nrhs),
                static_cast<long long>(batch), ours_ms, rate, peer_name, peer_rate,
                peer_rate > 0 ? rate / peer_rate : 0, roof, rate / roof);
  print_line(line);
}

/// Operands of square products of the order used for gemm_rate.
template <class T>
struct Products {
  static constexpr int kOrder = 6144;
  DeviceArray<T> A, B, C;

  Products() : Products(elements()) {}
  void run() const { peer_gemm(kOrder, A.data(), B.data(), C.data()); }
  static double flops() { return factor_of<T>() * 2.0 * kOrder * kOrder * kOrder; }

 private:
  explicit Products(const std::vector<T>& host) : A(host), B(host), C(host.size()) {}
  static std::vector<T> elements() {
    std::vector<T> host(size_t(kOrder) * kOrder);
    std::mt19937_64 engine(1);
    for (size_t k = 0; k < host.size(); ++k)
      host[k] = k < 4096 ? test::random_element<T>(engine) : host[k - 4095];
    return host;
  }
};

template <class T>
void measure_gemm() {
  const Products<T> products;
  const double ms = median_ms([] {}, [&] { products.run(); });
  gemm_rate[index_of(letter_of(T{}))] = products.flops() / ms * 1e-9;
}

/// Products one after the other for `wanted_ms`: in that time power may lower the device's clock,
/// unlike in the single products of measure_gemm.
template <class T>
void bench_products_for(double wanted_ms) {
  const Products<T> products;
  const double rate = gemm_rate[index_of(letter_of(T{}))];
  const int count = 1 + static_cast<int>(wanted_ms * rate * 1e9 / products.flops());
  const double ms = median_ms([] {},
                              [&] {
                                for (int k = 0; k < count; ++k) products.run();
                              });
  print("gemm_for_as_long", letter_of(T{}), '-', products.kOrder, 0, count,
        count * products.flops(), ms, 0, "", 1);
}

inline void measure_ceilings() {
  measure_copy();
  measure_gemm<float>();
  measure_gemm<double>();
  measure_gemm<std::complex<float>>();
  measure_gemm<std::complex<double>>();
  std::printf("# copy %.0f GB/s, gemm s %.1f d %.1f c %.1f z %.1f TF/s\n", copy_bandwidth,
              gemm_rate[0], gemm_rate[1], gemm_rate[2], gemm_rate[3]);
}

}  // namespace chol::bench
