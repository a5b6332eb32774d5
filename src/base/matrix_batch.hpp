// Views of the caller's arrays: one matrix, a pointer array, a constant stride, different sizes and
// interleaved chunks are the same batch to every layer below the C ABI.
#pragma once

#include <cstdint>

namespace chol {

/// Column-major matrices by an array of pointers, or at a constant stride from the first; or
/// matrices interleaved in chunks of `chunk`.
template <class T>
struct MatrixBatch {
  T* first = nullptr;
  int64_t stride = 0;
  T* const* pointers = nullptr;
  int64_t ld = 1;
  const int64_t* lds = nullptr;
  int64_t chunk = 0;  ///< 0: column-major

  static MatrixBatch strided(T* first, int64_t ld, int64_t stride) {
    return {first, stride, nullptr, ld, nullptr};
  }
  static MatrixBatch interleaved(T* first, int64_t ld, int64_t chunk) {
    return {first, 0, nullptr, ld, nullptr, chunk};
  }
  static MatrixBatch pointer_array(T* const* pointers, int64_t ld) {
    return {nullptr, 0, pointers, ld, nullptr};
  }
  static MatrixBatch variable(T* const* pointers, const int64_t* lds) {
    return {nullptr, 0, pointers, 1, lds};
  }

  T* matrix(int64_t b) const { return pointers ? pointers[b] : first + b * stride; }
  int64_t leading_dimension(int64_t b) const { return lds ? lds[b] : ld; }
  /// Element (0, 0) of interleaved matrix b of so many columns; (i, j) is (j * ld + i) * chunk
  /// further on.
  T* interleaved_matrix(int64_t b, int64_t columns) const {
    return first + (b / chunk) * columns * ld * chunk + b % chunk;
  }
};

/// Orders and numbers of right-hand sides of a batch: one for all, or an array.
struct BatchSizes {
  int64_t count = 0;
  int64_t n = 0;     ///< of every matrix, or the bound when orders is set
  int64_t nrhs = 0;  ///< of every matrix, or the bound when rhs_counts is set
  const int64_t* orders = nullptr;
  const int64_t* rhs_counts = nullptr;

  int64_t order(int64_t b) const { return orders ? orders[b] : n; }
  int64_t rhs_count(int64_t b) const { return rhs_counts ? rhs_counts[b] : nrhs; }
  bool variable() const { return orders != nullptr; }
};

}  // namespace chol
