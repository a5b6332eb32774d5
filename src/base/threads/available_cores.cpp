#include "base/threads/available_cores.hpp"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/threads/openmp_runtime.hpp"

namespace chol {
namespace {

/// Reads up to size - 1 characters of a file. Returns whether any were read.
bool read_text(const char* path, char* text, size_t size) {
  std::FILE* const file = std::fopen(path, "re");
  if (!file) return false;
  const size_t read = std::fread(text, 1, size - 1, file);
  text[read] = 0;
  std::fclose(file);
  return read > 0;
}

/// Parses a positive number at the start of a text and advances the pointer past it; 0 if there is
/// none.
long long take_number(const char*& text) {
  char* end = nullptr;
  const long long number = std::strtoll(text, &end, 10);
  if (end == text || number <= 0) return 0;
  text = end;
  return number;
}

int quotient(long long quota, long long period) {
  if (quota == 0 || period == 0) return 0;
  return static_cast<int>(std::min<long long>((quota - 1) / period + 1, INT_MAX));
}

/// The number at the start of a file in a folder, or 0.
long long number_in_file(const char* folder, const char* name) {
  char path[2 * PATH_MAX], text[128];
  std::snprintf(path, sizeof path, "%s/%s", folder, name);
  const char* at = text;
  return read_text(path, text, sizeof text) ? take_number(at) : 0;
}

/// The quota in one folder: cpu.max of version 2, cpu.cfs_quota_us of version 1.
int quota_in(const char* folder) {
  char path[2 * PATH_MAX], text[128];
  std::snprintf(path, sizeof path, "%s/cpu.max", folder);
  if (!read_text(path, text, sizeof text))
    return quotient(number_in_file(folder, "cpu.cfs_quota_us"),
                    number_in_file(folder, "cpu.cfs_period_us"));
  const char* at = text;
  const long long quota = take_number(at);
  return quotient(quota, take_number(at));
}

int least_quota(int a, int b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

/// The smallest quota in the folders from `group` up to the mount point.
int least_quota_above(const char* mount, const char* group) {
  char folder[PATH_MAX];
  std::snprintf(folder, sizeof folder, "%s%s", mount, group);
  int cores = 0;
  for (const size_t shortest = std::strlen(mount); std::strlen(folder) >= shortest;) {
    cores = least_quota(cores, quota_in(folder));
    char* const last = std::strrchr(folder, '/');
    if (!last || last == folder) break;
    *last = 0;
  }
  return cores;
}

bool lists_cpu(const char* controllers) {
  const size_t length = std::strlen(controllers);
  for (const char* word = controllers; word < controllers + length;
       word += std::strcspn(word, ",") + 1)
    if (std::strcspn(word, ",") == 3 && std::strncmp(word, "cpu", 3) == 0) return true;
  return false;
}

/// Parses a positive number at the start of a variable, up to a comma; 0 if there is none.
int number_in(const char* variable) {
  const char* const text = secure_getenv(variable);
  if (!text) return 0;
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  while (*end == ' ') ++end;
  const bool is_number = end != text && (*end == 0 || *end == ',');
  return is_number && number > 0 && number <= INT_MAX ? static_cast<int>(number) : 0;
}

int cores_of_process() {
  cpu_set_t cores;
  if (!cores_of_this_thread(cores)) return count_cores_of_this_thread();
  add_cores_of_process(cores);
  return CPU_COUNT(&cores);
}

int threads_by_environment() {
  const int error_before = errno;
  int threads = number_in("OMP_NUM_THREADS");
  if (threads == 0)
    threads = std::max(
        1, least_quota(cores_of_process(), cores_of_quota("/proc/self/cgroup", "/sys/fs/cgroup")));
  const int limit = number_in("OMP_THREAD_LIMIT");
  errno = error_before;
  return limit > 0 ? std::min(threads, limit) : threads;
}

}  // namespace

bool cores_of_this_thread(cpu_set_t& cores) {
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return false;
  add_openmp_places(cores);
  return true;
}

void add_cores_of_process(cpu_set_t& cores) {
  cpu_set_t first;
  if (sched_getaffinity(getpid(), sizeof first, &first) == 0) CPU_OR(&cores, &cores, &first);
}

int count_cores_of_this_thread() {
  constexpr int kMostCores = 1 << 16;
  cpu_set_t few;
  if (cores_of_this_thread(few)) return std::max(1, CPU_COUNT(&few));
  // For machines with more cores than a cpu_set_t can represent.
  for (int cores = 2 * CPU_SETSIZE; cores <= kMostCores; cores *= 2) {
    cpu_set_t* const set = CPU_ALLOC(cores);
    if (!set) break;
    const size_t bytes = CPU_ALLOC_SIZE(cores);
    const bool known = sched_getaffinity(0, bytes, set) == 0;
    const int count = known ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (known) return std::max(1, count);
  }
  return 1;
}

int cores_of_quota(const char* memberships, const char* mount) {
  std::FILE* const file = std::fopen(memberships, "re");
  if (!file) return 0;
  int cores = 0;
  char line[PATH_MAX];
  // Lines are "number:controllers:group"; version 2 names no controllers.
  while (std::fgets(line, sizeof line, file)) {
    line[std::strcspn(line, "\n")] = 0;
    char* const controllers = std::strchr(line, ':');
    char* const group = controllers ? std::strchr(controllers + 1, ':') : nullptr;
    if (!group) continue;
    *group = 0;
    const char* const names = controllers + 1;
    if (*names && !lists_cpu(names)) continue;
    char root[PATH_MAX];
    std::snprintf(root, sizeof root, "%s%s%s", mount, *names ? "/" : "", names);
    struct stat there;
    // Inside a container the group's own folder is often the mount point itself.
    const bool is_visible = stat(root, &there) == 0;
    if (is_visible) cores = least_quota(cores, least_quota_above(root, group + 1));
  }
  std::fclose(file);
  return cores;
}

bool openmp_variable_asks() {
  static const bool asks = number_in("OMP_NUM_THREADS") > 0;
  return asks;
}

int default_threads() {
  static const int by_environment = threads_by_environment();
  const int openmp = openmp_max_threads();
  return openmp > 0 ? std::min(by_environment, openmp) : by_environment;
}

}  // namespace chol
