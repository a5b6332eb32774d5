// Operations of tile low rank algorithms on a device.
#pragma once

#include <memory>

#include "backend/backend.hpp"
#include "tlr/pool.hpp"

namespace chol::cuda::tlr {

/// A stream for what is computed beside the caller's.
struct Side {
  cudaStream_t stream = nullptr;
  cudaEvent_t begun = nullptr, ended = nullptr;
  void* results = nullptr;  ///< in pinned memory
};

/// What the operations of a backend keep between calls.
class Store {
 public:
  explicit Store(int device_number) : device(device_number), pool(device_number) {}
  ~Store();
  /// Made when it is asked for first.
  Side& side();
  void wait_for_side() const {
    if (side_.stream) cudaStreamSynchronize(side_.stream);
  }
  int device;
  Pool pool;
  Upload upload;

 private:
  Side side_;
};

template <class T>
std::unique_ptr<backend::TileOps<T>> make_tile_ops(backend::Backend& backend, Store& store,
                                                   int threads, cudaStream_t stream);

}  // namespace chol::cuda::tlr
