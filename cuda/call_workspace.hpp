// Workspace of one call: counted by a query and carved before a run by the same code.
#pragma once

#include <climits>
#include <optional>

#include "backend/backend.hpp"
#include "batched/driver.hpp"
#include "batched/pocon.hpp"
#include "batched/vbatched_arguments.hpp"
#include "common/device_type.hpp"
#include "native/one_matrix.hpp"

namespace chol::cuda {

/// Everything that one call keeps in the workspace.
template <class T>
struct CallWorkspace {
  int64_t* orders = nullptr;
  int64_t* rhs_counts = nullptr;
  Sequence sequence;
  BatchWorkspace<T> batch;
  OneMatrixWorkspace<T> one;
  ConditionWorkspace<T> condition;
};

template <class T>
BatchView<Device<T>> device_view(const MatrixBatch<T>& batch) {
  using D = Device<T>;
  return {reinterpret_cast<D*>(batch.first), batch.stride,
          reinterpret_cast<D* const*>(batch.pointers), batch.ld, batch.lds};
}

inline bool has_rhs(Routine routine) {
  return routine == Routine::potrs || routine == Routine::posv;
}

/// Whether the matrices of a variable batch are processed largest first.
inline bool is_sorted(Routine routine, int64_t count, const Choice& choice) {
  return (routine == Routine::potrf || routine == Routine::posv) && is_largest_first(choice) &&
         count <= UINT_MAX;
}

/// Whether the kernel checks the arguments of a variable batch itself.
inline bool is_checked_by_kernel(Routine routine, int64_t count, const Choice& choice) {
  return routine == Routine::potrf &&
         (choice.is(kVbatchedRegisterPotrf) ||
          (choice.is(kRegisterPotrf) && !is_sorted(routine, count, choice)));
}

/// @param residues row of one matrix with products by residues, or nullptr
template <class T>
CallWorkspace<Device<T>> carve(Arena& arena, const backend::Problem<T>& problem,
                               const backend::Chosen& chosen,
                               const std::optional<ResidueRow>& residues = {}) {
  const Choice& choice = *chosen.choice;
  CallWorkspace<Device<T>> work;
  const BatchSizes& sizes = problem.sizes;
  if (sizes.variable() && !is_checked_by_kernel(problem.routine, sizes.count, choice)) {
    work.orders = arena.take<int64_t>(sizes.count);
    if (has_rhs(problem.routine)) work.rhs_counts = arena.take<int64_t>(sizes.count);
    if (is_sorted(problem.routine, sizes.count, choice))
      work.sequence = Sequence::carve(arena, sizes.count);
  }
  if (problem.routine == Routine::pocon) {
    work.condition = ConditionWorkspace<Device<T>>::carve(arena, sizes.n);
  } else if (is_native(choice)) {
    work.one = OneMatrixWorkspace<Device<T>>::carve(
        arena, problem.routine, choice, chosen.solution ? *chosen.solution : choice, sizes.n,
        has_rhs(problem.routine) ? sizes.nrhs : 0);
    if (residues)
      work.one.residues = residues::Workspace<Device<T>>::carve(arena, sizes.n, *residues);
  } else if (problem.routine != Routine::logdet) {
    work.batch = BatchWorkspace<Device<T>>::carve(arena, problem.routine, sizes.n, sizes.count);
  }
  return work;
}

}  // namespace chol::cuda
