// cuSOLVER's routines for one large matrix, as peers.
#pragma once

#include <optional>

#include "measure.hpp"

namespace chol::bench {

/// cusolverDnXpotrf with its workspace.
template <class T>
class Peer {
 public:
  Peer(cublasFillMode_t uplo, int64_t n) : uplo_(uplo), n_(n) {
    peer(cusolverDnCreateParams(&params_));
    size_t on_device = 0, on_host = 0;
    peer(cusolverDnXpotrf_bufferSize(solver, params_, uplo_, n_, data_type<T>(), nullptr, n_,
                                     data_type<T>(), &on_device, &on_host));
    device_.emplace(on_device + 1);
    host_.resize(on_host + 1);
  }
  ~Peer() { cusolverDnDestroyParams(params_); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void factor(T* A, int* info) {
    peer(cusolverDnXpotrf(solver, params_, uplo_, n_, data_type<T>(), A, n_, data_type<T>(),
                          device_->data(), device_->size(), host_.data(), host_.size(), info));
  }
  void solve(const T* A, int64_t nrhs, T* B, int* info) {
    peer(cusolverDnXpotrs(solver, params_, uplo_, n_, nrhs, data_type<T>(), A, n_, data_type<T>(),
                          B, n_, info));
  }

 private:
  cublasFillMode_t uplo_;
  int64_t n_;
  cusolverDnParams_t params_ = nullptr;
  std::optional<DeviceArray<char>> device_;
  std::vector<char> host_;
};

}  // namespace chol::bench
