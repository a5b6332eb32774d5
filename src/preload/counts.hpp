// What was caught, as numbers: in the memory of a process, or in a file that chol-run reads, in
// which they outlive a process that ends by _exit or a signal, as workers of a pool do.
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
  int64_t began;  ///< when the program began that this process runs: its first process's clock
  pid_t root;     ///< that first process, of which this one is a fork
  pid_t process;
  char program[64];
  Counts routines[kMostRoutines];
};

/// A new file in the folder, mapped; nullptr when there can be none. Its magic is written last.
CountsFile* map_counts_file(const char* folder, pid_t root, int64_t began, const char* program);

/// The table of the routines that were called.
/// @param forks how many processes that it forked are counted with `process`.
void print_counts(std::FILE* out, pid_t process, int forks, const char* program,
                  const Counts* routines);

}  // namespace chol::preload
