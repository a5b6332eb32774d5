// When one system is solved in two precisions, as data.
#pragma once

#include <cstdint>

namespace chol {

/// A factor in the lower precision saves n^3 / 6 multiply-adds and costs a few products of the
/// matrix and each right-hand side.
struct MixedRow {
  char precision;         ///< d, z: the working one
  int64_t least_order;    ///< for one right-hand side
  int64_t order_per_rhs;  ///< added for each further one
  /// Moduli of the factor where its products are by residues: fewer moduli make the factor faster
  /// and take more iterations. 0: full accuracy.
  int moduli = 0;

  static constexpr int kLeastModuli = 4, kMostModuli = 7;

  bool serves(int64_t n, int64_t nrhs) const {
    if (n < least_order) return false;
    return order_per_rhs == 0 || (n - least_order) / order_per_rhs >= nrhs - 1;
  }
};

}  // namespace chol
