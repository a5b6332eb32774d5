#include "base/task_trace.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <set>

namespace chol {
namespace {

/// Events of one thread; those beyond the capacity are only counted.
struct ThreadEvents {
  static constexpr size_t kMost = 1 << 18;
  std::atomic<size_t> count{0};
  TaskEvent events[kMost];
  ThreadEvents* next = nullptr;
};

// Never destroyed: threads of the library outlive static destructors.
std::atomic<ThreadEvents*> threads{nullptr};
std::atomic<size_t> lost{0};
std::string* path = nullptr;
pid_t owner = 0;

ThreadEvents* events_of_this_thread() {
  thread_local ThreadEvents* own = nullptr;
  if (own) return own;
  own = new (std::nothrow) ThreadEvents;  // not touched before it is needed
  if (!own) return nullptr;
  own->next = threads.load(std::memory_order_relaxed);
  while (!threads.compare_exchange_weak(own->next, own, std::memory_order_release)) {
  }
  return own;
}

struct OperatorStyle {
  const char* name;
  const char* colour;
};
// Colours for the colour-blind (Okabe and Ito).
constexpr OperatorStyle kStyles[kOperatorCount] = {
    {"potrf", "#d55e00"}, {"trsm", "#e69f00"}, {"syrk", "#009e73"},  {"gemm", "#0072b2"},
    {"trtri", "#cc79a7"}, {"pack", "#999999"}, {"trmm", "#882255"},  {"lauum", "#117733"},
    {"add", "#bbbbbb"},   {"load", "#56b4e9"}, {"store", "#f0e442"}, {"receive", "#000000"}};
const OperatorStyle& style_of(const TaskEvent& event) {
  return kStyles[static_cast<size_t>(event.kind)];
}

/// A row of the picture: a core, or a queue of a device.
using TraceRow = std::pair<int, int>;
TraceRow row_of(const TaskEvent& event) { return {event.device, event.core}; }
std::string name_of(const TraceRow& row) {
  static constexpr const char* kQueues[kTraceQueues] = {"panel", "update", "receive", "load",
                                                        "store"};
  if (row.first < 0) return "core " + std::to_string(row.second);
  return "device " + std::to_string(row.first) + " " + kQueues[row.second];
}

__attribute__((format(printf, 2, 3))) void append(std::string& text, const char* format, ...) {
  char line[320];
  va_list arguments;
  va_start(arguments, format);
  // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is, a line before
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  text += line;
}

/// A child process does not write the file, which belongs to its parent.
void write_at_exit() {
  if (getpid() != owner) return;
  const std::vector<TaskEvent> events = TaskTrace::events();
  const bool is_picture = path->size() > 4 && path->compare(path->size() - 4, 4, ".svg") == 0;
  const std::string text = is_picture ? TaskTrace::as_svg(events) : TaskTrace::as_json(events);
  std::FILE* const file = std::fopen(path->c_str(), "w");
  const bool is_written = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if ((file && std::fclose(file) != 0) || !is_written)
    std::fprintf(stderr, "chol: CHOL_TRACE = %s cannot be written\n", path->c_str());
  if (const size_t missing = lost.load(std::memory_order_relaxed))
    std::fprintf(stderr, "chol: %zu tasks are not in %s\n", missing, path->c_str());
}

}  // namespace

std::atomic<bool> TaskTrace::is_on_{false};

void TaskTrace::open(const char* file) {
  static std::atomic<bool> opened{false};
  if (opened.exchange(true)) return;
  path = new (std::nothrow) std::string(file);
  owner = getpid();
  if (path && std::atexit(write_at_exit) == 0) is_on_.store(true, std::memory_order_release);
}

int64_t TaskTrace::now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void TaskTrace::add(const TaskEvent& event) {
  ThreadEvents* const own = events_of_this_thread();
  const size_t at = own ? own->count.load(std::memory_order_relaxed) : ThreadEvents::kMost;
  if (at >= ThreadEvents::kMost) {
    lost.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  own->events[at] = event;
  own->count.store(at + 1, std::memory_order_release);
}

void TracedTask::note() {
  event_.end = TaskTrace::now();
  event_.core = static_cast<int16_t>(sched_getcpu());
  TaskTrace::add(event_);
}

std::vector<TaskEvent> TaskTrace::events() {
  std::vector<TaskEvent> all;
  for (const ThreadEvents* t = threads.load(std::memory_order_acquire); t; t = t->next)
    all.insert(all.end(), t->events, t->events + t->count.load(std::memory_order_acquire));
  std::sort(all.begin(), all.end(),
            [](const TaskEvent& a, const TaskEvent& b) { return a.start < b.start; });
  return all;
}

/// Chrome's "complete events": microseconds, a row ("thread") a core, a group ("process") a device.
std::string TaskTrace::as_json(const std::vector<TaskEvent>& events) {
  std::string text = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
  const int64_t origin = events.empty() ? 0 : events.front().start;
  std::set<TraceRow> rows;
  const char* before = "\n";
  for (const TaskEvent& e : events) {
    append(text,
           "%s{\"name\": \"%s\", \"ph\": \"X\", \"pid\": %d, \"tid\": %d, \"ts\": %.3f, \"dur\": "
           "%.3f, \"args\": ",
           before, style_of(e).name, e.device + 1, e.core,
           static_cast<double>(e.start - origin) * 1e-3,
           static_cast<double>(e.end - e.start) * 1e-3);
    append(text,
           e.device < 0 ? "{\"row\": %d, \"column\": %d, \"step\": %d}}"
                        : "{\"rows\": %d, \"columns\": %d, \"depth\": %d}}",
           e.row, e.column, e.step);
    before = ",\n";
    rows.insert(row_of(e));
  }
  for (const TraceRow& row : rows) {
    append(text,
           "%s{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": %d, \"tid\": %d, \"args\": "
           "{\"name\": \"%s\"}}",
           before, row.first + 1, row.second, name_of(row).c_str());
    before = ",\n";
  }
  return text + "\n]}\n";
}

std::string TaskTrace::as_svg(const std::vector<TaskEvent>& events) {
  const bool has_devices =
      std::any_of(events.begin(), events.end(), [](const TaskEvent& e) { return e.device >= 0; });
  constexpr double kWidth = 1200, kRow = 18, kTop = 26;
  const double left = has_devices ? 120 : 60;
  std::vector<TraceRow> cores;
  int64_t origin = events.empty() ? 0 : events.front().start, last = origin + 1;
  double busy = 0;
  for (const TaskEvent& e : events) {
    cores.push_back(row_of(e));
    last = std::max(last, e.end);
    busy += static_cast<double>(e.end - e.start);
  }
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  const double span = static_cast<double>(last - origin), scale = kWidth / span;
  const double rows = static_cast<double>(cores.size());
  std::string text;
  append(text,
         "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
         "font-family=\"sans-serif\" font-size=\"12\">\n",
         left + kWidth + 10, kTop + rows * kRow + 24);
  append(text, "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n");
  double x = left;
  for (int kind = 0; kind < kOperatorCount; ++kind) {
    const OperatorStyle& style = kStyles[kind];
    if (!has_devices && kind > static_cast<int>(Operator::pack)) break;
    append(text,
           "<rect x=\"%.0f\" y=\"6\" width=\"12\" height=\"12\" fill=\"%s\"/>"
           "<text x=\"%.0f\" y=\"16\">%s</text>\n",
           x, style.colour, x + 16, style.name);
    x += 70;
  }
  for (size_t i = 0; i < cores.size(); ++i)
    append(text, "<text x=\"4\" y=\"%.1f\">%s</text>\n",
           kTop + (static_cast<double>(i) + 0.75) * kRow, name_of(cores[i]).c_str());
  for (const TaskEvent& e : events) {
    const double row = static_cast<double>(std::lower_bound(cores.begin(), cores.end(), row_of(e)) -
                                           cores.begin());
    append(text,
           e.device < 0 ? "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%.0f\" fill=\"%s\">"
                          "<title>%s (%d, %d) step %d, %.1f us</title></rect>\n"
                        : "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%.0f\" fill=\"%s\">"
                          "<title>%s %d x %d, depth %d, %.1f us</title></rect>\n",
           left + static_cast<double>(e.start - origin) * scale, kTop + row * kRow + 1,
           std::max(0.05, static_cast<double>(e.end - e.start) * scale), kRow - 2,
           style_of(e).colour, style_of(e).name, e.row, e.column, e.step,
           static_cast<double>(e.end - e.start) * 1e-3);
  }
  append(text, "<text x=\"%.0f\" y=\"%.0f\">%.3f ms, %.0f %% busy</text>\n</svg>\n", left,
         kTop + rows * kRow + 16, span * 1e-6, rows > 0 ? 100 * busy / (span * rows) : 0.0);
  return text;
}

}  // namespace chol
