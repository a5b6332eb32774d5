// Device memory and chol.h by element type, for the tests and the benchmark of the CUDA backend.
#pragma once

#include <cuda_runtime_api.h>

#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "chol.h"

namespace chol::test {

#define CHOL_TEST_CUDA(call)                                                               \
  do {                                                                                     \
    const cudaError_t error_ = (call);                                                     \
    if (error_ != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_)); \
      std::exit(2);                                                                        \
    }                                                                                      \
  } while (0)

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count = 0) : count_(count) {
    if (count) CHOL_TEST_CUDA(cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)));
  }
  explicit DeviceArray(const std::vector<T>& host) : DeviceArray(host.size()) { put(host); }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  void assign(const std::vector<T>& host) {
    cudaFree(data_);
    data_ = nullptr;
    count_ = host.size();
    CHOL_TEST_CUDA(cudaMalloc(reinterpret_cast<void**>(&data_), count_ * sizeof(T)));
    put(host);
  }
  void put(const std::vector<T>& host) {
    CHOL_TEST_CUDA(cudaMemcpy(data_, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> get() const {
    std::vector<T> host(count_);
    CHOL_TEST_CUDA(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }
  T* data() const { return data_; }
  size_t size() const { return count_; }

 private:
  T* data_ = nullptr;
  size_t count_ = 0;
};

template <class T>
struct RealType {
  using Type = T;
};
template <class R>
struct RealType<std::complex<R>> {
  using Type = R;
};
template <class T>
using Real = typename RealType<T>::Type;

// chol.h's four functions of each routine as one overload set.
#define CHOL_TEST_OVERLOADS(p, T, R)                                            \
  inline auto potrf_of(T) { return chol_##p##potrf; }                           \
  inline auto potrs_of(T) { return chol_##p##potrs; }                           \
  inline auto posv_of(T) { return chol_##p##posv; }                             \
  inline auto potri_of(T) { return chol_##p##potri; }                           \
  inline auto logdet_of(T) { return chol_##p##logdet; }                         \
  inline auto potrf_batched_of(T) { return chol_##p##potrf_batched; }           \
  inline auto potrs_batched_of(T) { return chol_##p##potrs_batched; }           \
  inline auto posv_batched_of(T) { return chol_##p##posv_batched; }             \
  inline auto potrf_strided_of(T) { return chol_##p##potrf_strided_batched; }   \
  inline auto posv_strided_of(T) { return chol_##p##posv_strided_batched; }     \
  inline auto potri_strided_of(T) { return chol_##p##potri_strided_batched; }   \
  inline auto potrf_vbatched_of(T) { return chol_##p##potrf_vbatched; }         \
  inline auto potrf_interleaved_of(T) { return chol_##p##potrf_interleaved; }   \
  inline auto potrs_interleaved_of(T) { return chol_##p##potrs_interleaved; }   \
  inline auto posv_interleaved_of(T) { return chol_##p##posv_interleaved; }     \
  inline auto potri_interleaved_of(T) { return chol_##p##potri_interleaved; }   \
  inline auto logdet_interleaved_of(T) { return chol_##p##logdet_interleaved; } \
  inline auto pack_of(T) { return chol_##p##pack_interleaved; }                 \
  inline auto unpack_of(T) { return chol_##p##unpack_interleaved; }             \
  inline char letter_of(T) { return *#p; }
CHOL_TEST_OVERLOADS(s, float, float)
CHOL_TEST_OVERLOADS(d, double, double)
CHOL_TEST_OVERLOADS(c, std::complex<float>, float)
CHOL_TEST_OVERLOADS(z, std::complex<double>, double)
#undef CHOL_TEST_OVERLOADS

/// Whether a device is available; otherwise prints SKIPPED and the reason.
inline bool device_present() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) return true;
  std::printf("SKIPPED: no CUDA device (%s)\n",
              error == cudaSuccess ? "none present" : cudaGetErrorString(error));
  return false;
}

}  // namespace chol::test
