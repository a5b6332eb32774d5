#include "tools/tune/occupancy.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "interleaved/jit/accepts.hpp"

namespace chol::tune {
namespace {

using cuda::KernelKind;
using cuda::triangle_words;

constexpr int kMostRegisters = 255;
constexpr int kOverhead = 28;  ///< registers of addresses and counters
/// Bytes in flight that saturate the memory bandwidth of a multiprocessor (its share of some TB/s
/// times a latency of almost a microsecond), and warps that keep its units busy.
constexpr double kEnoughBytes = 32 << 10, kEnoughWarps = 16;
constexpr double kWholeLine = 64;

Footprint registers_footprint(const KernelKind& kind, const Choice& choice, int64_t n) {
  const int threads = choice.at(0);
  return {.registers = kOverhead + int(triangle_words(n, kind.bytes)),
          .threads = threads,
          .line = int(32 * kind.bytes),
          .under_way = threads * 4 * triangle_words(n, kind.bytes)};
}

Footprint threads_footprint(const KernelKind& kind, const cuda::ColumnsParams& params,
                            const cuda::ThreadsShape& shape, int n) {
  // Registers: the right-hand side, the columns held, and for a factorization a block column.
  const int64_t block_column = kind.factors() ? shape.threads * n : 0;
  const int64_t words =
      (n + block_column) * kind.bytes / 4 + triangle_words(shape.columns, kind.bytes);
  return {.registers = kOverhead + int(words / shape.threads),
          .bytes = cuda::columns_block_bytes(kind, params, n),
          .threads = cuda::kWarpThreads,
          .line = int(shape.matrices() * kind.bytes),
          .under_way = shape.matrices() * n * (n + 1) / 2 * kind.bytes};
}

Footprint columns_footprint(const KernelKind& kind, const Choice& choice, int64_t order) {
  const int n = int(order);
  const auto params = cuda::ColumnsParams::of(choice);
  const cuda::ThreadsShape shape = cuda::threads_shape(kind, params, n);
  if (shape.threads > 0) return threads_footprint(kind, params, shape, n);
  const int columns = cuda::leading_columns(kind, params, n);
  // For the columns outside shared memory at most half of the square and one column are live.
  const int64_t square = int64_t(n - columns) * (n - columns) / 4 * kind.bytes / 4;
  return {.registers = kOverhead + int(n * kind.bytes / 4 + square),
          .bytes = cuda::columns_block_bytes(kind, params, n),
          .threads = cuda::kWarpThreads,
          .line = int(cuda::kWarpThreads * kind.bytes),
          .under_way = cuda::kWarpThreads * cuda::kColumnsAhead * n * kind.bytes};
}

Footprint shared_footprint(const KernelKind& kind, const Choice& choice, int64_t n) {
  const cuda::SharedKnobs knobs = cuda::shared_knobs(choice);
  if (!cuda::shared_threads_fit(knobs, kind.factors())) return {};
  // A thread's rows of a block column in addition to the diagonal block.
  const int words = (cuda::kSharedRows * knobs.columns + knobs.columns * (knobs.columns + 1) / 2) *
                    int(kind.bytes) / 4;
  const int64_t bytes = cuda::shared_block_bytes(kind.bytes, n, kind.vectors(), knobs);
  return {.registers = kOverhead + words,
          .bytes = bytes,
          .threads = knobs.threads,
          .busy = std::min(1.0, double(n) / knobs.slots()),
          .line = int(knobs.lanes * kind.bytes),
          .under_way = bytes};
}

/// Without loops over tiles, finished elements stay in registers: right-looking and at the end of
/// top-looking the triangle, left-looking the finished columns of the remaining rows. Except
/// right-looking, a tile is read after the one before it was written.
Footprint unrolled_footprint(const KernelKind& kind, const cuda::TiledKnobs& knobs, int64_t n) {
  const int64_t triangle = n * (n + 1) / 2, tile = int64_t(knobs.tile) * knobs.tile;
  const bool right = knobs.looking == cuda::Looking::right;
  const int64_t square = (n + knobs.tile) * (n + knobs.tile) / 4,
                held = knobs.looking == cuda::Looking::left ? std::min(square, triangle) : triangle;
  return {.registers = kOverhead + int(held * kind.bytes / 4),
          .threads = knobs.threads,
          .line = int(32 * kind.bytes),
          .under_way = knobs.threads * (right ? triangle : std::min(tile, triangle)) * kind.bytes};
}

/// One thread a matrix in device memory, by tiles: a row of tiles is read for every tile before it;
/// right-looking also writes the trailing matrix for every block column.
Footprint tiled_footprint(const KernelKind& kind, const cuda::TiledKnobs& knobs, int64_t n) {
  if (knobs.unrolled) return unrolled_footprint(kind, knobs, n);
  // The compiler keeps a tile and the operands of four steps in registers.
  const int64_t elements = int64_t(knobs.tile) * knobs.tile + 4 * 2 * knobs.tile;
  const bool right = knobs.looking == cuda::Looking::right;
  const double shared = !kind.factors() ? 4 : right ? 1 : 2;
  return {.registers = kOverhead + int(elements * kind.bytes / 4),
          .threads = knobs.threads,
          .line = int(32 * kind.bytes),
          .under_way = knobs.threads * elements * kind.bytes,
          .passes = std::max(1.0, double(n) / knobs.tile / shared)};
}

Footprint streamed_footprint(const KernelKind& kind, const Choice&, int64_t n) {
  return tiled_footprint(kind, cuda::kStreamed, n);
}

/// The methods that the model describes.
constexpr struct {
  const MethodInfo* info;
  Footprint (*footprint)(const KernelKind& kind, const Choice& choice, int64_t n);
} kModels[] = {{&cuda::kInterleavedRegisters, registers_footprint},
               {&cuda::kInterleavedColumns, columns_footprint},
               {&cuda::kInterleavedShared, shared_footprint},
               {&cuda::kInterleavedTiled,
                [](const KernelKind& kind, const Choice& choice, int64_t n) {
                  return tiled_footprint(kind, cuda::tiled_knobs(choice), n);
                }},
               {&cuda::kInterleavedStreamed, streamed_footprint},
               {&cuda::kInterleavedSlices, streamed_footprint}};

}  // namespace

Footprint footprint_of(const Point& point, const Choice& choice) {
  const KernelKind kind{point.routine, point.precision};
  for (const auto& model : kModels)
    if (choice.is(*model.info)) return model.footprint(kind, choice, point.n);
  return {};
}

int resident_blocks(const Footprint& footprint, const DeviceModel& device) {
  if (footprint.threads <= 0 || footprint.bytes > device.block_memory) return 0;
  const int64_t kept = std::min(footprint.registers, kMostRegisters);
  const int64_t warps = (footprint.threads + 31) / 32;
  // Registers are allocated in units of eight a thread; each block reserves a kilobyte of shared
  // memory.
  return int(std::min({device.registers / (warps * 32 * ((kept + 7) / 8 * 8)),
                       device.processor_memory / (footprint.bytes + 1024),
                       int64_t(device.threads / footprint.threads), int64_t(device.blocks)}));
}

double coverage(const Footprint& footprint, const DeviceModel& device) {
  const int blocks = resident_blocks(footprint, device);
  const double warps = blocks * footprint.threads / 32.0 * footprint.busy;
  const double bytes = double(blocks) * double(footprint.under_way);
  const double line = std::min(1.0, footprint.line / kWholeLine);
  const double spilt = std::min(1.0, double(kMostRegisters) / footprint.registers);
  return std::min(1.0, bytes / kEnoughBytes) * std::sqrt(std::min(1.0, warps / kEnoughWarps)) *
         std::sqrt(line) * spilt * spilt / footprint.passes;
}

std::vector<Choice> prune(const Point& point, const std::vector<Choice>& choices,
                          const DeviceModel& device, size_t most) {
  std::vector<double> all;
  all.reserve(choices.size());
  for (const Choice& choice : choices) all.push_back(coverage(footprint_of(point, choice), device));
  std::vector<double> sorted = all;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  if (sorted.empty()) return {};
  double least = sorted.front() / 8;
  if (sorted.size() > most) least = std::max(least, sorted[most - 1]);
  std::vector<Choice> kept;
  for (size_t i = 0; i < choices.size(); ++i)
    if (i == 0 || (all[i] > 0 && all[i] >= least && kept.size() < most)) kept.push_back(choices[i]);
  return kept;
}

}  // namespace chol::tune
