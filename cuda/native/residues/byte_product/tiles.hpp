// The tiles of a product of bytes and their order. Also compiled for the host, for tests.
#pragma once

#include <cstdint>

namespace chol::cuda::residues {

/// Rows of the first operand and of the second that a cluster of blocks multiplies at a time.
inline constexpr int kClusterRows = 256, kTileColumns = 256;
inline constexpr int kBlockRows = 128;  ///< of the first operand, of one block of the cluster

/// A product X Y^T of each modulus: elements (m, n) with m <= n where `above`, else with m >= n.
struct TriangleOfProducts {
  int rows, columns;  ///< of the product: rows of X, rows of Y
  int moduli;
  bool above;  ///< X is the diagonal block, whose columns are the product's rows

  struct Tile {
    int modulus, row, column;  ///< of the first element
  };

  __host__ __device__ int row_tiles() const { return (rows + kClusterRows - 1) / kClusterRows; }
  __host__ __device__ int column_tiles() const {
    return (columns + kTileColumns - 1) / kTileColumns;
  }
  __host__ __device__ int short_tiles() const { return above ? row_tiles() : column_tiles(); }
  __host__ __device__ int long_tiles() const { return above ? column_tiles() : row_tiles(); }
  /// Tiles of one modulus. Both sides begin at the diagonal, and tiles are square: tile t of the
  /// long side has min(t + 1, short_tiles()) of them.
  __host__ __device__ int tiles_of_modulus() const {
    const int s = short_tiles(), l = long_tiles(), whole = s < l ? s : l;
    return whole * (whole + 1) / 2 + (l - whole) * s;
  }
  __host__ __device__ int tiles() const { return moduli * tiles_of_modulus(); }

  /// Consecutive tiles have the same rows of the long side, so that concurrent blocks read them
  /// together.
  __host__ __device__ Tile tile(int index) const {
    const int each = tiles_of_modulus(), s = short_tiles();
    const int modulus = index / each;
    int rest = index % each, along = 0;
    while (along < s && rest >= along + 1) rest -= ++along;
    if (along >= s) {
      along += rest / s;
      rest %= s;
    }
    return above ? Tile{modulus, rest * kClusterRows, along * kTileColumns}
                 : Tile{modulus, along * kClusterRows, rest * kTileColumns};
  }
};
static_assert(kClusterRows == kTileColumns, "tiles are square");

}  // namespace chol::cuda::residues
