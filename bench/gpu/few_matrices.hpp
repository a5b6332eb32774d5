// Batches that do not fill the device, compared with the faster one of cuSOLVER's batched routine
// and its routine for one matrix in a loop.
#pragma once

#include "batched_case.hpp"

namespace chol::bench {

/// cuSOLVER's factorizations of the matrices of A, one after the other.
template <class T>
double looped_ms(const DeviceBatch<T>& A, cublasFillMode_t uplo, int64_t n, int64_t batch) {
  cusolverDnParams_t params;
  peer(cusolverDnCreateParams(&params));
  size_t device_bytes = 0, host_bytes = 0;
  const cudaDataType type = data_type<T>();
  peer(cusolverDnXpotrf_bufferSize(solver, params, uplo, n, type, A.work.data(), n, type,
                                   &device_bytes, &host_bytes));
  DeviceArray<char> device_work(device_bytes);
  std::vector<char> host_work(host_bytes + 1);
  const auto factor_all = [&] {
    for (int64_t b = 0; b < batch; ++b)
      peer(cusolverDnXpotrf(solver, params, uplo, n, type, A.work.data() + b * n * n, n, type,
                            device_work.data(), device_bytes, host_work.data(), host_bytes,
                            A.info.data() + b));
  };
  const double ms = median_ms([&] { A.restore(); }, factor_all);
  peer(cusolverDnDestroyParams(params));
  return ms;
}

template <class T>
PeerTime faster_cusolver(const BatchedCase<T>& c) {
  const PeerTime batched = cusolver(c);
  const auto uplo = c.uplo == CHOL_LOWER ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
  const double ms = looped_ms(c.A, uplo, c.n, c.batch);
  return ms < batched.ms ? PeerTime{"cusolverDnXpotrf", ms} : batched;
}

template <class T>
void bench_few(int64_t n) {
  for (chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER})
    for (int64_t batch : {1, 4, 16, 50, 75, 100, 131})
      bench_batched(BatchedCase<T>(uplo, n, 0, batch, true), faster_cusolver<T>);
}

}  // namespace chol::bench
