// Arguments of the kernels of residue arithmetic.
#pragma once

#include "common/scalar.cuh"
#include "native/residues/fold.hpp"
#include "native/residues/moduli.hpp"

namespace chol::cuda::residues {

/// Error of a product of depth k relative to sqrt(a_ii a_jj): 0.19 sqrt(k) units in the last place.
template <class T>
inline constexpr int kModuli = sizeof(Real<T>) == 8 ? 14 : 7;
/// Real numbers of an element.
template <class T>
inline constexpr int kParts = Traits<T>::is_complex ? 2 : 1;

/// Rows of the planes and of the products are padded to a multiple of this.
inline constexpr int64_t kPadding = 16;
/// Real numbers that a block quantizes of a row at a time. Planes are wider than n by this number.
inline constexpr int kChunk = 128;
inline constexpr int kRowsOfBlock = 32;
/// Depth up to which sums of products of residues fit 32 bits.
inline constexpr int64_t kMostDepth = 131071;

constexpr int64_t padded(int64_t count, int64_t multiple = kPadding) {
  return (count + multiple - 1) / multiple * multiple;
}

/// Rows of the factor as integers, by their residues: one matrix of bytes a modulus, stored by
/// rows. A staircase holds the rows below each panel in half of the memory.
struct Planes {
  int8_t* first = nullptr;
  int64_t ld = 0;      ///< bytes of a row
  int64_t stride = 0;  ///< of one modulus to the next
  Fold fold;

  __host__ __device__ int8_t* at(int64_t row, int64_t column) const {
    const Fold::Place place = fold.place(row, column);
    return first + place.row * ld + place.column;
  }
};

/// Sums of products of residues: one matrix a modulus, of integers of 32 bits or of their residues.
template <class Sum>
struct SumsOf {
  Sum* first = nullptr;
  int64_t ld = 0, stride = 0;
};
using Sums = SumsOf<int>;

/// Row i is scaled by up[i] = 1 / down[i], a power of two, such that |x|^2 < P / 2 for each row x
/// of integers of a positive definite matrix, since then sum |l_ik|^2 <= a_ii.
struct Scales {
  double* up = nullptr;
  double* down = nullptr;
  double* squares = nullptr;  ///< running sum of the squares of a row's integers
};

/// The first panel whose rows exceed that bound; kScales if the diagonal itself does.
inline constexpr int kNone = 0x7f7f7f7f;
inline constexpr int kScales = -1;

template <class T>
struct Quantization {
  const T* A;  ///< the first row below the panel's diagonal block, its first column
  int64_t ld;
  int rows, columns;
  Scales scales;  ///< of the first row
  Planes planes;  ///< first: of that row, its first column
  int panel;
  double limit;  ///< of a row's squares
  int* flagged;
  ToResidues<kModuli<T>> to;
};

/// From columns [column, column + width) of a lower triangle of order n the product of the columns
/// before them with their adjoint is subtracted, when a panel before this one is flagged.
template <class T>
struct NativeUpdate {
  static constexpr int kTile = 64, kDepth = 16;

  T* A;
  int64_t ld;
  int n, column, width;
  int panel;
  const int* flagged;

  __host__ __device__ int tiles_down() const { return (n - column + kTile - 1) / kTile; }
  __host__ __device__ int tiles_across() const { return (width + kTile - 1) / kTile; }
};

template <class T, class Sum = int>
struct Reconstruction {
  T* C;  ///< rows by columns, of which the lower triangle is changed
  int64_t ld;
  int rows, columns;
  const double* down;  ///< of the first row, which is also the first column's
  SumsOf<Sum> real, imaginary;
  int panel;
  const int* flagged;
  FromResidues<kModuli<T>> from;
};

}  // namespace chol::cuda::residues
