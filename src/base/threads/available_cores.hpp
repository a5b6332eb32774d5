// How many cores this process may use: affinity, cgroup quota, OpenMP's variables.
#pragma once

#include <sched.h>

namespace chol {

/// The cores for a team of the calling thread: those of its affinity, or all places of an OpenMP
/// runtime that has bound it to one. False on machines of more cores than the set holds.
bool cores_of_this_thread(cpu_set_t& cores);

/// Their number; at least 1, and correct on larger machines too.
int count_cores_of_this_thread();

/// Whether OMP_NUM_THREADS is set, whatever the number of cores.
bool openmp_variable_asks();

/// Adds the cores that the affinity of the process's first thread allows.
void add_cores_of_process(cpu_set_t& cores);

/// Cores that the CPU quotas of a cgroup and those above it are worth, rounded up, or 0 without a
/// quota.
/// @param memberships as /proc/self/cgroup; @param mount as /sys/fs/cgroup
int cores_of_quota(const char* memberships, const char* mount);

/// The default number of threads of a call: OMP_NUM_THREADS, else the cores that the affinity of
/// the process and the cgroup allow; at most OMP_THREAD_LIMIT, and what an OpenMP runtime that the
/// program has loaded would use.
int default_threads();

}  // namespace chol
