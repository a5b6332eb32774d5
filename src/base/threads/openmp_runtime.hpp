// The OpenMP runtimes loaded by the program. The library is not linked to any: it queries the
// loaded ones whether the caller is in a parallel region, and how many threads it may use.
#pragma once

#include <sched.h>

namespace chol {

/// Whether the calling thread is in a parallel region of any runtime: its cores are in use.
bool in_openmp_parallel_region();

/// The smallest omp_get_max_threads() of the loaded runtimes, or 0.
int openmp_max_threads();

/// Adds the cores of all places of a runtime that has bound a thread with this affinity to one of
/// them (OMP_PROC_BIND). A team of that runtime would use them, too.
void add_openmp_places(cpu_set_t& cores);

/// Sets the number of threads of the calling thread's next parallel region in each runtime.
void set_openmp_threads(int threads);

/// Searches for runtimes again if shared objects were loaded since the last search.
void find_openmp_runtimes();

}  // namespace chol
