// Operations of tile low rank algorithms on a device.
#pragma once

#include <memory>

#include "backend/backend.hpp"
#include "tlr/pool.hpp"

namespace chol::cuda::tlr {

/// What the operations of a backend keep between calls.
struct Store {
  explicit Store(int device_number) : device(device_number), pool(device_number) {}
  int device;
  Pool pool;
  Upload upload;
};

template <class T>
std::unique_ptr<backend::TileOps<T>> make_tile_ops(backend::Backend& backend, Store& store,
                                                   int threads, cudaStream_t stream);

}  // namespace chol::cuda::tlr
