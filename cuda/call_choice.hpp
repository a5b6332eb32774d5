// The choice of the backend's rows for a call.
#pragma once

#include <optional>

#include "backend/backend.hpp"
#include "batched/driver.hpp"
#include "common/device_type.hpp"
#include "device_state.hpp"
#include "interleaved/driver.hpp"
#include "native/method.hpp"
#include "native/residues/residues.hpp"

namespace chol::cuda {

/// Whether the bounds of a variable batch are unknown: the arrays must then be read first.
inline bool needs_bounds(const BatchSizes& sizes) {
  return sizes.variable() && (sizes.n == 0 || (sizes.rhs_counts && sizes.nrhs == 0));
}

template <class D>
bool accepts_row(const DeviceState& state, const Row& row) {
  const DeviceGuard guard(state.device);
  const Choice& choice = row.choice;
  const int64_t n = row.cases.n.most;
  if (row.form == Form::interleaved) return accepts_interleaved<D>(row);
  if (!is_native(choice)) return cuda::accepts<D>(row);
  if (row.form != Form::one) return false;
  if (choice.is(kInPlaceInverse)) return row.routine == Routine::potri;
  if (solves_one(choice))
    return row.routine == Routine::potrs &&
           (choice.is(kCublasSolve) || solve::can_run<D>(solve::Params::of(choice)));
  const native::Case asked{row.routine, row.precision, false, n, 1};
  return (row.routine == Routine::potrf || row.routine == Routine::posv) &&
         native::method_of<D>(*choice.method).accepts(asked, native::Params::of(choice));
}

template <class T>
const RowTable& rows_of(const DeviceState& state, Routine routine, Form form) {
  return state.tuning.rows(routine, form, precision_letter<T>);
}
/// The choice for one matrix of the largest order.
template <class T>
const Choice& largest_one(const DeviceState& state) {
  Case asked{Routine::potrf, Form::one, precision_letter<T>};
  asked.n = INT64_MAX;
  return rows_of<T>(state, asked.routine, asked.form).choose(asked);
}
/// The choice of the rows for a problem; for potrs of batches solve_choice() also asks the methods.
template <class T>
const Choice& choice_of(const DeviceState& state, const backend::Problem<T>& problem,
                        const RowTable& rows) {
  const BatchSizes& sizes = problem.sizes;
  Case asked{problem.routine, problem.form, precision_letter<T>};
  asked.upper = problem.uplo == CHOL_UPPER;
  asked.variable = sizes.variable();
  asked.n = sizes.n;
  asked.nrhs = sizes.nrhs;
  asked.batch = sizes.count;
  const auto accepts = [&](const Choice& choice) {
    if (!choice.is(kPersistentPotrf) || problem.form == Form::one) return true;
    const DeviceGuard guard(state.device);
    return persistent::factors_whole<Device<T>>(sizes.n, problem.A.ld);
  };
  const Choice* const choice = rows.choose(asked, accepts);
  return choice ? *choice : rows.choose(asked);
}
template <class T>
const Choice& choice_of(const DeviceState& state, backend::Problem<T> problem, Routine routine) {
  problem.routine = routine;
  return choice_of(state, problem, rows_of<T>(state, routine, problem.form));
}
/// The choice for a problem with known bounds, which are 0 if all orders are 0.
template <class T>
backend::Chosen choose(const DeviceState& state, const backend::Problem<T>& problem,
                       const RowTable& rows) {
  const Choice& choice = choice_of(state, problem, rows);
  if (choice.is(kInterleavedTwoSteps))
    return {&choice_of(state, problem, Routine::potrf), &choice_of(state, problem, Routine::potrs)};
  const bool solves = problem.routine == Routine::posv && problem.form == Form::one;
  return {&choice, solves ? &choice_of(state, problem, Routine::potrs) : nullptr};
}
template <class T>
backend::Chosen look_up(const DeviceState& state, const backend::Problem<T>& problem,
                        const RowTable& rows) {
  if (problem.form != Form::interleaved && needs_bounds(problem.sizes)) return {};
  return choose(state, problem, rows);
}
/// The choice in the resources, or a new one.
template <class T>
backend::Chosen chosen_of(const DeviceState& state, const backend::Problem<T>& problem,
                          const RowTable& rows, const backend::Resources& resources) {
  return resources.chosen.choice ? resources.chosen : look_up(state, problem, rows);
}

/// The row for one matrix with products on integer tensor cores, or nullptr.
template <class T>
std::optional<ResidueRow> residues_of(const DeviceState& state, const backend::Problem<T>& problem,
                                      const backend::Resources& resources) {
  const int64_t n = problem.sizes.n;
  if (resources.math_mode != CHOL_MATH_TENSOR || problem.form != Form::one || problem.factored ||
      (problem.routine != Routine::potrf && problem.routine != Routine::posv) ||
      problem.A.ld >= persistent::kLargestDimension<Device<T>>)
    return {};
  const ResidueRow* const row = state.tuning.residues(precision_letter<T>, n);
  const DeviceGuard guard(state.device);
  if (!row || !residues::can_run<Device<T>>(n)) return {};
  ResidueRow result = *row;
  if (resources.moduli > 0) result.moduli = resources.moduli;
  return result;
}

}  // namespace chol::cuda
