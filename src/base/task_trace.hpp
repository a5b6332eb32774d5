// Trace of the tasks of the library's threads and devices, with the core or queue of each. Written
// when the process exits, as a picture or in Chrome's trace format.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace chol {

/// The operation of a task, by the names of BLAS and LAPACK. pack copies operands, add adds or
/// clears a block; load, store and receive copy to a device, to the host and from one device to
/// another.
enum class Operator : uint8_t {
  potrf,
  trsm,
  syrk,
  gemm,
  trtri,
  pack,
  trmm,
  lauum,
  add,
  load,
  store,
  receive
};
inline constexpr int kOperatorCount = 12;

/// Queues of a device: backend::Queue.
inline constexpr int kTraceQueues = 5;

struct TaskEvent {
  int64_t start, end;         ///< nanoseconds of a steady clock
  int32_t row, column, step;  ///< tile and step of the algorithm; of a device rows, columns, depth
  int16_t core;               ///< or the queue of a device
  Operator kind;
  int16_t device = -1;  ///< which of those of the call; -1: the host
};

class TaskTrace {
 public:
  /// Starts recording tasks; the file is written at exit. Only the first call of a process has an
  /// effect.
  /// @param path ends in .svg or .json
  static void open(const char* path);
  static bool is_on() { return is_on_.load(std::memory_order_relaxed); }
  static void add(const TaskEvent& event);
  static int64_t now();

  /// All events so far, by their start.
  static std::vector<TaskEvent> events();
  static std::string as_json(const std::vector<TaskEvent>& events);
  static std::string as_svg(const std::vector<TaskEvent>& events);

 private:
  static std::atomic<bool> is_on_;
};

/// Records the task that runs during its lifetime. Without a trace it only tests one flag.
class TracedTask {
 public:
  TracedTask(Operator kind, int64_t row, int64_t column, int64_t step) {
    if (!TaskTrace::is_on()) return;
    event_ = {TaskTrace::now(), 0, int32_t(row), int32_t(column), int32_t(step), -1, kind, -1};
  }
  TracedTask(const TracedTask&) = delete;
  TracedTask& operator=(const TracedTask&) = delete;
  ~TracedTask() {
    if (event_.start != 0) note();
  }

 private:
  void note();
  TaskEvent event_{};
};

}  // namespace chol
