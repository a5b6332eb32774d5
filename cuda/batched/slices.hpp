// Slices of batches that do not fit one launch or the workspace.
#pragma once

#include <algorithm>

#include "common/batch_view.cuh"
#include "common/launch.hpp"

namespace chol::cuda {

/// A grid has fewer than 2^31 blocks; a matrix takes at most this many in any of these kernels.
inline constexpr int64_t kMostSlice = int64_t(1) << 20;

template <class T>
BatchView<T> view_from(BatchView<T> view, int64_t first) {
  if (view.pointers)
    view.pointers += first;
  else
    view.first += first * view.stride;
  if (view.lds) view.lds += first;
  return view;
}

/// The `count` matrices from `first` on.
template <class T>
BatchProblem<T> slice_of(BatchProblem<T> problem, int64_t first, int64_t count) {
  problem.count = count;
  if (problem.sequence) {  // of positions in the whole batch
    problem.sequence += first;
    return problem;
  }
  problem.A = view_from(problem.A, first);
  if (problem.B.pointers || problem.B.first) problem.B = view_from(problem.B, first);
  if (problem.orders) problem.orders += first;
  if (problem.rhs_counts) problem.rhs_counts += first;
  if (problem.info) problem.info += first;
  return problem;
}

/// Runs body(slice) over the batch, `slice` matrices at a time (0: as many as a launch takes).
template <class T, class Body>
Status for_slices(const BatchProblem<T>& problem, int64_t slice, Body&& body) {
  if (slice <= 0) slice = kMostSlice;
  for (int64_t first = 0; first < problem.count; first += slice) {
    Status status = body(slice_of(problem, first, std::min(slice, problem.count - first)));
    if (!status.ok()) return status;
  }
  return Status::success();
}

/// Matrices of a launch with one block for every four right-hand sides or more of a matrix.
template <class T>
int64_t slice_by_columns(const BatchProblem<T>& problem) {
  return std::max<int64_t>(1, kMostSlice / ((problem.nrhs + 3) / 4));
}

}  // namespace chol::cuda
