#include "base/threads/openmp_runtime.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstring>
#include <span>

namespace chol {
namespace {

struct Runtime {
  int (*in_parallel)();
  int (*get_max_threads)();
  void (*set_num_threads)(int);
  // Available since OpenMP 4.5; null in older runtimes.
  int (*get_num_places)();
  int (*get_place_num_procs)(int);
  void (*get_place_proc_ids)(int, int*);
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

/// The loader is locked during the iteration, so that the objects are opened afterwards.
int note_openmp(dl_phdr_info* info, size_t, void* to) {
  Paths& paths = *static_cast<Paths*>(to);
  paths.loads = info->dlpi_adds;
  if (info->dlpi_name && is_openmp(info->dlpi_name) && paths.count < kMostRuntimes) {
    std::strncpy(paths.path[paths.count], info->dlpi_name, PATH_MAX - 1);
    paths.path[paths.count++][PATH_MAX - 1] = 0;
  }
  return 0;
}

template <class Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
}

void add_runtime(void* library) {
  Runtime found;
  find(library, "omp_in_parallel", found.in_parallel);
  find(library, "omp_get_max_threads", found.get_max_threads);
  find(library, "omp_set_num_threads", found.set_num_threads);
  find(library, "omp_get_num_places", found.get_num_places);
  find(library, "omp_get_place_num_procs", found.get_place_num_procs);
  find(library, "omp_get_place_proc_ids", found.get_place_proc_ids);
  const int count = runtime_count.load(std::memory_order_relaxed);
  if (!found.in_parallel || !found.get_max_threads || !found.set_num_threads) return;
  for (int i = 0; i < count; ++i)
    if (runtimes[i].in_parallel == found.in_parallel) return;
  if (count == kMostRuntimes) return;
  runtimes[count] = found;
  runtime_count.store(count + 1, std::memory_order_release);
}

cpu_set_t cores_of_place(const Runtime& runtime, int place) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  int ids[CPU_SETSIZE];
  const int count = runtime.get_place_num_procs(place);
  if (count <= 0 || count > CPU_SETSIZE) return cores;
  runtime.get_place_proc_ids(place, ids);
  for (int i = 0; i < count; ++i)
    if (ids[i] >= 0 && ids[i] < CPU_SETSIZE) CPU_SET(static_cast<size_t>(ids[i]), &cores);
  return cores;
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
  // Not closed: a runtime that was called must stay loaded.
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

void add_openmp_places(cpu_set_t& cores) {
  const cpu_set_t before = cores;
  const int count = runtime_count.load(std::memory_order_acquire);
  for (const Runtime& runtime : std::span(runtimes, static_cast<size_t>(count))) {
    if (!runtime.get_num_places || !runtime.get_place_num_procs || !runtime.get_place_proc_ids)
      continue;
    cpu_set_t all;
    CPU_ZERO(&all);
    bool is_bound = false;
    for (int place = 0; place < runtime.get_num_places(); ++place) {
      const cpu_set_t cores_of_this = cores_of_place(runtime, place);
      is_bound = is_bound || CPU_EQUAL(&cores_of_this, &before);
      CPU_OR(&all, &all, &cores_of_this);
    }
    if (is_bound) CPU_OR(&cores, &cores, &all);
  }
}

void set_openmp_threads(int threads) {
  const int count = runtime_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) runtimes[i].set_num_threads(threads);
}

}  // namespace chol
