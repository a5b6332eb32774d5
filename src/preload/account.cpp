#include "preload/account.hpp"

#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace chol::preload {
namespace {

// All constant-initialized: a wrapper may be called before any constructor has run.
constinit Counts counts_of_process[kMostRoutines];
constinit std::atomic<Counts*> book{nullptr};  ///< the counts in use: these, or those of a file
constinit std::atomic<Account*> owners[kMostRoutines];

/// Process number and start time of this program, which forks inherit.
struct Root {
  pid_t process = 0;
  int64_t began = 0;
};
const Root& root() {
  static const Root first = [] {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return Root{getpid(), now.tv_sec * int64_t{1000000000} + now.tv_nsec};
  }();
  return first;
}

/// The counters of this process. If several threads create them at the same time, the first wins;
/// the files of the others stay empty.
Counts* open_book() {
  if (Counts* known = book.load(std::memory_order_acquire)) return known;
  Counts* opened = counts_of_process;
  if (settings().report_in_folder)
    if (CountsFile* file = map_counts_file(settings().report_path, root().process, root().began,
                                           program_invocation_short_name))
      opened = file->routines;
  Counts* before = nullptr;
  return book.compare_exchange_strong(before, opened) ? opened : before;
}

}  // namespace

Counts* Account::counts() {
  if (Counts* known = counts_.load(std::memory_order_acquire)) return known;
  Counts* const all = open_book();
  for (int k = 0; k < kMostRoutines; ++k) {
    Account* owner = nullptr;
    if (!owners[k].compare_exchange_strong(owner, this) && owner != this) continue;
    std::strncpy(all[k].routine, name_, sizeof all[k].routine - 1);
    counts_.store(&all[k], std::memory_order_release);
    return &all[k];
  }
  return nullptr;
}

void Account::add(Place place, double cubes, int64_t nanoseconds) {
  Counts* const mine = counts();
  if (!mine) return;
  Counts::Sum& sum = mine->sums[static_cast<int>(place)];
  sum.calls.fetch_add(1, std::memory_order_relaxed);
  sum.nanoseconds.fetch_add(nanoseconds, std::memory_order_relaxed);
  sum.cubes.fetch_add(cubes, std::memory_order_relaxed);
}

void Account::report() {
  if (book.load() != counts_of_process || settings().report_in_folder) return;
  const char* path = settings().report_path;
  std::FILE* out = path ? std::fopen(path, "ae") : stderr;
  if (!out) {
    std::fprintf(stderr, "chol: CHOL_REPORT = %s: %s\n", path, std::strerror(errno));
    out = stderr;
  }
  print_counts(out, getpid(), 0, program_invocation_short_name, counts_of_process);
  if (out != stderr) std::fclose(out);
}

void Account::begin() { root(); }

void Account::forget_all() {
  for (std::atomic<Account*>& entry : owners)
    if (Account* owner = entry.exchange(nullptr)) owner->counts_ = nullptr;
  book = nullptr;
  for (Counts& counts : counts_of_process)
    for (Counts::Sum& sum : counts.sums) {
      sum.calls = 0;
      sum.nanoseconds = 0;
      sum.cubes = 0;
    }
}

}  // namespace chol::preload
