#include "routine/trace.hpp"

#include <cinttypes>
#include <cstdio>

#include "backend/flops.hpp"
#include "base/environment.hpp"
#include "base/precisions.h"

namespace chol::routine {
template <class T>
void print_call(const char* function, const char* backend_name, const char* method,
                const backend::Problem<T>& problem, int threads, double milliseconds) {
  const BatchSizes& sizes = problem.sizes;
  // The arrays of a variable batch may be in device memory: flops are computed from the bound.
  const double flops = backend::flops_of(problem);
  char chunk[32] = "", workers[32] = "";
  if (problem.A.chunk > 0) std::snprintf(chunk, sizeof chunk, " --chunk %" PRId64, problem.A.chunk);
  if (threads > 0)
    std::snprintf(workers, sizeof workers, ", %d thread%s", threads, threads > 1 ? "s" : "");
  std::fprintf(stderr,
               "chol-bench --function %s --uplo %c --n %" PRId64 " --nrhs %" PRId64
               " --lda %" PRId64 "%s --batch %" PRId64 "  # %s, %s%s, %.3f ms, %.2f Gflop/s%s\n",
               function, static_cast<char>(problem.uplo), sizes.n, sizes.nrhs, problem.A.ld, chunk,
               sizes.count, backend_name, method, workers, milliseconds,
               flops / (milliseconds * 1e6), sizes.variable() ? " at most" : "");
}

void print_cyclic_call(const char* function, const backend::Backend& device, size_t devices,
                       chol_uplo_t uplo, int64_t n, int64_t nb, double milliseconds, double flops) {
  if (!environment().verbose) return;
  std::fprintf(stderr,
               "# %s --uplo %c --n %" PRId64 " --nb %" PRId64
               "  # %s, %zu device%s, %.3f ms, %.2f Gflop/s\n",
               function, static_cast<char>(uplo), n, nb, device.name(), devices,
               devices > 1 ? "s" : "", milliseconds, flops / (milliseconds * 1e6));
}

void print_traffic(double moved, double least) {
  if (!environment().verbose) return;
  std::fprintf(stderr,
               "#   moved %.3f GB between host and devices, %.2f times the least of %.3f GB\n",
               moved * 1e-9, moved / least, least * 1e-9);
}

#define CHOL_INSTANTIATE_PRINT(prefix, T, R)                                                     \
  template void print_call<T>(const char*, const char*, const char*, const backend::Problem<T>&, \
                              int, double);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE_PRINT)
#undef CHOL_INSTANTIATE_PRINT

}  // namespace chol::routine
