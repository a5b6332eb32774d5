// Copies between interleaved matrices and others: column-major ones, or contiguous lanes.
#pragma once

#include <cstdint>

#include "host/kernels/kernel_table.hpp"

namespace chol::host {

/// Which elements of a matrix are copied.
enum class Part : uint8_t { lower, upper, whole };

/// Interleaved matrices: element (i, j) of matrix l at base[(j * ld + i) * chunk + l].
template <class T>
struct SideBySide {
  T* base;
  int64_t ld, chunk;
  T* at(int64_t i, int64_t j) const { return base + (j * ld + i) * chunk; }
  SideBySide matrix(int64_t l) const { return {base + l, ld, chunk}; }
};

/// Up to kMostLanes column-major matrices of one leading dimension.
template <class T>
struct ColumnMajor {
  T* matrix[kMostLanes];
  int64_t ld;
};

template <class Visit>
void for_each_element(Part part, int64_t rows, int64_t columns, Visit&& visit) {
  for (int64_t j = 0; j < columns; ++j) {
    const int64_t end = part == Part::upper ? j + 1 : rows;
    for (int64_t i = part == Part::lower ? j : 0; i < end; ++i) visit(i, j);
  }
}

/// `count` matrices from the interleaved to the column-major side.
template <class T>
void split_apart(const SideBySide<T>& from, const ColumnMajor<T>& to, int count, Part part,
                 int64_t rows, int64_t columns) {
  for_each_element(part, rows, columns, [&](int64_t i, int64_t j) {
    const T* lanes = from.at(i, j);
    for (int l = 0; l < count; ++l) to.matrix[l][j * to.ld + i] = lanes[l];
  });
}

/// Packs; matrices in the bit mask `kept` are not written.
template <class T>
void lay_together(const ColumnMajor<T>& from, const SideBySide<T>& to, int count, Part part,
                  int64_t rows, int64_t columns, uint32_t kept = 0) {
  for_each_element(part, rows, columns, [&](int64_t i, int64_t j) {
    T* lanes = to.at(i, j);
    for (int l = 0; l < count; ++l)
      if (!(kept >> l & 1)) lanes[l] = from.matrix[l][j * from.ld + i];
  });
}

/// `count` matrices from one interleaved array to another; those in `kept` are not written.
template <class T>
void copy_lanes(const SideBySide<T>& from, const SideBySide<T>& to, int count, Part part,
                int64_t rows, int64_t columns, uint32_t kept = 0) {
  for_each_element(part, rows, columns, [&](int64_t i, int64_t j) {
    const T* source = from.at(i, j);
    T* target = to.at(i, j);
    for (int l = 0; l < count; ++l)
      if (!(kept >> l & 1)) target[l] = source[l];
  });
}

/// Matrices in `members` become the identity, or zero if all elements are copied.
template <class T>
void set_identity(const SideBySide<T>& to, int count, uint32_t members, Part part, int64_t rows,
                  int64_t columns) {
  for_each_element(part, rows, columns, [&](int64_t i, int64_t j) {
    T* lanes = to.at(i, j);
    for (int l = 0; l < count; ++l)
      if (members >> l & 1) lanes[l] = part != Part::whole && i == j ? T(1) : T(0);
  });
}

}  // namespace chol::host
