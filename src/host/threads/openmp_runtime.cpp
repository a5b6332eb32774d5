#include "host/threads/openmp_runtime.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstring>

namespace chol::host {
namespace {

struct Runtime {
  int (*in_parallel)();
  int (*get_max_threads)();
  void (*set_num_threads)(int);
};

constexpr int kMostRuntimes = 8;
Runtime runtimes[kMostRuntimes];
std::atomic<int> runtime_count{0};
std::atomic<unsigned long long> objects_seen{0};  ///< loads of shared objects at the last search
std::atomic<bool> searching{false};

struct Paths {
  unsigned long long loads = 0;
  int count = 0;
  char path[kMostRuntimes][PATH_MAX];
};

bool is_openmp(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  const char* const name = slash ? slash + 1 : path;
  for (const char* prefix : {"libgomp", "libomp", "libiomp5"})
    if (std::strncmp(name, prefix, std::strlen(prefix)) == 0) return true;
  return false;
}

unsigned long long count_loads() {
  unsigned long long loads = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* to) {
        *static_cast<unsigned long long*>(to) = info->dlpi_adds;
        return 1;
      },
      &loads);
  return loads;
}

/// The loader is locked meanwhile: the objects are opened afterwards.
int note_openmp(dl_phdr_info* info, size_t, void* to) {
  Paths& paths = *static_cast<Paths*>(to);
  paths.loads = info->dlpi_adds;
  if (info->dlpi_name && is_openmp(info->dlpi_name) && paths.count < kMostRuntimes) {
    std::strncpy(paths.path[paths.count], info->dlpi_name, PATH_MAX - 1);
    paths.path[paths.count++][PATH_MAX - 1] = 0;
  }
  return 0;
}

void add_runtime(void* library) {
  Runtime found;
  found.in_parallel = reinterpret_cast<int (*)()>(dlsym(library, "omp_in_parallel"));
  found.get_max_threads = reinterpret_cast<int (*)()>(dlsym(library, "omp_get_max_threads"));
  found.set_num_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "omp_set_num_threads"));
  const int count = runtime_count.load(std::memory_order_relaxed);
  if (!found.in_parallel || !found.get_max_threads || !found.set_num_threads) return;
  for (int i = 0; i < count; ++i)
    if (runtimes[i].in_parallel == found.in_parallel) return;
  if (count == kMostRuntimes) return;
  runtimes[count] = found;
  runtime_count.store(count + 1, std::memory_order_release);
}

}  // namespace

void find_openmp_runtimes() {
  if (count_loads() == objects_seen.load(std::memory_order_relaxed)) return;
  if (searching.exchange(true, std::memory_order_acquire)) return;
  static Paths paths;
  paths.count = 0;
  dl_iterate_phdr(note_openmp, &paths);
  objects_seen.store(paths.loads, std::memory_order_relaxed);
  add_runtime(RTLD_DEFAULT);  // linked into the program
  // Kept open: a runtime that was asked once has to stay.
  for (int i = 0; i < paths.count; ++i)
    if (void* const library = dlopen(paths.path[i], RTLD_LAZY | RTLD_NOLOAD)) add_runtime(library);
  searching.store(false, std::memory_order_release);
}

bool in_openmp_parallel_region() {
  find_openmp_runtimes();
  const int count = runtime_count.load(std::memory_order_acquire);
  return std::any_of(runtimes, runtimes + count, [](const Runtime& r) { return r.in_parallel(); });
}

int openmp_max_threads() {
  int least = 0;
  const int count = runtime_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const int most = runtimes[i].get_max_threads();
    least = least == 0 ? most : std::min(least, most);
  }
  return least;
}

void set_openmp_threads(int threads) {
  const int count = runtime_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) runtimes[i].set_num_threads(threads);
}

}  // namespace chol::host
