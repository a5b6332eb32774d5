// The size of the tiles of one matrix from its order, the number of threads and the machine, by a
// model of the time. It began as IA-Chol's: the larger of data exchange and computation, and a
// price for scheduling. What that gets wrong on the machines measured, and what stands here
// instead, is in docs/experiments.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace chol::host {

/// Of a row of packed panels that an update of a tile reads in one pass: those of a register tile's
/// columns then fill half of the first-level cache.
inline constexpr int64_t kPassBytes = 3072;

/// What of a machine and a precision the model asks for.
struct TileMachine {
  double core_gflops;    ///< products of large matrices on one core
  double memory_gbytes;  ///< Gbyte/s of all cores together
  double cache_bytes;    ///< of one core: the second level
  size_t element_bytes;
  double flops_of_product;  ///< of a multiply-add: 2, of complex numbers 8
};

/// Bytes of the second-level cache of a core, from sysfs; 0 where the kernel does not tell.
double second_level_cache();

/// With that cache, or 1 Mbyte.
TileMachine tile_machine(double core_gflops, double memory_gbytes, size_t element_bytes,
                         bool is_complex);

/// Seconds of a factorization of order n on `threads` threads with tiles of nb.
double tile_seconds(const TileMachine& machine, int64_t n, int threads, int64_t nb);

/// 2^a and 2^a + 2^(a-1), from 32 up to n / 2, and for small orders n: a single tile.
std::vector<int> tile_candidates(int64_t n);

/// The candidate of the least time.
int choose_tile(const TileMachine& machine, int64_t n, int threads);

}  // namespace chol::host
