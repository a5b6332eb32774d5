// Batches of different sizes: checks the arguments of each matrix and sorts the matrices into
// processing order.
#pragma once

#include "base/arena.hpp"
#include "common/batch_view.cuh"
#include "common/launch.hpp"

namespace chol::cuda {

/// The arrays of a variable batch from the caller, and the destination of the checked ones.
template <class T>
struct VariableCheck {
  BatchView<T> A, B;
  int64_t count = 0;
  int64_t max_n = 0, max_nrhs = 0;
  const int64_t* n = nullptr;
  const int64_t* nrhs = nullptr;  ///< null: the routine has no right-hand sides
  VariablePositions position{};
  int* info = nullptr;            ///< null: the routine has none
  int64_t* orders = nullptr;      ///< n[b], or -1 where an argument is bad
  int64_t* rhs_counts = nullptr;  ///< nrhs[b], or 0 there
};

/// The matrices of a variable batch, the largest first: concurrent matrices then have similar sizes
/// and share the instruction cache, and small ones fill the end, where large ones would keep a few
/// multiprocessors busy. MAGMA's lazy scheduling (Abdelfattah, Haidar, Tomov and Dongarra 2016,
/// section 4) has the same aim, by the time at which a matrix starts.
struct Sequence {
  unsigned* matrices = nullptr;  ///< positions in the batch; null: in the caller's order
  unsigned* counters = nullptr;  ///< of the sort

  static Sequence carve(Arena& arena, int64_t count);
};

/// Fills check.orders and check.rhs_counts, info where an argument is bad, and sequence.matrices
/// unless it is null. The order of matrices of equal size is not specified; no result depends on
/// it.
template <class T>
Status check_variable(const VariableCheck<T>& check, const Sequence& sequence, cudaStream_t stream);

/// largest[0] := max values[0 .. count), at least 0.
Status largest_value(const int64_t* values, int64_t count, int64_t* largest, cudaStream_t stream);

}  // namespace chol::cuda
