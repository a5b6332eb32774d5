// When the library's threads worked on what, and on which core: one event a task. Written when the
// process exits, as a picture or in Chrome's trace format.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace chol {

/// What a task computes, by the names of BLAS and LAPACK. pack copies operands.
enum class Operator : uint8_t { potrf, trsm, syrk, gemm, trtri, pack };
inline constexpr int kOperatorCount = 6;

struct TaskEvent {
  int64_t start, end;         ///< nanoseconds of a steady clock
  int32_t row, column, step;  ///< tile, and the step of the algorithm
  int16_t core;
  Operator kind;
};

class TaskTrace {
 public:
  /// Starts noting tasks; the file is written at exit. The first call of a process counts.
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

/// Notes the task that runs while it lives. Without a trace that is a look at one flag.
class TracedTask {
 public:
  TracedTask(Operator kind, int64_t row, int64_t column, int64_t step) {
    if (!TaskTrace::is_on()) return;
    event_ = {TaskTrace::now(), 0, int32_t(row), int32_t(column), int32_t(step), -1, kind};
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
