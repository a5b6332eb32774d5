// The counters of intercepted calls: in the memory of a process, or in a file that chol-run reads,
// where they survive a process that ends by _exit or a signal, as the workers of a pool do.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <cstdio>

namespace chol::preload {

enum class Place : uint8_t { host, device, original };
inline constexpr int kPlaces = 3;

/// One routine under all its decorated names.
struct Counts {
  struct Sum {
    std::atomic<int64_t> calls{0};
    std::atomic<int64_t> nanoseconds{0};
    std::atomic<double> cubes{0};  ///< of n^3/3
  };
  char routine[32] = {};
  Sum sums[kPlaces];
};
inline constexpr int kMostRoutines = 128;

/// A file of them, one a process.
struct CountsFile {
  static constexpr uint64_t kMagic = 0x31544e554f434843;  // "CHCOUNT1"
  uint64_t magic;
  int64_t
      began;   ///< start time of the program that this process runs, by its first process's clock
  pid_t root;  ///< that first process, of which this one is a fork
  pid_t process;
  char program[64];
  Counts routines[kMostRoutines];
};

/// Creates and maps a file in the folder; nullptr on failure. The magic number is written last.
CountsFile* map_counts_file(const char* folder, pid_t root, int64_t began, const char* program);

/// The table of the routines that were called.
/// @param forks number of forked processes that are counted with `process`.
void print_counts(std::FILE* out, pid_t process, int forks, const char* program,
                  const Counts* routines);

}  // namespace chol::preload
