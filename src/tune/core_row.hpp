// Speed of the cores of a machine, as data; the tile size is derived from it.
#pragma once

namespace chol {

struct CoreRow {
  char precision;        ///< s, d, c, z
  double core_gflops;    ///< of one core: products of large matrices
  double memory_gbytes;  ///< Gbyte/s of memory, all cores together
};

}  // namespace chol
