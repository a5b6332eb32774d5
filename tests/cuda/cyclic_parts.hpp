// A matrix in block columns over devices, which may be one and the same.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "calls.hpp"

namespace chol::test {

#define CHOL_TEST_CYCLIC(p, T)                                          \
  inline auto potrf_cyclic_of(T) { return chol_##p##potrf_cyclic; }     \
  inline auto potrs_cyclic_of(T) { return chol_##p##potrs_cyclic; }     \
  inline auto posv_cyclic_of(T) { return chol_##p##posv_cyclic; }       \
  inline auto potri_cyclic_of(T) { return chol_##p##potri_cyclic; }     \
  inline auto logdet_cyclic_of(T) { return chol_##p##logdet_cyclic; }   \
  inline auto scatter_cyclic_of(T) { return chol_##p##scatter_cyclic; } \
  inline auto gather_cyclic_of(T) { return chol_##p##gather_cyclic; }
CHOL_TEST_CYCLIC(s, float)
CHOL_TEST_CYCLIC(d, double)
CHOL_TEST_CYCLIC(c, std::complex<float>)
CHOL_TEST_CYCLIC(z, std::complex<double>)
#undef CHOL_TEST_CYCLIC

/// A handle over devices, which may be one and the same.
struct Team {
  explicit Team(std::vector<int> numbers) : devices(std::move(numbers)) {
    const int count = static_cast<int>(devices.size());
    expect_status(nullptr, chol_create_on(&handle, CHOL_BACKEND_CUDA, count, devices.data()),
                  "chol_create_on");
  }
  ~Team() { chol_destroy(handle); }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  std::vector<int> devices;
  chol_handle_t handle = nullptr;
};

/// Memory of a matrix over the devices of a team, initialized with a pattern.
template <class T>
class Parts {
 public:
  Parts(const Team& team, int64_t n, int64_t nb) : team_(team), n_(n), nb_(nb) {
    const int64_t count = static_cast<int64_t>(team.devices.size());
    for (int64_t d = 0; d < count; ++d) {
      int64_t columns = 0;
      for (int64_t first = d * nb; first < n; first += count * nb)
        columns += std::min(nb, n - first);
      CHOL_TEST_CUDA(cudaSetDevice(team.devices[size_t(d)]));
      lds.push_back(std::max<int64_t>(n, 1) + 3);
      memory_.push_back(std::make_unique<DeviceArray<T>>(size_t(columns * lds.back())));
      if (columns > 0)
        CHOL_TEST_CUDA(
            cudaMemset(memory_.back()->data(), 0x5A, memory_.back()->size() * sizeof(T)));
      pointers.push_back(memory_.back()->data());
      CHOL_TEST_CUDA(cudaDeviceSynchronize());
    }
    CHOL_TEST_CUDA(cudaSetDevice(team.devices[0]));
  }

  void scatter(chol_uplo_t uplo, const T* A, int64_t lda) const {
    expect_status(
        team_.handle,
        scatter_cyclic_of(T{})(team_.handle, uplo, n_, A, lda, pointers.data(), lds.data(), nb_),
        "scatter");
  }
  void gather(chol_uplo_t uplo, T* A, int64_t lda) const {
    expect_status(
        team_.handle,
        gather_cyclic_of(T{})(team_.handle, uplo, n_, pointers.data(), lds.data(), nb_, A, lda),
        "gather");
  }
  int factor(chol_uplo_t uplo) const {
    int info = -5;
    expect_status(
        team_.handle,
        potrf_cyclic_of(T{})(team_.handle, uplo, n_, pointers.data(), lds.data(), nb_, &info),
        "potrf_cyclic");
    return info;
  }
  /// Number of elements that still have the pattern.
  int64_t untouched() const {
    int64_t count = 0;
    char pattern[sizeof(T)];
    std::memset(pattern, 0x5A, sizeof pattern);
    for (const auto& part : memory_)
      for (const T& x : part->get()) count += std::memcmp(&x, pattern, sizeof x) == 0;
    return count;
  }
  int64_t elements() const {
    int64_t count = 0;
    for (const auto& part : memory_) count += int64_t(part->size());
    return count;
  }

  std::vector<T*> pointers;
  std::vector<int64_t> lds;

 private:
  const Team& team_;
  int64_t n_, nb_;
  std::vector<std::unique_ptr<DeviceArray<T>>> memory_;
};

}  // namespace chol::test
