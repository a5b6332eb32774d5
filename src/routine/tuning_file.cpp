#include "routine/tuning_file.hpp"

#include <sys/stat.h>
#include <time.h>

#include <atomic>
#include <cstdio>
#include <string>

#include "base/environment.hpp"
#include "base/preloaded.hpp"

namespace chol::routine {
namespace {

/// Identity of a file's content when it was read.
struct Version {
  dev_t device = 0;
  ino_t number = 0;
  off_t size = -1;
  timespec written = {};

  bool operator==(const Version& other) const {
    return device == other.device && number == other.number && size == other.size &&
           written.tv_sec == other.written.tv_sec && written.tv_nsec == other.written.tv_nsec;
  }
};

/// Returns whether the file exists.
bool look_at(const char* path, Version* version) {
  struct stat found;
  if (stat(path, &found) != 0) return false;
  *version = {found.st_dev, found.st_ino, found.st_size, found.st_mtim};
  return true;
}

/// Whether the file is so old that another change would alter its modification time, whose
/// resolution is a timer tick, in some file systems two seconds.
bool has_settled(const Version& version) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const double age = static_cast<double>(now.tv_sec - version.written.tv_sec) +
                     1e-9 * static_cast<double>(now.tv_nsec - version.written.tv_nsec);
  return age > (version.written.tv_nsec == 0 ? 2 : 0.1);
}

/// The file as read for the backend of one name: the complete store, or the error.
struct Outcome {
  std::string machine;
  Version version;
  Status status;
  TuningStore store;
  const Outcome* next;
};

// A list that only grows and is never destroyed, without a lock that a fork might leave held.
// Threads that read the file at the same time each add an entry.
std::atomic<const Outcome*> outcomes{nullptr};

const Outcome* find(const std::string& machine, const Version& version) {
  for (const Outcome* o = outcomes.load(std::memory_order_acquire); o; o = o->next)
    if (o->machine == machine && o->version == version) return o;
  return nullptr;
}

void keep(Outcome* outcome) {
  outcome->next = outcomes.load(std::memory_order_relaxed);
  while (!outcomes.compare_exchange_weak(outcome->next, outcome, std::memory_order_release)) {
  }
}

/// @param version of the file, nullptr when there is none.
Status load(const char* path, const Version* version, backend::Backend& backend) {
  if (const Outcome* known = version ? find(backend.name(), *version) : nullptr) {
    if (known->status.ok()) backend.tuning() = known->store;
    return known->status;
  }
  const Status status =
      backend.tuning().load_file(path, backend.name(), backend.methods(),
                                 [&](const Row& row) { return backend.accepts(row); });
  if (version && has_settled(*version) && status.code() != CHOL_STATUS_ALLOC_FAILED)
    keep(new Outcome{backend.name(), *version, status, backend.tuning(), nullptr});
  return status;
}

void tell_once(const Status& status) {
  static std::atomic<bool> told{false};
  if (!told.exchange(true))
    std::fprintf(stderr, "chol: %s (built-in rows are used)\n", status.message());
}

}  // namespace

Status lay_tuning_file(backend::Backend& backend) {
  const char* const named = environment().tuning_file;
  const char* const path = named ? named : environment().user_tuning_file;
  Version version;
  const bool there = path && look_at(path, &version);
  if (!there && !named) return Status::success();
  const Status status = load(path, there ? &version : nullptr, backend);
  if (status.ok() || status.code() == CHOL_STATUS_ALLOC_FAILED) return status;
  if (named && !is_preloaded()) return status;
  if (named || environment().verbose) tell_once(status);
  return Status::success();
}

}  // namespace chol::routine
