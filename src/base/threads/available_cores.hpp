// Number of cores that this process may use: affinity, cgroup quota, OpenMP's variables.
#pragma once

#include <sched.h>

namespace chol {

/// The cores for a team of the calling thread: those of its affinity, or all places if an OpenMP
/// runtime has bound it to one place. False on machines with more cores than the set can represent.
bool cores_of_this_thread(cpu_set_t& cores);

/// Number of these cores; at least 1, and also correct on larger machines.
int count_cores_of_this_thread();

/// Whether OMP_NUM_THREADS is set, independent of the number of cores.
bool openmp_variable_asks();

/// Adds the cores in the affinity of the process's first thread.
void add_cores_of_process(cpu_set_t& cores);

/// Number of cores that corresponds to the CPU quotas of a cgroup and its parents, rounded up, or 0
/// without a quota.
/// @param memberships as /proc/self/cgroup; @param mount as /sys/fs/cgroup
int cores_of_quota(const char* memberships, const char* mount);

/// The default number of threads of a call: OMP_NUM_THREADS, otherwise the number of cores that the
/// affinity of the process and the cgroup allow; at most OMP_THREAD_LIMIT and the number that a
/// loaded OpenMP runtime would use.
int default_threads();

}  // namespace chol
