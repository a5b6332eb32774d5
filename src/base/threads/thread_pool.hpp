// The library's thread pool: threads are parked until a caller posts work, then join it.
//
// Properties on a machine whose cores are also used by other programs:
// - The caller itself works and can do all of the work. It waits only for tasks that a helper has
//   begun, never for a helper that has not started.
// - Helpers join when they get a core and leave when no task is ready. A waiting helper has no task
//   and does not access the caller's memory.
// - Waiting is a short spin, then a futex. A helper that loses its core while it spins stops
//   spinning.
// - If a thread cannot be created, the team is smaller.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/threads/helper_state.hpp"
#include "base/threads/signal.hpp"

namespace chol {

/// Why a worker stopped: the work no longer needs it, tasks of other workers must complete first,
/// or another call needs it.
enum class Outcome : uint8_t { finished, waiting, called_away };

/// Work of one call that several workers do together.
class TeamWork {
 public:
  /// Executes ready tasks until there is none. Each worker has a unique number below Team::workers,
  /// the caller 0. If the caller's result is `finished`, all tasks are taken and those that depend
  /// on others are complete.
  virtual Outcome advance(int worker) = 0;

  /// Incremented by workers when a task completes that others may wait for.
  Signal* changes = nullptr;
  /// Number of helpers that must leave for another call.
  std::atomic<int>* departures = nullptr;

 protected:
  ~TeamWork() = default;
  /// Called between two tasks: whether the worker must stop with Outcome::called_away.
  bool is_called_away(int worker) {
    if (worker == 0 || !departures) return false;
    int open = departures->load(std::memory_order_relaxed);
    return open > 0 &&
           departures->compare_exchange_strong(open, open - 1, std::memory_order_relaxed);
  }
};

/// Largest number of workers, and the estimated amount of work.
struct Team {
  int workers;       ///< upper limit, including the caller
  double serial_ns;  ///< estimated time of the work on one core
};

/// The current call of this thread: its limits, and the number of workers that it used.
class CallScope {
 public:
  /// @param threads_are_default the number is not set by the caller: the thread's affinity limits
  /// it
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

  /// Executes all of `work`, with helpers if they pay and are available.
  void run(TeamWork& work, const Team& team);

  int threads() const { return threads_.load(std::memory_order_relaxed); }

  constexpr ThreadPool() = default;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

 private:
  static constexpr int kSlots = 64;          ///< calls that have helpers at the same time
  static constexpr int kMostHelpers = 4096;  ///< threads of the pool
  static constexpr uint32_t kOpen = 1u << 31;

  /// A slot in which a caller posts work. Slots are never freed, so that a helper may read one
  /// after its call has returned.
  // NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): padded to separate cache lines
  struct alignas(128) Slot {
    std::atomic<uint32_t> gate{0};  ///< number of the post, with kOpen while helpers may enter
    alignas(128) std::atomic<int> joined{0};  ///< helpers that have received a number
    std::atomic<int> to_wake{0};       ///< number of helpers still to be woken by those that join
    std::atomic<bool> is_long{false};  ///< other calls need not wait for its helpers
    alignas(64) std::atomic<int> departures{0};  ///< helpers that must leave for another call
    alignas(128) Signal changes;
    // Written only while the slot is closed and empty, read by helpers inside.
    alignas(128) TeamWork* work = nullptr;
    int workers = 0;
    int64_t posted_at = 0;
    int caller_cpu = -1;               ///< core of the caller at that time
    cpu_set_t cores{};                 ///< cores that the caller may use; empty if unknown
    uint64_t floating_point_mode = 0;  ///< the caller's
  };
  /// A post and the number of the helper in it.
  struct Membership {
    Slot* slot = nullptr;
    uint32_t post = 0;
    int worker = 0;
    bool is_of(const Slot& other, uint32_t other_post) const {
      return slot == &other && post == other_post;
    }
  };
  /// State of a helper that other threads read. It is inside a slot while it may access the memory
  /// of the slot's caller, who returns only when no helper is inside. On a separate cache line:
  /// helpers enter and leave at every change that they wait for.
  // NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): as above
  struct alignas(64) Helper {
    std::atomic<Slot*> inside{nullptr};
    // Accessed only by the thread itself.
    Membership finished;  ///< its last post, which has no more work for it
    Membership left;      ///< the post that it was called away from and may return to
    int64_t asleep_since = 0;
    IdleSpin spin;
    CoreLosses losses;
    alignas(64) HelperCores cores;

    /// State that a thread inherited from a parent process.
    void forget() {
      finished = left = {};
      spin = {};
      losses = {};
      cores = {};
    }
  };

  /// Closes a slot when its caller leaves, also if a callback throws.
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
  alignas(128) std::atomic<uint64_t> taken_{0};      ///< one bit for each slot
  std::atomic<uint64_t> open_{0};                    ///< one bit for each slot
  alignas(128) std::atomic<int> spinning_{0};        ///< helpers that spin for a post
  std::atomic<int> parked_{0};                       ///< helpers that sleep until a post
  std::atomic<int64_t> wake_up_ns_{kFirstWakeUpNs};  ///< average from a post to a sleeper's start
  std::atomic<int64_t> stall_ns_{0};  ///< average time that a call waits for helpers without a core
  std::atomic<int> threads_{0};
  std::atomic<bool> creating_{false};
  std::atomic<int64_t> no_thread_until_{0};  ///< after a failed creation; clock of now_ns()
};

}  // namespace chol
