// Input of batches on a device: a few different matrices, repeated.
#pragma once

#include <algorithm>

#include "timing.hpp"

namespace chol::bench {

/// Different positive definite matrices of order n, of so many elements together, at most `count`
/// and two at least.
template <class T>
std::vector<T> random_matrices(int64_t n, int64_t count, int64_t elements) {
  const int64_t different = std::min<int64_t>(count, std::max<int64_t>(2, elements / (n * n)));
  std::vector<T> host(n * n * different);
  std::mt19937_64 engine(n);
  for (int64_t b = 0; b < different; ++b)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i <= j; ++i) {
        T x = test::random_element<T>(engine);
        if (i == j) x = T(Real<T>(n) + std::real(x) + 1);
        host[b * n * n + j * n + i] = x;
        host[b * n * n + i * n + j] = test::conj_of(x);
      }
  return host;
}

/// The elements repeated, `count` in total.
template <class T>
void fill(const DeviceArray<T>& to, const std::vector<T>& host, size_t count) {
  const size_t first = std::min(host.size(), count);
  CHOL_TEST_CUDA(cudaMemcpy(to.data(), host.data(), sizeof(T) * first, cudaMemcpyHostToDevice));
  for (size_t filled = first; filled < count; filled *= 2)
    CHOL_TEST_CUDA(cudaMemcpy(to.data() + filled, to.data(),
                              sizeof(T) * std::min(filled, count - filled),
                              cudaMemcpyDeviceToDevice));
}

}  // namespace chol::bench
