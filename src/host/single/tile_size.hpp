// The size of the tiles of one matrix from its order, the number of threads and the machine, by a
// model of the time. It is derived from the model of IA-Chol: the larger of data exchange and
// computation, plus a scheduling cost. The differences to measurements, and the changes to that
// model, are described in docs/experiments.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace chol::host {

/// Bytes of a row of packed panels that an update of a tile reads in one pass: those of a register
/// tile's columns then fill half of the first-level cache.
inline constexpr int64_t kPassBytes = 3072;

/// Parameters of a machine and a precision in the model.
struct TileMachine {
  double core_gflops;    ///< products of large matrices on one core
  double memory_gbytes;  ///< Gbyte/s of all cores
  double cache_bytes;    ///< second-level cache of one core
  size_t element_bytes;
  double flops_of_product;  ///< per multiply-add: real 2, complex 8
};

/// Bytes of the second-level cache of a core, from sysfs; 0 if unknown.
double second_level_cache();

/// With the size of that cache, or 1 Mbyte if unknown.
TileMachine tile_machine(double core_gflops, double memory_gbytes, size_t element_bytes,
                         bool is_complex);

/// Seconds of a factorization of order n on `threads` threads with tiles of nb.
double tile_seconds(const TileMachine& machine, int64_t n, int threads, int64_t nb);

/// 2^a and 2^a + 2^(a-1), from 32 up to n / 2; for small orders also n, a single tile.
std::vector<int> tile_candidates(int64_t n);

/// The candidate with the smallest estimated time.
int choose_tile(const TileMachine& machine, int64_t n, int threads);

}  // namespace chol::host
