// Policy of CHOL_MATH_TENSOR as data: which orders of one matrix have their products on integer
// tensor cores, and how.
#pragma once

#include <cstdint>

namespace chol {

/// For orders from least_n on up to the next row of the precision.
struct ResidueRow {
  char precision;   ///< s, d, c, z
  int64_t least_n;  ///< before the first row the native method is faster
  int64_t panel;    ///< columns, a multiple of 128: the depth from which on a product is worth its
                    ///< reconstruction
  /// Panels that start before this column are updated natively: a reconstruction costs as much as
  /// products of that depth.
  int64_t native_columns;
  int moduli = 0;  ///< 0: those of full accuracy; one fewer is less accurate and faster
  /// Whether products leave as bytes, from a kernel of the library, rather than as sums of 32 bits
  /// from cuBLAS. Halves the memory of the factor's residues, too.
  bool by_bytes = false;

  static constexpr int64_t kPanelStep = 128;
  /// Moduli of full accuracy.
  static constexpr int most_moduli(char precision) {
    return precision == 'd' || precision == 'z' ? 14 : 7;
  }
};

}  // namespace chol
