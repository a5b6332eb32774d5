// Operations of tile low rank algorithms on a device.
#pragma once

#include <array>
#include <memory>

#include "backend/backend.hpp"
#include "tlr/pool.hpp"

namespace chol::cuda::tlr {

/// A stream, and the events of its fork from and join with another stream.
struct Strand {
  cudaStream_t stream = nullptr;
  cudaEvent_t begun = nullptr, ended = nullptr;
};

/// Resources that the operations of a backend keep between calls.
class Store {
 public:
  explicit Store(int device_number) : device(device_number), pool(device_number) {}
  ~Store();
  /// Streams of: one column of a factor; its diagonal tile; concurrent cores; the samples of the
  /// next column; the dense tiles of the next column; concurrent sums of samples.
  enum Which : uint8_t { column, diagonal, cores, samples_ahead, tiles_ahead, sums_ahead };
  static constexpr int kStrands = 6;
  /// Created at the first call.
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
