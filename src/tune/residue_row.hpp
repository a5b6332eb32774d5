// Policy of CHOL_MATH_TENSOR as data: for which orders of one matrix integer tensor cores form the
// products, and how.
#pragma once

#include <cstdint>

namespace chol {

/// For orders from least_n on up to the next row of the precision.
struct ResidueRow {
  char precision;   ///< s, d, c, z
  int64_t least_n;  ///< before the first row the native method is faster
  int64_t panel;    ///< columns, a multiple of 128: the depth from which on a product is worth its
                    ///< reconstruction
  /// Panels that start before this column are updated natively: reconstruction costs as much as
  /// native products of that depth.
  int64_t native_columns;
  int moduli = 0;  ///< 0: those of full accuracy; one fewer is less accurate and faster
  /// Whether products are reduced to bytes by a kernel of the library, instead of 32-bit sums by
  /// cuBLAS. This also halves the memory of the factor's residues.
  bool by_bytes = false;

  static constexpr int64_t kPanelStep = 128;
  /// Moduli of full accuracy.
  static constexpr int most_moduli(char precision) {
    return precision == 'd' || precision == 'z' ? 14 : 7;
  }
};

}  // namespace chol
