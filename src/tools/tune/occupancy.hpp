// Occupancy model of interleaved kernels, by registers and shared memory, which excludes choices
// before measuring.
#pragma once

#include <vector>

#include "tools/tune/point.hpp"

namespace chol::tune {

/// Of a multiprocessor.
struct DeviceModel {
  int64_t block_memory = 227 << 10;      ///< shared memory that a block can have, in bytes
  int64_t processor_memory = 228 << 10;  ///< and all blocks together
  int registers = 65536;
  int threads = 2048;
  int blocks = 32;
};

/// Resources of a choice according to the model.
struct Footprint {
  int registers = 0;      ///< of a thread; those above the limit are spilled
  int64_t bytes = 0;      ///< of shared memory of a block
  int threads = 0;        ///< of a block
  double busy = 1;        ///< share of active threads
  int line = 0;           ///< contiguous bytes that a block reads at a time
  int64_t under_way = 0;  ///< bytes in flight of a block
  double passes = 1;      ///< how often a matrix is read
};
Footprint footprint_of(const Point& point, const Choice& choice);

/// Blocks that fit a multiprocessor.
int resident_blocks(const Footprint& footprint, const DeviceModel& device);
/// Estimated utilization of a multiprocessor, at most 1: from the bytes in flight, the active
/// warps, partial lines, repeated reads and spills; 0 if no block fits.
double coverage(const Footprint& footprint, const DeviceModel& device);

/// The choices whose estimate is above an eighth of the best one, at most `most` of them, in their
/// order. The first one stays.
std::vector<Choice> prune(const Point& point, const std::vector<Choice>& choices,
                          const DeviceModel& device, size_t most);

}  // namespace chol::tune
