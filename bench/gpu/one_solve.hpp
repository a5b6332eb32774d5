// Solves with one factored matrix, its inverse and posv, compared with cuSOLVER's routines for one
// matrix.
#pragma once

#include "measure.hpp"

namespace chol::bench {

#define CHOL_BENCH_PEER_POTRI(P, T, C)                                                         \
  inline int peer_potri_size(cublasFillMode_t uplo, int n, T* A) {                             \
    int size = 0;                                                                              \
    peer(cusolverDn##P##potri_bufferSize(solver, uplo, n, reinterpret_cast<C*>(A), n, &size)); \
    return size;                                                                               \
  }                                                                                            \
  inline void peer_potri(cublasFillMode_t uplo, int n, T* A, T* work, int size, int* info) {   \
    peer(cusolverDn##P##potri(solver, uplo, n, reinterpret_cast<C*>(A), n,                     \
                              reinterpret_cast<C*>(work), size, info));                        \
  }
CHOL_BENCH_PEER_POTRI(S, float, float)
CHOL_BENCH_PEER_POTRI(D, double, double)
CHOL_BENCH_PEER_POTRI(C, std::complex<float>, cuComplex)
CHOL_BENCH_PEER_POTRI(Z, std::complex<double>, cuDoubleComplex)
#undef CHOL_BENCH_PEER_POTRI

/// One to n right-hand sides; for few right-hand sides the share is of the copy bandwidth, with the
/// triangle read twice.
template <class T>
void bench_one_potrs(chol_uplo_t uplo, int64_t n, const DeviceArray<T>& L, int* info) {
  const auto triangle = uplo == CHOL_UPPER ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  cusolverDnParams_t params;
  peer(cusolverDnCreateParams(&params));
  const cudaDataType type = data_type<T>();
  for (int64_t nrhs : {int64_t(1), int64_t(4), int64_t(16), int64_t(100), int64_t(256), n}) {
    const std::vector<T> element(1, T(1));
    const DeviceArray<T> start(n * nrhs), B(n * nrhs);
    fill(start, element, size_t(n * nrhs));
    const auto restore = [&] {
      CHOL_TEST_CUDA(cudaMemcpyAsync(B.data(), start.data(), sizeof(T) * n * nrhs,
                                     cudaMemcpyDeviceToDevice, stream));
    };
    const double ms = median_ms(restore, [&] {
      ours(test::potrs_of(T{})(handle, uplo, n, nrhs, L.data(), n, B.data(), n));
    });
    const double peer_ms = median_ms(restore, [&] {
      peer(cusolverDnXpotrs(solver, params, triangle, n, nrhs, type, L.data(), n, type, B.data(), n,
                            info));
    });
    print("potrs", letter_of(T{}), static_cast<char>(uplo), n, nrhs, 1,
          factor_of<T>() * 2.0 * double(n) * double(n) * double(nrhs), ms, peer_ms,
          "cusolverDnXpotrs", 2 * triangle_sectors(n, sizeof(T)));
  }
  peer(cusolverDnDestroyParams(params));
}

template <class T>
void bench_one_potri(chol_uplo_t uplo, int64_t n, const DeviceArray<T>& L, int* info) {
  const auto triangle = uplo == CHOL_UPPER ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  const DeviceArray<T> A(L.size());
  const int size = peer_potri_size(triangle, static_cast<int>(n), A.data());
  const DeviceArray<T> work(size);
  const auto restore = [&] {
    CHOL_TEST_CUDA(cudaMemcpyAsync(A.data(), L.data(), sizeof(T) * L.size(),
                                   cudaMemcpyDeviceToDevice, stream));
  };
  const double ms =
      median_ms(restore, [&] { ours(test::potri_of(T{})(handle, uplo, n, A.data(), n, info)); });
  const double peer_ms = median_ms(restore, [&] {
    peer_potri(triangle, static_cast<int>(n), A.data(), work.data(), size, info);
  });
  print("potri", letter_of(T{}), static_cast<char>(uplo), n, 0, 1,
        factor_of<T>() * 2 * potrf_flops(double(n)), ms, peer_ms, "cusolverDnpotri",
        2 * triangle_sectors(n, sizeof(T)));
}

/// One right-hand side and 16, compared with the factorization and the solution.
template <class T>
void bench_one_posv(chol_uplo_t uplo, int64_t n, const DeviceBatch<T>& A) {
  const auto triangle = uplo == CHOL_UPPER ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  cusolverDnParams_t params;
  peer(cusolverDnCreateParams(&params));
  const cudaDataType type = data_type<T>();
  size_t device_bytes = 0, host_bytes = 0;
  peer(cusolverDnXpotrf_bufferSize(solver, params, triangle, n, type, A.work.data(), n, type,
                                   &device_bytes, &host_bytes));
  const DeviceArray<char> work(device_bytes);
  std::vector<char> host_work(host_bytes);
  for (int64_t nrhs : {1, 16}) {
    const DeviceArray<T> B(n * nrhs);
    fill(B, std::vector<T>(1, T(1)), size_t(n * nrhs));
    const auto restore = [&] { A.restore(); };
    const double ms = median_ms(restore, [&] {
      ours(test::posv_of(T{})(handle, uplo, n, nrhs, A.work.data(), n, B.data(), n, A.info.data()));
    });
    const double peer_ms = median_ms(restore, [&] {
      peer(cusolverDnXpotrf(solver, params, triangle, n, type, A.work.data(), n, type, work.data(),
                            device_bytes, host_work.data(), host_bytes, A.info.data()));
      peer(cusolverDnXpotrs(solver, params, triangle, n, nrhs, type, A.work.data(), n, type,
                            B.data(), n, A.info.data()));
    });
    const double flops = potrf_flops(double(n)) + 2.0 * double(n) * double(n) * double(nrhs);
    print("posv", letter_of(T{}), static_cast<char>(uplo), n, nrhs, 1, factor_of<T>() * flops, ms,
          peer_ms, "cusolverDnXpotrf+s", 4 * triangle_sectors(n, sizeof(T)));
  }
  peer(cusolverDnDestroyParams(params));
}

template <class T>
void bench_one_solve(chol_uplo_t uplo, int64_t n) {
  const DeviceBatch<T> A(n, 1);
  A.restore();
  ours(test::potrf_of(T{})(handle, uplo, n, A.work.data(), n, A.info.data()));
  bench_one_potrs<T>(uplo, n, A.work, A.info.data());
  bench_one_potri<T>(uplo, n, A.work, A.info.data());
  bench_one_posv<T>(uplo, n, A);
}

}  // namespace chol::bench
