// How many cores this process may use: affinity, cgroup quota, OpenMP's variables.
#pragma once

namespace chol::host {

/// Cores that the affinity of the calling thread allows; 1 at least.
int cores_of_this_thread();

/// Cores that the CPU quotas of a cgroup and those above it are worth, rounded up, or 0 without a
/// quota.
/// @param memberships as /proc/self/cgroup; @param mount as /sys/fs/cgroup
int cores_of_quota(const char* memberships, const char* mount);

/// The number of threads of a call when nobody says: OMP_NUM_THREADS, else the cores that the
/// affinity and the cgroup allow; at most OMP_THREAD_LIMIT, and what an OpenMP runtime that the
/// program has loaded would use.
int default_threads();

}  // namespace chol::host
