// Interleaved batches of large matrices by the kernels of column-major ones: one slice of the batch
// after the other is unpacked to the workspace, processed, and packed again. If matrices of a chunk
// exceed shared memory, kernels of interleaved matrices would read every element again for each
// column.
#pragma once

#include <algorithm>
#include <climits>

#include "backend/backend.hpp"
#include "base/arena.hpp"
#include "tune/interleaved_methods.hpp"

namespace chol::cuda {

/// Whether pack and unpack can count the elements of such a matrix.
inline bool is_counted_by_pack(const BatchSizes& sizes) {
  return sizes.n * std::max(sizes.n, sizes.nrhs) <= INT_MAX;
}

template <class T>
bool in_slices(const backend::Problem<T>& problem, const Choice& choice) {
  return runs_in_slices(problem.routine, choice) && is_counted_by_pack(problem.sizes) &&
         problem.sizes.n > 0 && problem.sizes.count > 0;
}

/// The batch, with its right-hand sides, divided at chunk boundaries or, if chunks are larger than
/// a slice, within chunks; and the column-major copies of a slice, whose columns start at multiples
/// of 16 bytes.
template <class T>
class Slices {
 public:
  /// Largest size of a slice of several matrices: smaller slices leave multiprocessors idle.
  static constexpr int64_t kBytes = int64_t(1) << 30;

  Slices(Arena& arena, const backend::Problem<T>& problem)
      : problem_(problem),
        chunk_(problem.A.chunk),
        ld_((problem.sizes.n + kWhole - 1) / kWhole * kWhole) {
    const BatchSizes& sizes = problem.sizes;
    const int64_t elements = ld_ * sizes.n, of_B = ld_ * sizes.nrhs;
    const int64_t fits = kBytes / ((elements + of_B) * int64_t(sizeof(T)));
    most_ = std::clamp<int64_t>(fits, 1, sizes.count);
    if (most_ < sizes.count && chunk_ < most_) most_ -= most_ % chunk_;
    A_ = arena.take<T>(elements * most_);
    B_ = arena.take<T>(of_B * most_);
  }

  /// Most matrices of a slice.
  int64_t most() const { return most_; }
  /// The slice that starts at that matrix.
  int64_t count(int64_t first) const {
    const int64_t there = std::min(most_, problem_.sizes.count - first);
    return chunk_ > most_ ? std::min(there, chunk_ - first % chunk_) : there;
  }
  /// The column-major problem of a slice.
  backend::Problem<T> columns(int64_t first, int64_t count) const {
    backend::Problem<T> slice = problem_;
    slice.form = Form::batch;
    slice.sizes.count = count;
    slice.A = MatrixBatch<T>::strided(A_, ld_, ld_ * problem_.sizes.n);
    slice.B = MatrixBatch<T>::strided(B_, ld_, ld_ * problem_.sizes.nrhs);
    if (slice.info) slice.info += first;
    return slice;
  }
  /// The copy between the caller's triangles, or right-hand sides, of a slice and its own.
  /// @param routine pack or unpack.
  backend::Problem<T> copy(Routine routine, bool of_B, int64_t first,
                           const backend::Problem<T>& slice) const {
    backend::Problem<T> moved = slice;
    moved.routine = routine;
    moved.form = Form::interleaved;
    moved.whole = of_B;
    const MatrixBatch<T>& all = of_B ? problem_.B : problem_.A;
    const int64_t columns = of_B ? problem_.sizes.nrhs : problem_.sizes.n;
    const auto packed =
        MatrixBatch<T>::interleaved(all.interleaved_matrix(first, columns), all.ld, chunk_);
    const MatrixBatch<T>& own = of_B ? slice.B : slice.A;
    moved.A = routine == Routine::unpack ? packed : own;
    moved.B = routine == Routine::unpack ? own : packed;
    return moved;
  }

 private:
  static constexpr int64_t kWhole = 16 / std::min<int64_t>(sizeof(T), 16);

  backend::Problem<T> problem_;
  int64_t chunk_, ld_, most_;
  T *A_, *B_;
};

}  // namespace chol::cuda
