// Operations of tile low rank algorithms on a device.
#pragma once

#include <array>
#include <memory>

#include "backend/backend.hpp"
#include "tlr/pool.hpp"

namespace chol::cuda::tlr {

/// A stream, and the events between which it works beside another.
struct Strand {
  cudaStream_t stream = nullptr;
  cudaEvent_t begun = nullptr, ended = nullptr;
};

/// What the operations of a backend keep between calls.
class Store {
 public:
  explicit Store(int device_number) : device(device_number), pool(device_number) {}
  ~Store();
  /// Of one column of a factor; of its diagonal tile; of cores beside others; of the next column,
  /// after the others, with a part of its samples beside them.
  enum Which : uint8_t { column, diagonal, cores, samples_ahead, tiles_ahead, sums_ahead };
  static constexpr int kStrands = 6;
  /// Made when one is asked for first.
  Strand& strand(Which which);
  void wait() const {
    for (const Strand& strand : strands_)
      if (has_streams_) cudaStreamSynchronize(strand.stream);
  }
  int device;
  Pool pool;
  Upload upload;
  void* diagonal_results = nullptr;  ///< in pinned memory

 private:
  std::array<Strand, kStrands> strands_;
  bool has_streams_ = false;
};

template <class T>
std::unique_ptr<backend::TileOps<T>> make_tile_ops(backend::Backend& backend, Store& store,
                                                   int threads, cudaStream_t stream);

}  // namespace chol::cuda::tlr
