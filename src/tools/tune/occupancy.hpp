// How much of a multiprocessor an interleaved kernel can use, by registers and shared memory: what
// leaves choices out before any is measured.
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

/// What a choice takes, as the model has it.
struct Footprint {
  int registers = 0;      ///< of a thread; more than it can have are spilt
  int64_t bytes = 0;      ///< of shared memory of a block
  int threads = 0;        ///< of a block
  double busy = 1;        ///< share of them that has work
  int line = 0;           ///< bytes side by side that a block reads at a time
  int64_t under_way = 0;  ///< bytes that a block has asked memory for before it needs the first
  double passes = 1;      ///< how often a matrix is read
};
Footprint footprint_of(const Point& point, const Choice& choice);

/// Blocks that fit a multiprocessor.
int resident_blocks(const Footprint& footprint, const DeviceModel& device);
/// What says how much of a multiprocessor a choice can use, 1 at best: by the bytes under way, the
/// warps that work on them, parts of lines and repeated reads and spills; 0 where nothing fits.
double coverage(const Footprint& footprint, const DeviceModel& device);

/// The choices without those that cover an eighth of the best one's and less, at most `most` of
/// them, in their order. The first one stays.
std::vector<Choice> prune(const Point& point, const std::vector<Choice>& choices,
                          const DeviceModel& device, size_t most);

}  // namespace chol::tune
