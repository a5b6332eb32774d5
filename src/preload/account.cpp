#include "preload/account.hpp"

#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>

namespace chol::preload {
namespace {

/// A value that a statically initialized Account can hand on before any constructor ran.
constinit std::atomic<bool> something_was_called{false};

}  // namespace

constinit std::atomic<Account*> Account::first{nullptr};

void Account::add(Place place, double cubes, int64_t nanoseconds) {
  if (!listed_.exchange(true, std::memory_order_relaxed)) {
    next_ = first.load(std::memory_order_relaxed);
    while (!first.compare_exchange_weak(next_, this, std::memory_order_release)) {
    }
    something_was_called.store(true, std::memory_order_relaxed);
  }
  Sum& sum = sums_[static_cast<int>(place)];
  sum.calls.fetch_add(1, std::memory_order_relaxed);
  sum.nanoseconds.fetch_add(nanoseconds, std::memory_order_relaxed);
  sum.cubes.fetch_add(cubes, std::memory_order_relaxed);
}

void Account::report() {
  if (!settings().report || !something_was_called.load()) return;
  const char* path = settings().report_file;
  std::FILE* out = path ? std::fopen(path, "ae") : stderr;
  if (!out) return;
  static constexpr const char* kPlaceNames[kPlaces] = {"chol, host", "chol, CUDA", "the original"};
  std::fprintf(out, "chol_preload: caught in process %d (%s)\n", static_cast<int>(getpid()),
               program_invocation_short_name);
  std::fprintf(out, "  %-24s %12s %14s %12s  %s\n", "routine", "calls", "sum of n^3/3", "seconds",
               "done by");
  for (const Account* account = first.load(std::memory_order_acquire); account;
       account = account->next_)
    for (int place = 0; place < kPlaces; ++place) {
      const Sum& sum = account->sums_[place];
      if (sum.calls.load() == 0) continue;
      std::fprintf(out, "  %-24s %12" PRId64 " %14.4g %12.6f  %s\n", account->name_,
                   sum.calls.load(), sum.cubes.load(),
                   1e-9 * static_cast<double>(sum.nanoseconds.load()), kPlaceNames[place]);
    }
  if (path) std::fclose(out);
}

void Account::forget_all() {
  for (Account* account = first.load(); account; account = account->next_)
    for (Sum& sum : account->sums_) {
      sum.calls = 0;
      sum.nanoseconds = 0;
      sum.cubes = 0;
    }
}

}  // namespace chol::preload
