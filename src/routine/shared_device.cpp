#include "routine/shared_device.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <new>

#include "base/environment.hpp"

namespace chol::routine {
namespace {

enum class State : int { unopened, opening, open, absent };

// Neither is ever destroyed: CUDA may be gone before the last destructors run, and threads may be
// at work when the process ends.
alignas(std::timed_mutex) unsigned char turn_memory[sizeof(std::timed_mutex)];
BackendSlot* slot = nullptr;
std::atomic<State> state{State::unopened};

std::timed_mutex& turn() { return *std::launder(reinterpret_cast<std::timed_mutex*>(turn_memory)); }

/// CUDA does not work in the child of a process that had initialized it.
void in_child() {
  if (state != State::unopened) state = State::absent;
  new (turn_memory) std::timed_mutex;  // whoever held it is not here
}

void prepare() {
  static const int once = [] {
    new (turn_memory) std::timed_mutex;
    return pthread_atfork(nullptr, nullptr, in_child);
  }();
  static_cast<void>(once);
}

/// What was not named is a device wherever there may be one.
bool is_wanted() {
  return environment().backend != CHOL_BACKEND_HOST && backend::device_is_likely();
}

void open() {
  state = State::opening;
  slot = new (std::nothrow) BackendSlot;
  Status status = slot ? open_backend(CHOL_BACKEND_CUDA, nullptr, slot->backend)
                       : Status::error(CHOL_STATUS_ALLOC_FAILED, "offload: out of memory");
  if (!status.ok() && environment().verbose)
    std::fprintf(stderr, "# chol: no offload: %s\n", status.message());
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
  return state.load(std::memory_order_acquire) == State::open ? &slot->backend->tuning() : nullptr;
}

DeviceTurn::DeviceTurn(double patience) {
  prepare();
  holds_ = turn().try_lock_for(std::chrono::duration<double>(patience));
  if (!holds_) return;
  if (state == State::unopened) open();
  if (state == State::open) slot_ = slot;
}

DeviceTurn::~DeviceTurn() {
  if (holds_) turn().unlock();
}

void DeviceTurn::give_up() { state = State::absent; }

}  // namespace chol::routine
