// Arguments of products of residues that are reduced to bytes.
#pragma once

#include "native/residues/byte_product/tiles.hpp"
#include "native/residues/fold.hpp"

namespace chol::cuda::residues {

inline constexpr int kMostModuli = 15;

/// int8 matrices, one for each modulus, row-major; ld is a multiple of 16 (bytes).
struct ByteRows {
  int8_t* first = nullptr;
  int64_t ld = 0, stride = 0;
};

/// Rows of an operand, from `first` on, in a matrix of bytes a modulus.
struct ByteSource {
  int first = 0;
  Fold fold;
};

/// bytes := X Y^T modulo each modulus, for the tiles of `product`.
struct ByteProduct {
  TriangleOfProducts product;
  int depth;  ///< of a fold, whole panels
  ByteSource x, y;
  ByteRows bytes;
  struct {
    int modulus[kMostModuli];
    int reciprocal[kMostModuli];  ///< 2^32 / p, rounded
  } from;
};

}  // namespace chol::cuda::residues
