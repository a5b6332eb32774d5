#include "tile/redistribute.hpp"

#include "base/precisions.h"

namespace chol::tile {
namespace {

/// Calls copy(device, i, j, rows, columns) for rectangles that cover the triangle: for each block
/// column the part outside the diagonal block, and each column or row of the diagonal block.
template <class T, class Copy>
void for_each_piece(const CyclicMatrix<T>& A, Copy&& copy) {
  const Distribution& over = A.over;
  for (int64_t k = 0; k < over.blocks(); ++k) {
    const int owner = over.owner(k);
    const int64_t first = over.start(k), width = over.width(k), end = first + width;
    if (A.by_rows)
      copy(owner, first, 0, width, first);
    else
      copy(owner, end, first, over.n - end, width);
    const bool swapped = A.local[static_cast<size_t>(owner)].swapped;
    for (int64_t at = first; at < end; ++at) {
      if (swapped)
        copy(owner, at, first, 1, at - first + 1);
      else
        copy(owner, at, at, end - at, 1);
    }
  }
}

}  // namespace

template <class T>
void scatter(const Devices<T>& devices, const CyclicMatrix<T>& A, const View<T>& whole) {
  for_each_piece(A, [&](int device, int64_t i, int64_t j, int64_t rows, int64_t columns) {
    if (rows == 0 || columns == 0) return;
    devices[static_cast<size_t>(device)]->copy(Queue::load, A.at(i, j), whole.at(i, j), rows,
                                               columns);
  });
}

template <class T>
void gather(const Devices<T>& devices, const CyclicMatrix<T>& A, const View<T>& whole) {
  for_each_piece(A, [&](int device, int64_t i, int64_t j, int64_t rows, int64_t columns) {
    if (rows == 0 || columns == 0) return;
    devices[static_cast<size_t>(device)]->copy(Queue::store, whole.at(i, j), A.at(i, j), rows,
                                               columns);
  });
}

template <class T>
void load_factor(const Devices<T>& devices, const CyclicMatrix<T>& A, const View<T>& whole,
                 Staging<T>* staging) {
  for (int64_t k = 0; k < A.over.blocks(); ++k) {
    const int64_t first = A.over.start(k), width = A.over.width(k);
    const int64_t column = A.by_rows ? 0 : first;
    const int64_t rows = A.by_rows ? width : A.over.n - first;
    const int64_t columns = A.by_rows ? A.over.end(k) : width;
    const int owner = A.over.owner(k);
    const View<T> to = A.at(first, column);
    if (staging)
      staging->load(owner, to, first, column, rows, columns);
    else
      devices[static_cast<size_t>(owner)]->copy(Queue::load, to, whole.at(first, column), rows,
                                                columns);
  }
}

template <class T>
void store_inverse(const Devices<T>& devices, const CyclicMatrix<T>& A, const View<T>& whole,
                   Staging<T>* staging) {
  if (!staging) return gather(devices, A, whole);
  for (int64_t k = 0; k < A.over.blocks(); ++k) {
    const int64_t first = A.over.start(k), width = A.over.width(k);
    const int owner = A.over.owner(k);
    if (A.by_rows && first > 0) staging->store(owner, A.at(first, 0), first, 0, width, first);
    staging->store(owner, A.at(first, first), first, first, A.by_rows ? width : A.over.n - first,
                   width);
  }
  staging->finish();
}

template <class T>
void read_diagonal(const Devices<T>& devices, const CyclicMatrix<T>& A, T* diagonal) {
  for (int64_t k = 0; k < A.over.blocks(); ++k) {
    const int64_t first = A.over.start(k);
    const View<T> block = A.at(first, first);
    devices[static_cast<size_t>(A.over.owner(k))]->copy(Queue::store, {diagonal + first, 1, false},
                                                        {block.first, block.ld + 1, false}, 1,
                                                        A.over.width(k));
  }
}

#define CHOL_INSTANTIATE(prefix, T, R)                                                      \
  template void load_factor<T>(const Devices<T>&, const CyclicMatrix<T>&, const View<T>&,   \
                               Staging<T>*);                                                \
  template void store_inverse<T>(const Devices<T>&, const CyclicMatrix<T>&, const View<T>&, \
                                 Staging<T>*);                                              \
  template void scatter<T>(const Devices<T>&, const CyclicMatrix<T>&, const View<T>&);      \
  template void gather<T>(const Devices<T>&, const CyclicMatrix<T>&, const View<T>&);       \
  template void read_diagonal<T>(const Devices<T>&, const CyclicMatrix<T>&, T*);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tile
