// Which plan serves a call.
#pragma once

#include "backend/backend.hpp"
#include "common/device_type.hpp"
#include "native/knobs.hpp"
#include "native/persistent/persistent.hpp"
#include "tune/rows.hpp"
#include "tune/store.hpp"

namespace chol::cuda {

/// Matrices of a multiprocessor below which more warps a matrix are faster, and what serves fewer
/// than one where a single matrix would take the whole device.
inline constexpr int64_t kFewMatrices = 2;
inline constexpr Plan kFewLargePlan{Method::panel, 1, 0, 256};

inline bool is_by_blocks(const Plan& plan) {
  return plan.method == Method::panel || plan.method == Method::fused;
}
/// The plan for the problem's order in a form whose plans are these. posv of several right-hand
/// sides is a factorization, which is by the rows of potrf, and a solution, but where rows of posv
/// do both at once.
template <class T>
Plan row_of(const backend::Problem<T>& problem, const RowTable& rows, Form form,
            const TuningStore& tuning) {
  const int64_t n = problem.sizes.n;
  const Plan plan = plan_for(rows, n);
  if (problem.routine != Routine::posv || problem.sizes.nrhs == 1 || !is_by_blocks(plan))
    return plan;
  const Plan factor = plan_for(tuning.rows(Routine::potrf, form, precision_letter<T>), n);
  return is_by_blocks(factor) || factor.method == Method::persistent ? factor : plan;
}
/// Whether a batch is one matrix that one kernel factors as if it came alone.
template <class T>
bool is_one_matrix(const backend::Problem<T>& problem, const Plan& of_one) {
  const BatchSizes& sizes = problem.sizes;
  const int panel = native::Params::of(of_one).panel;
  return problem.routine == Routine::potrf && sizes.count == 1 && !sizes.variable() &&
         of_one.method == Method::persistent && (panel == 0 || sizes.n <= panel) &&
         persistent::factors_whole<Device<T>>(sizes.n, problem.A.ld);
}
/// A batch that cannot fill the device is worked on as its matrices would be one by one, as far as
/// one block works on a matrix. @param rows of the problem's routine and form.
template <class T>
Plan choose_plan(const backend::Problem<T>& problem, const RowTable& rows,
                 const TuningStore& tuning, int multiprocessors) {
  const Plan plan = row_of(problem, rows, problem.form, tuning);
  if (problem.form != Form::batch || problem.sizes.count >= kFewMatrices * multiprocessors) {
    const bool gives_way = plan.method == Method::lanes && plan.threads > 0;
    return gives_way && problem.sizes.variable() ? plan_for(rows, plan.threads) : plan;
  }
  const RowTable& of_one = tuning.rows(problem.routine, Form::one, precision_letter<T>);
  const Plan one = row_of(problem, of_one, Form::one, tuning);
  if (is_one_matrix(problem, one)) return one;
  if (one.method == Method::persistent) {
    const bool factors_alone = problem.routine == Routine::posv && problem.sizes.nrhs != 1;
    const Plan* const block = one_block_plan(factors_alone ? Routine::potrf : problem.routine,
                                             precision_letter<T>, problem.sizes.n);
    if (block) return *block;
  }
  if (!native::is_native(one)) return one;
  const bool fewer = problem.sizes.count < multiprocessors;
  return fewer && plan.method == Method::panel && problem.routine != Routine::potrs ? kFewLargePlan
                                                                                    : plan;
}

}  // namespace chol::cuda
