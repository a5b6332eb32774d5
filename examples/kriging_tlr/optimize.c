#include <math.h>
#include <stdio.h>

#include "process.h"

#ifdef CHOL_EXAMPLES_NLOPT
#include <nlopt.h>

typedef struct {
  chol_handle_t handle;
  chol_tlr_t R;
  options_t* options;
  process_t* process;
  failure_t* failure;
  nlopt_opt optimizer;
  int evaluations;
} search_t;

/* The likelihood at the logarithms of length and nugget. */
static double evaluate(unsigned n, const double* x, double* gradient, void* context) {
  (void)n;
  (void)gradient;
  search_t* search = context;
  search->options->length = exp(x[0]);
  search->options->nugget = exp(x[1]);
  if (!process_solve(search->handle, search->R, search->options, false, search->process,
                     search->failure)) {
    nlopt_force_stop(search->optimizer);
    return -HUGE_VAL;
  }
  ++search->evaluations;
  printf("  length %8.3f km, nugget %7.4f: log-likelihood %.3f\n", search->options->length,
         search->options->nugget, search->process->likelihood);
  return search->process->likelihood;
}

bool process_optimize(chol_handle_t handle, chol_tlr_t R, options_t* options, process_t* process,
                      failure_t* failure) {
  /* BOBYQA (Powell 2009): quadratic models, no derivatives, which the compressed tiles have none
   * of. */
  search_t search = {handle, R, options, process, failure, nlopt_create(NLOPT_LN_BOBYQA, 2), 0};
  if (!search.optimizer) return fail(failure, kExitLibrary, "nlopt_create failed");
  const double lower[] = {log(0.1), log(1e-3)}, upper[] = {log(1e3), log(100)};
  double x[] = {log(options->length), log(options->nugget)}, best = 0;
  nlopt_set_max_objective(search.optimizer, evaluate, &search);
  nlopt_set_lower_bounds(search.optimizer, lower);
  nlopt_set_upper_bounds(search.optimizer, upper);
  nlopt_set_initial_step1(search.optimizer, 0.5);
  nlopt_set_maxeval(search.optimizer, (int)options->fit);
  nlopt_set_xtol_abs1(search.optimizer, 1e-2);
  const nlopt_result result = nlopt_optimize(search.optimizer, x, &best);
  nlopt_destroy(search.optimizer);
  if (result == NLOPT_FORCED_STOP) return false;
  /* Rounding may end the search: what was found by then counts. */
  if (result < 0 && result != NLOPT_ROUNDOFF_LIMITED)
    return fail(failure, kExitCheckFailed, "NLopt ended with code %d", (int)result);
  options->length = exp(x[0]);
  options->nugget = exp(x[1]);
  printf("most likely of %d: length %.3f km, nugget %.4f, log-likelihood %.3f\n",
         search.evaluations, options->length, options->nugget, best);
  return true;
}

#else

bool process_optimize(chol_handle_t handle, chol_tlr_t R, options_t* options, process_t* process,
                      failure_t* failure) {
  (void)handle;
  (void)R;
  (void)options;
  (void)process;
  return fail(failure, kExitUsage, "--fit needs NLopt, which was not there when this was built");
}

#endif
