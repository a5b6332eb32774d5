#include "base/threads/thread_pool.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <csignal>
#include <utility>

#include "base/threads/available_cores.hpp"
#include "base/threads/floating_point_mode.hpp"
#include "base/threads/openmp_runtime.hpp"

namespace chol {
namespace {

/// A worker that waits for tasks of others spins for the duration of a task, then sleeps.
constexpr int64_t kTaskSpinNs = 50000;
/// Work that a helper must take over to pay for its start, if it spins and if it sleeps.
constexpr double kSpinningGrainNs = 3000, kWakeUpsOfGrain = 2;
/// Waking several threads in sequence delays the caller's own work: each thread wakes two.
constexpr int kWakesAtATime = 2;
constexpr int64_t kNextAttemptNs = 1000000000;
/// Upper limit of a recorded wake-up time, so that busy periods are forgotten quickly.
constexpr int64_t kLongestWakeUpNs = 5000000;

/// A wait of this length in a call with shorter tasks means that a helper lost its core.
constexpr int64_t kStallNs = 500000;
constexpr double kShortNs = 20000000;
/// Work of one worker on which no other thread waits.
constexpr double kLongNs = 1000000;

constinit ThreadPool the_pool;

/// Whether fork handlers are registered; set when threads are created.
bool watches_forks = false;

/// A helper that runs callbacks must not wait for other helpers.
thread_local bool is_helper = false;

}  // namespace

thread_local CallScope* CallScope::current_ = nullptr;

CallScope::CallScope(bool threads_are_default)
    : outer_(current_), threads_are_default_(threads_are_default) {
  current_ = this;
}

CallScope::~CallScope() { current_ = outer_; }

ThreadPool& ThreadPool::instance() { return the_pool; }

/// @param cores receives the cores that they may use
int ThreadPool::useful_helpers(const Team& team, cpu_set_t& cores) {
  int most = team.workers - 1;
  CPU_ZERO(&cores);
  if (most <= 0 || is_helper || in_openmp_parallel_region()) return 0;
  const bool are_known = cores_of_this_thread(cores);
  const int count = are_known ? CPU_COUNT(&cores) : count_cores_of_this_thread();
  const CallScope* const call = CallScope::current_;
  cpu_set_t all = cores;
  if (are_known && count <= most) add_cores_of_process(all);
  if (!call || !call->threads_are_default_)
    cores = all;  // a thread that is bound to few cores requests more threads
  else if (!openmp_variable_asks() || CPU_COUNT(&all) > count)
    most = std::min(most, count - 1);
  const double awake = std::min<double>(spinning_.load(std::memory_order_relaxed),
                                        team.serial_ns / kSpinningGrainNs);
  const int64_t wake_up = wake_up_ns_.load(std::memory_order_relaxed);
  const double asleep = team.serial_ns / (kWakeUpsOfGrain * static_cast<double>(wake_up));
  // Measurements made while other programs ran decay gradually.
  if (asleep < most && wake_up > kFirstWakeUpNs)
    wake_up_ns_.store(wake_up - wake_up / 16, std::memory_order_relaxed);
  const int helpers = static_cast<int>(std::min<double>(most, std::max(awake, asleep)));
  return pay_for_stalls(helpers, team) ? helpers : 0;
}

/// Whether helpers save more time than recent calls have waited for helpers that lost their core.
bool ThreadPool::pay_for_stalls(int helpers, const Team& team) {
  const int64_t stall = stall_ns_.load(std::memory_order_relaxed);
  if (static_cast<double>(stall) * (helpers + 1) <= team.serial_ns * helpers) return true;
  stall_ns_.store(stall - stall / 32, std::memory_order_relaxed);  // tried again after some calls
  return false;
}

void ThreadPool::note_stall(const Team& team, int64_t waited) {
  if (team.serial_ns > kShortNs) return;
  const int64_t average = stall_ns_.load(std::memory_order_relaxed);
  stall_ns_.store(average + (waited - average) / 16, std::memory_order_relaxed);
}

/// Waits for a change. Returns the waiting time if a helper must have lost its core meanwhile,
/// otherwise 0.
int64_t ThreadPool::stall_in_wait(Slot& slot, uint32_t seen) {
  const int64_t start = now_ns();
  slot.changes.wait(seen, kTaskSpinNs);
  const int64_t waited = now_ns() - start;
  return waited > kStallNs ? waited : 0;
}

void ThreadPool::note_wake_up(int64_t nanoseconds) {
  nanoseconds = std::min(nanoseconds, kLongestWakeUpNs);
  const int64_t average = wake_up_ns_.load(std::memory_order_relaxed);
  wake_up_ns_.store(average + (nanoseconds - average) / 8, std::memory_order_relaxed);
}

/// Creates helpers, up to `wanted` of them. Returns whether there is at least one.
bool ThreadPool::create_threads(int wanted) {
  wanted = std::min(wanted, kMostHelpers);
  if (threads() >= wanted || now_ns() < no_thread_until_.load(std::memory_order_relaxed))
    return threads() > 0;
  if (creating_.exchange(true, std::memory_order_acquire)) return threads() > 0;
  const int error_before = errno;
  // Not a static of the function: a fork during its first call would leave its guard locked in the
  // child.
  if (!watches_forks) {
    watches_forks = true;
    pthread_atfork(nullptr, nullptr, forget_threads);
  }
  // Helpers block all signals except synchronous errors: signals of the program are for its own
  // threads.
  sigset_t all, before;
  sigfillset(&all);
  for (const int error : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&all, error);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  while (threads() < wanted) {
    pthread_t thread;
    // Counted before it may enter a slot, since a slot's caller checks all counted helpers.
    Helper& helper = helpers_[threads_.fetch_add(1, std::memory_order_seq_cst)];
    if (pthread_create(&thread, &attributes, helper_main, &helper) != 0) {
      threads_.fetch_sub(1, std::memory_order_seq_cst);
      no_thread_until_.store(now_ns() + kNextAttemptNs, std::memory_order_relaxed);
      break;
    }
    pthread_setname_np(thread, "chol-helper");
  }
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  creating_.store(false, std::memory_order_release);
  errno = error_before;
  return threads() > 0;
}

/// The child of a fork has only the forking thread. Work posted by others is lost.
void ThreadPool::forget_threads() {
  ThreadPool& pool = the_pool;
  const int threads = pool.threads_;
  pool.threads_ = pool.spinning_ = pool.parked_ = 0;
  pool.creating_ = false;
  pool.taken_ = pool.open_ = 0;
  for (Slot& slot : pool.slots_) {
    slot.gate = slot.gate & ~kOpen;
    slot.changes.forget_sleepers();
  }
  for (int i = 0; i < threads; ++i) pool.helpers_[i].inside = nullptr;
}

ThreadPool::Slot* ThreadPool::take_slot() {
  uint64_t taken = taken_.load(std::memory_order_relaxed);
  while (~taken) {
    const int free = std::countr_one(taken);
    if (taken_.compare_exchange_weak(taken, taken | uint64_t{1} << free, std::memory_order_acquire))
      return &slots_[free];
  }
  return nullptr;
}

void ThreadPool::wake(int count) {
  if (count > 0 && parked_.load(std::memory_order_seq_cst) > 0) futex_wake(posts_, count);
}

void ThreadPool::post(Slot& slot, TeamWork& work, int helpers, const cpu_set_t& cores) {
  const int asleep = helpers - spinning_.load(std::memory_order_relaxed);
  slot.work = &work;
  slot.workers = helpers + 1;
  slot.posted_at = now_ns();
  slot.caller_cpu = sched_getcpu();
  slot.cores = cores;
  slot.floating_point_mode = floating_point_mode();
  slot.joined.store(0, std::memory_order_relaxed);
  slot.departures.store(0, std::memory_order_relaxed);
  slot.to_wake.store(std::max(0, asleep - kWakesAtATime), std::memory_order_relaxed);
  slot.gate.store((slot.gate.load(std::memory_order_relaxed) + 1) | kOpen,
                  std::memory_order_seq_cst);
  open_.fetch_or(uint64_t{1} << index(slot), std::memory_order_release);
  posts_.fetch_add(1, std::memory_order_seq_cst);
  wake(std::min(asleep, kWakesAtATime));
  call_helpers_away(slot, helpers);
}

/// If long calls use all helpers, a new call gets its share of them after their current task.
void ThreadPool::call_helpers_away(const Slot& to, int wanted) {
  const uint64_t open = open_.load(std::memory_order_relaxed);
  const int free =
      spinning_.load(std::memory_order_relaxed) + parked_.load(std::memory_order_relaxed);
  const int share = threads() / std::max(1, std::popcount(open));
  int missing = std::min(wanted, share) - free;
  for (uint64_t others = open; others && missing > 0; others &= others - 1) {
    Slot& slot = slots_[std::countr_zero(others)];
    const int surplus = slot.joined.load(std::memory_order_relaxed) - share;
    if (&slot == &to || surplus <= 0 || !slot.is_long.load(std::memory_order_relaxed)) continue;
    slot.departures.store(std::min(surplus, missing), std::memory_order_relaxed);
    missing -= surplus;
  }
}

/// Closes the slot to helpers and waits for those that have begun a task. Returns the time of
/// stalls.
int64_t ThreadPool::close(Slot& slot, int helpers) {
  int64_t stalled = 0;
  open_.fetch_and(~(uint64_t{1} << index(slot)), std::memory_order_relaxed);
  slot.gate.fetch_and(~kOpen, std::memory_order_seq_cst);
  slot.changes.raise(Signal::kAll);
  for (;;) {
    const uint32_t seen = slot.changes.count();
    if (is_empty(slot)) break;
    stalled += stall_in_wait(slot, seen);
  }
  const int joined = std::min(slot.joined.load(std::memory_order_relaxed), helpers);
  if (CallScope* call = CallScope::current_) call->workers_ = std::max(call->workers_, joined + 1);
  // No helper started in time: a wake-up takes at least that long.
  const int64_t spent = now_ns() - slot.posted_at;
  if (joined == 0 && spent > wake_up_ns_.load(std::memory_order_relaxed)) note_wake_up(spent);
  taken_.fetch_and(~(uint64_t{1} << index(slot)), std::memory_order_release);
  return stalled;
}

void ThreadPool::run(TeamWork& work, const Team& team) {
  cpu_set_t cores;
  const int helpers = useful_helpers(team, cores);
  Slot* const slot = helpers > 0 && create_threads(helpers) ? take_slot() : nullptr;
  if (!slot) {
    Signal unheard;
    work.changes = &unheard;
    work.advance(0);
    work.changes = nullptr;
    return;
  }
  work.changes = &slot->changes;
  work.departures = &slot->departures;
  slot->is_long.store(team.serial_ns > kLongNs * (helpers + 1), std::memory_order_relaxed);
  post(*slot, work, helpers, cores);
  Closing closing{*this, *slot, helpers, team};
  for (;;) {
    const uint32_t seen = slot->changes.count();
    if (work.advance(0) == Outcome::finished) return;
    closing.stalled += stall_in_wait(*slot, seen);
  }
}

void* ThreadPool::helper_main(void* helper) {
  is_helper = true;
  static_cast<Helper*>(helper)->forget();
  the_pool.serve(*static_cast<Helper*>(helper));
  return nullptr;
}

void ThreadPool::serve(Helper& helper) {
  bool was_parked = true;
  for (;;) {
    const uint32_t seen = posts_.load(std::memory_order_seq_cst);
    if (join_any(helper, was_parked)) {
      was_parked = false;
      if (helper.losses.any_since_last()) helper.spin.core_was_lost();
      continue;
    }
    was_parked = wait_for_post(helper, seen);
  }
}

bool ThreadPool::join_any(Helper& helper, bool was_parked) {
  bool worked = false;
  for (uint64_t open = open_.load(std::memory_order_acquire); open; open &= open - 1)
    worked = help(helper, slots_[std::countr_zero(open)], was_parked && !worked) || worked;
  return worked;
}

/// Waits for a post after `seen`. Returns whether it slept.
bool ThreadPool::wait_for_post(Helper& helper, uint32_t seen) {
  const auto posted = [&] { return posts_.load(std::memory_order_seq_cst) != seen; };
  Spin spin;
  spinning_.fetch_add(1, std::memory_order_relaxed);
  const bool came = spin.until(helper.spin.nanoseconds(), posted);
  spinning_.fetch_sub(1, std::memory_order_relaxed);
  if (spin.was_preempted())
    helper.spin.core_was_lost();
  else if (came)
    helper.spin.post_came();
  else
    helper.spin.post_did_not_come();
  if (came || return_to_left(helper)) return false;
  helper.cores.allow_all();
  helper.asleep_since = now_ns();
  parked_.fetch_add(1, std::memory_order_seq_cst);
  if (!posted()) futex_wait(posts_, seen);
  parked_.fetch_sub(1, std::memory_order_seq_cst);
  helper.spin.post_came_late(now_ns() - helper.asleep_since);
  return true;
}

/// Either this function sees that the post is closed, or the closing thread sees the helper inside.
bool ThreadPool::enter(Helper& helper, Slot& slot, uint32_t post) {
  helper.inside.store(&slot, std::memory_order_seq_cst);
  if (slot.gate.load(std::memory_order_seq_cst) == post) return true;
  leave(helper, slot);
  return false;
}

/// Likewise: a thread that waits until the slot is empty sees this, or it is woken.
void ThreadPool::leave(Helper& helper, Slot& slot) {
  helper.inside.store(nullptr, std::memory_order_seq_cst);
  if (!(slot.gate.load(std::memory_order_seq_cst) & kOpen)) slot.changes.raise(Signal::kAll);
}

bool ThreadPool::is_empty(const Slot& slot) const {
  const int count = threads_.load(std::memory_order_seq_cst);
  return std::none_of(helpers_, helpers_ + count, [&](const Helper& helper) {
    return helper.inside.load(std::memory_order_seq_cst) == &slot;
  });
}

/// Moves a helper that is inside to an allowed core. Returns whether it is inside afterwards: it
/// leaves to move, since that may take long.
bool ThreadPool::move_to_cores(Helper& helper, Slot& slot, uint32_t post) {
  const cpu_set_t cores = slot.cores;
  const int caller_cpu = slot.caller_cpu;
  const bool has_others = CPU_COUNT(&cores) > 0 && !helper.cores.are(cores);
  if (!has_others && sched_getcpu() != caller_cpu) return true;
  leave(helper, slot);
  if (has_others) helper.cores.set(cores);
  // If every core is busy, the scheduler may start a helper on the core of its caller.
  if (sched_getcpu() == caller_cpu) helper.cores.move_from(caller_cpu);
  return enter(helper, slot, post);
}

/// Works for the slot until it needs no more helpers. Returns whether its team was not full.
bool ThreadPool::help(Helper& helper, Slot& slot, bool was_parked) {
  const uint32_t post = slot.gate.load(std::memory_order_acquire);
  const bool was_here = helper.finished.is_of(slot, post) || helper.left.is_of(slot, post);
  if (!(post & kOpen) || was_here || !enter(helper, slot, post)) return false;
  // Tested before incrementing, so that the number stays near the team's size.
  const bool is_full = slot.joined.load(std::memory_order_relaxed) >= slot.workers - 1;
  const int worker = is_full ? 0 : slot.joined.fetch_add(1, std::memory_order_relaxed) + 1;
  if (is_full || worker >= slot.workers) {
    leave(helper, slot);
    return false;
  }
  if (was_parked && slot.posted_at > helper.asleep_since) note_wake_up(now_ns() - slot.posted_at);
  const int to_wake = slot.to_wake.fetch_sub(kWakesAtATime, std::memory_order_relaxed);
  wake(std::min(to_wake, kWakesAtATime));
  work_in(helper, slot, post, worker);
  return true;
}

/// A helper that is inside works until it is not needed or the slot is closed.
void ThreadPool::work_in(Helper& helper, Slot& slot, uint32_t post, int worker) {
  set_floating_point_mode(slot.floating_point_mode);
  if (!move_to_cores(helper, slot, post)) return;
  for (;;) {
    const uint32_t seen = slot.changes.count();
    const Outcome outcome = slot.work->advance(worker);
    leave(helper, slot);
    if (outcome == Outcome::finished) helper.finished = {&slot, post, worker};
    if (outcome == Outcome::called_away) {
      helper.left = {&slot, post, worker};
      slot.changes.raise(Signal::kAll);  // it may be the only one that was woken for a task
    }
    if (outcome != Outcome::waiting) return;
    slot.changes.wait(seen, kTaskSpinNs);
    if (!enter(helper, slot, post)) return;
  }
}

/// Returns to the work that it was called away from, unless another call needs it.
bool ThreadPool::return_to_left(Helper& helper) {
  const Membership left = std::exchange(helper.left, {});
  if (!left.slot || !enter(helper, *left.slot, left.post)) return false;
  work_in(helper, *left.slot, left.post, left.worker);
  return true;
}

}  // namespace chol
