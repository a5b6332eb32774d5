// Factorization rates of a backend, as data, by which offload is decided.
#pragma once

#include <cstdint>

namespace chol {

/// Rate at which a backend factors one matrix of order up to max_n in host memory.
struct RateRow {
  char precision;      ///< s, d, c, z
  int64_t max_n;       ///< the last row of a precision serves every larger order too
  double gflops;       ///< of the factorization: a host thread's share, or the device's
  double gbytes_each;  ///< device: Gbyte/s of the triangle's transfer to it, and back
};

}  // namespace chol
