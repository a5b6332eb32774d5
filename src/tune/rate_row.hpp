// How fast a backend factors, as data: what an offload weighs.
#pragma once

#include <cstdint>

namespace chol {

/// How fast a backend factors one matrix of order up to max_n that lies in host memory: what an
/// offload weighs.
struct RateRow {
  char precision;      ///< s, d, c, z
  int64_t max_n;       ///< the last row of a precision serves every larger order too
  double gflops;       ///< of the factorization: a host thread's share, or the device's
  double gbytes_each;  ///< device: Gbyte/s of the triangle's transfer to it, and back
};

}  // namespace chol
