#include "routine/shared_device.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <new>

#include "base/environment.hpp"
#include "base/preloaded.hpp"

namespace chol::routine {
namespace {

enum class State : int { unopened, opening, open, absent };

// Neither is ever destroyed: CUDA may be unloaded before the last destructors run, and threads may
// still run at exit.
alignas(std::timed_mutex) unsigned char turn_memory[sizeof(std::timed_mutex)];
Handle::Slots* opened = nullptr;
std::atomic<State> state{State::unopened};

std::timed_mutex& turn() { return *std::launder(reinterpret_cast<std::timed_mutex*>(turn_memory)); }

/// CUDA cannot be used in a child process whose parent had initialized it.
void in_child() {
  if (state != State::unopened) state = State::absent;
  new (turn_memory) std::timed_mutex;  // its owner does not exist in the child
}

void prepare() {
  static const int once = [] {
    new (turn_memory) std::timed_mutex;
    return pthread_atfork(nullptr, nullptr, in_child);
  }();
  static_cast<void>(once);
}

/// Without CHOL_DEVICES the current device is used, if there may be one.
bool is_wanted() {
  return environment().backend != CHOL_BACKEND_HOST && backend::device_is_likely();
}

Status open_all(Handle::Slots& all) {
  const Environment& read = environment();
  for (int d = 0; d < std::max(read.device_count, 1); ++d) {
    all.push_back(std::make_unique<BackendSlot>());
    const Status status = open_backend(
        CHOL_BACKEND_CUDA, read.device_count > 0 ? read.devices + d : nullptr, all.back()->backend);
    if (!status.ok())
      return read.device_count == 0 ? status
                                    : Status::error(status.code(), "CHOL_DEVICES, number %d: %s",
                                                    d + 1, status.message());
  }
  return Status::success();
}

/// Reports devices that CHOL_DEVICES names and that cannot be used, although the call succeeds.
void tell(const Status& status) {
  if (environment().verbose)
    std::fprintf(stderr, "# chol: no offload: %s\n", status.message());
  else if (is_preloaded() && environment().device_count > 0)
    std::fprintf(stderr, "chol: no offload: %s\n", status.message());
}

void open() {
  state = State::opening;
  Status status;
  try {
    opened = new Handle::Slots;
    status = open_all(*opened);
  } catch (const std::bad_alloc&) {
    status = Status::error(CHOL_STATUS_ALLOC_FAILED, "out of memory");
  }
  if (!status.ok()) {
    tell(status);
    delete opened;
    opened = nullptr;
  }
  state = status.ok() ? State::open : State::absent;
}

}  // namespace

SignalShield::SignalShield() {
  sigset_t all;
  sigfillset(&all);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
    sigdelset(&all, own);
  pthread_sigmask(SIG_BLOCK, &all, &before_);
}

SignalShield::~SignalShield() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

bool device_is_possible() {
  const State now = state.load(std::memory_order_acquire);
  if (now != State::unopened) return now != State::absent;
  static const bool wanted = is_wanted();
  return wanted;
}

TuningStore* device_tuning() {
  return state.load(std::memory_order_acquire) == State::open ? &opened->front()->backend->tuning()
                                                              : nullptr;
}

int device_count() { return std::max(environment().device_count, 1); }

DeviceTurn::DeviceTurn(double patience) {
  prepare();
  holds_ = turn().try_lock_for(std::chrono::duration<double>(patience));
  if (!holds_) return;
  if (state == State::unopened) open();
  if (state == State::open) devices_ = opened;
}

DeviceTurn::~DeviceTurn() {
  if (holds_) turn().unlock();
}

void DeviceTurn::give_up() { state = State::absent; }

}  // namespace chol::routine
