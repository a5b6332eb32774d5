#include "routine/trace.hpp"

#include <cinttypes>
#include <cstdio>

#include "api/precisions.h"
#include "base/flops.hpp"

namespace chol::routine {
namespace {

double flops_of_one(Routine routine, double n, double nrhs) {
  switch (routine) {
    case Routine::potrf:
      return potrf_flops(n);
    case Routine::potrs:
      return potrs_flops(n, nrhs);
    case Routine::posv:
      return potrf_flops(n) + potrs_flops(n, nrhs);
    case Routine::potri:
      return potri_flops(n);
    case Routine::pocon:
      return potrs_flops(n, 5);  // Higham's estimator: about five solves
    case Routine::logdet:
      return n;
  }
  return 0;
}

}  // namespace

template <class T>
void print_call(const char* function, const char* backend_name, const PlanTable& plans,
                const backend::Problem<T>& problem, double milliseconds) {
  const BatchSizes& sizes = problem.sizes;
  // The arrays of a variable batch may lie on the device: its flops are those of the bound.
  const double flops =
      flop_factor<T> * static_cast<double>(sizes.count) *
      flops_of_one(problem.routine, static_cast<double>(sizes.n), static_cast<double>(sizes.nrhs));
  std::fprintf(stderr,
               "chol-bench --function %s --uplo %c --n %" PRId64 " --nrhs %" PRId64
               " --lda %" PRId64 " --batch %" PRId64 "  # %s, %s, %.3f ms, %.2f Gflop/s%s\n",
               function, static_cast<char>(problem.uplo), sizes.n, sizes.nrhs, problem.A.ld,
               sizes.count, backend_name, method_name(plans.plan_for(sizes.n).method), milliseconds,
               flops / (milliseconds * 1e6), sizes.variable() ? " at most" : "");
}

#define CHOL_INSTANTIATE_PRINT(prefix, T, R)                              \
  template void print_call<T>(const char*, const char*, const PlanTable&, \
                              const backend::Problem<T>&, double);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE_PRINT)
#undef CHOL_INSTANTIATE_PRINT

}  // namespace chol::routine
