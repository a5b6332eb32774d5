// Threads of the library's own: parked until a caller posts work, then they join it.
//
// What holds on a machine whose cores others want, too:
// - The caller works itself and can do all of it. It waits only for tasks that a helper has begun,
//   never for a helper that has not started.
// - Helpers join when they get a core and leave when nothing is ready. A waiting helper holds no
//   task and nothing of the caller's memory.
// - Waiting is a short spin, then a futex. A helper that loses its core while it spins stops
//   spinning.
// - A thread that cannot be created is a smaller team.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/threads/helper_state.hpp"
#include "base/threads/signal.hpp"

namespace chol {

/// Why a worker stopped: the whole work needs it no more, tasks of other workers must complete
/// first, or another call is to have it.
enum class Outcome : uint8_t { finished, waiting, called_away };

/// Work of one call that several workers do together.
class TeamWork {
 public:
  /// Does ready tasks until there is none. Each worker has a number of its own below
  /// Team::workers, the caller 0. The caller's answer `finished` means that all tasks are taken,
  /// and that those that depend on others are complete.
  virtual Outcome advance(int worker) = 0;

  /// Raised by workers when a task completes that others may wait for.
  Signal* changes = nullptr;
  /// How many helpers are to go to another call.
  std::atomic<int>* departures = nullptr;

 protected:
  ~TeamWork() = default;
  /// Asked between two tasks: whether the worker is to stop with Outcome::called_away.
  bool is_called_away(int worker) {
    if (worker == 0 || !departures) return false;
    int open = departures->load(std::memory_order_relaxed);
    return open > 0 &&
           departures->compare_exchange_strong(open, open - 1, std::memory_order_relaxed);
  }
};

/// How many may work on something, and what is known of its size.
struct Team {
  int workers;       ///< at most, with the caller
  double serial_ns;  ///< estimated time of one core for all of it
};

/// The call that the current thread is in: its limits, and how many workers it had.
class CallScope {
 public:
  /// @param threads_are_default not set by the caller: the thread's affinity bounds them
  explicit CallScope(bool threads_are_default);
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
  ~CallScope();
  int workers() const { return workers_; }

 private:
  friend class ThreadPool;
  static thread_local CallScope* current_;
  CallScope* outer_;
  bool threads_are_default_;
  int workers_ = 1;  ///< most of any team of the call
};

class ThreadPool {
 public:
  /// Never destroyed: helpers may outlive static destructors.
  static ThreadPool& instance();

  /// Does all of `work`, with helpers as far as they pay and come.
  void run(TeamWork& work, const Team& team);

  int threads() const { return threads_.load(std::memory_order_relaxed); }

  constexpr ThreadPool() = default;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

 private:
  static constexpr int kSlots = 64;          ///< calls that have helpers at the same time
  static constexpr int kMostHelpers = 4096;  ///< threads of the pool
  static constexpr uint32_t kOpen = 1u << 31;

  /// Where a caller posts work. Slots live as long as the process, so that a helper may look at one
  /// whose call has returned.
  // NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): lines apart, not few bytes
  struct alignas(128) Slot {
    std::atomic<uint32_t> gate{0};  ///< number of the post, with kOpen while helpers may enter
    alignas(128) std::atomic<int> joined{0};  ///< helpers that have had a number
    std::atomic<int> to_wake{0};              ///< helpers that those who join still have to wake
    std::atomic<bool> is_long{false};         ///< so that other calls do not wait for its helpers
    alignas(64) std::atomic<int> departures{0};  ///< helpers that are to go to another call
    alignas(128) Signal changes;
    // Written while closed and empty, read inside.
    alignas(128) TeamWork* work = nullptr;
    int workers = 0;
    int64_t posted_at = 0;
    int caller_cpu = -1;               ///< where the caller was then
    cpu_set_t cores{};                 ///< that it may use; empty when that is not known
    uint64_t floating_point_mode = 0;  ///< the caller's
  };
  /// A post, and the number that a helper has there.
  struct Membership {
    Slot* slot = nullptr;
    uint32_t post = 0;
    int worker = 0;
    bool is_of(const Slot& other, uint32_t other_post) const {
      return slot == &other && post == other_post;
    }
  };
  /// What the others see of a helper. It is inside a slot while it may touch the memory of the
  /// slot's caller, who returns when nobody is. A line of its own: helpers enter and leave at every
  /// change that they wait for.
  // NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): as above
  struct alignas(64) Helper {
    std::atomic<Slot*> inside{nullptr};
    // The thread's own.
    Membership finished;  ///< what it did last, and has nothing left for it
    Membership left;      ///< what it was called away from, and may return to
    int64_t asleep_since = 0;
    IdleSpin spin;
    CoreLosses losses;
    alignas(64) HelperCores cores;

    /// What a thread of a parent process knew.
    void forget() {
      finished = left = {};
      spin = {};
      losses = {};
      cores = {};
    }
  };

  /// Closes a slot when its caller leaves, by an exception of a callback too.
  struct Closing {
    ThreadPool& pool;
    Slot& slot;
    int helpers;
    const Team& team;
    int64_t stalled = 0;
    ~Closing() { pool.note_stall(team, stalled + pool.close(slot, helpers)); }
  };

  int useful_helpers(const Team& team, cpu_set_t& cores);
  bool create_threads(int wanted);
  void wake(int count);
  Slot* take_slot();
  void post(Slot& slot, TeamWork& work, int helpers, const cpu_set_t& cores);
  int64_t close(Slot& slot, int helpers);
  bool pay_for_stalls(int helpers, const Team& team);
  void note_stall(const Team& team, int64_t waited);
  static int64_t stall_in_wait(Slot& slot, uint32_t seen);
  int index(const Slot& slot) const { return static_cast<int>(&slot - slots_); }

  static void* helper_main(void* helper);
  static void forget_threads();  // in a child after fork()
  void serve(Helper& helper);
  bool join_any(Helper& helper, bool was_parked);
  bool help(Helper& helper, Slot& slot, bool was_parked);
  void work_in(Helper& helper, Slot& slot, uint32_t post, int worker);
  bool return_to_left(Helper& helper);
  void call_helpers_away(const Slot& to, int wanted);
  static bool move_to_cores(Helper& helper, Slot& slot, uint32_t post);
  static bool enter(Helper& helper, Slot& slot, uint32_t post);
  static void leave(Helper& helper, Slot& slot);
  bool is_empty(const Slot& slot) const;
  bool wait_for_post(Helper& helper, uint32_t seen);
  void note_wake_up(int64_t nanoseconds);

  static constexpr int64_t kFirstWakeUpNs = 20000;

  Slot slots_[kSlots];
  Helper helpers_[kMostHelpers];
  alignas(128) std::atomic<uint32_t> posts_{0};      ///< parked helpers sleep on it
  alignas(128) std::atomic<uint64_t> taken_{0};      ///< a bit a slot
  std::atomic<uint64_t> open_{0};                    ///< a bit a slot
  alignas(128) std::atomic<int> spinning_{0};        ///< helpers that wait for a post awake
  std::atomic<int> parked_{0};                       ///< helpers that sleep until a post
  std::atomic<int64_t> wake_up_ns_{kFirstWakeUpNs};  ///< average from a post to a sleeper's start
  std::atomic<int64_t> stall_ns_{0};                 ///< average wait of a call for lost helpers
  std::atomic<int> threads_{0};
  std::atomic<bool> creating_{false};
  std::atomic<int64_t> no_thread_until_{0};  ///< creation failed; clock of now_ns()
};

}  // namespace chol
