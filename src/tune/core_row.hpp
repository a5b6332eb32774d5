// How fast the cores of a machine are, as data: what the size of tiles follows from.
#pragma once

namespace chol {

struct CoreRow {
  char precision;        ///< s, d, c, z
  double core_gflops;    ///< of one core: products of large matrices
  double memory_gbytes;  ///< Gbyte/s of memory, all cores together
};

}  // namespace chol
