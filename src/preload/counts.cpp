#include "preload/counts.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstring>

namespace chol::preload {
namespace {

/// A unique file, even if a process number is reused.
int create_file(const char* folder, pid_t process) {
  for (int k = 0; k < 1000; ++k) {
    char path[4096];
    std::snprintf(path, sizeof path, "%s/%d.%d", folder, static_cast<int>(process), k);
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

}  // namespace

CountsFile* map_counts_file(const char* folder, pid_t root, int64_t began, const char* program) {
  const int error = errno;
  const pid_t process = getpid();
  const int file = create_file(folder, process);
  void* memory = MAP_FAILED;
  // The blocks are allocated first: on a full disk a later access would end the process with
  // SIGBUS.
  if (file >= 0 && posix_fallocate(file, 0, sizeof(CountsFile)) == 0)
    memory = mmap(nullptr, sizeof(CountsFile), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) close(file);
  errno = error;
  if (memory == MAP_FAILED) return nullptr;
  auto* counts = static_cast<CountsFile*>(memory);  // all zero
  counts->began = began;
  counts->root = root;
  counts->process = process;
  std::snprintf(counts->program, sizeof counts->program, "%s", program);
  counts->magic = CountsFile::kMagic;
  return counts;
}

void print_counts(std::FILE* out, pid_t process, int forks, const char* program,
                  const Counts* routines) {
  static constexpr const char* kPlaceNames[kPlaces] = {"chol, host", "chol, CUDA", "the original"};
  std::fprintf(out, "chol_preload: calls of process %d (%s)", static_cast<int>(process), program);
  if (forks > 0) std::fprintf(out, " and %d that it forked", forks);
  std::fprintf(out, "\n  %-24s %12s %14s %12s  %s\n", "routine", "calls", "sum of n^3/3", "seconds",
               "done by");
  for (const Counts* counts = routines; counts < routines + kMostRoutines; ++counts)
    for (int place = 0; place < kPlaces; ++place) {
      const Counts::Sum& sum = counts->sums[place];
      if (sum.calls.load() == 0) continue;
      std::fprintf(out, "  %-24.31s %12" PRId64 " %14.4g %12.6f  %s\n", counts->routine,
                   sum.calls.load(), sum.cubes.load(),
                   1e-9 * static_cast<double>(sum.nanoseconds.load()), kPlaceNames[place]);
    }
}

}  // namespace chol::preload
