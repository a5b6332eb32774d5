// State shared by simulated devices: every element records its last writer and readers, so that two
// unordered operations are detected independent of the order of execution (vector clocks, as in
// race detectors).
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

#include "backend/panel_ops.hpp"

namespace chol::test {

using Clock = std::vector<int>;

/// State of a simulated machine. The host, which is the calling thread, has the last clock: work
/// that it queues is ordered after everything it has waited for.
struct Machine {
  explicit Machine(int devices)
      : clocks(static_cast<size_t>(devices) * backend::kQueues + 1,
               Clock(static_cast<size_t>(devices) * backend::kQueues + 1, 0)),
        times(clocks.size(), 0),
        host(static_cast<int>(clocks.size()) - 1) {}

  struct Access {
    int queue = -1, time = 0;
  };
  struct History {
    Access writer;
    std::vector<Access> readers;  ///< the last one of each queue
  };
  struct Point {
    Clock clock;
    int64_t time;
  };

  bool is_ordered(const Access& before, int queue) const {
    return before.queue < 0 || clocks[size_t(queue)][size_t(before.queue)] >= before.time;
  }
  void read(int queue, const void* element) {
    if (!watches) return;
    History& history = elements[element];
    races += !is_ordered(history.writer, queue);
    const Access now{queue, clocks[size_t(queue)][size_t(queue)]};
    for (Access& reader : history.readers)
      if (reader.queue == queue) {
        reader = now;
        return;
      }
    history.readers.push_back(now);
  }
  void write(int queue, const void* element) {
    if (!watches) return;
    History& history = elements[element];
    races += !is_ordered(history.writer, queue);
    for (const Access& reader : history.readers) races += !is_ordered(reader, queue);
    history.readers.clear();
    history.writer = {queue, clocks[size_t(queue)][size_t(queue)]};
  }
  /// @param cost in nanoseconds.
  void begin_operation(int queue, double cost) {
    Clock& mine = clocks[size_t(queue)];
    merge(mine, clocks[size_t(host)]);
    judge_dropped_one(queue);
    ++mine[size_t(queue)];
    int64_t& time = times[size_t(queue)];
    const int64_t start = std::max(time, times[size_t(host)]);
    time = start + 1 + static_cast<int64_t>(cost);
    if (keeps_spans) spans.push_back({queue, start, time});
  }
  backend::Event record(int queue) {
    merge(clocks[size_t(queue)], clocks[size_t(host)]);
    judge_dropped_one(queue);
    points.push_back({clocks[size_t(queue)], times[size_t(queue)]});
    return {&points.back()};
  }
  void wait(int queue, const backend::Event& event) {
    const Point& point = *static_cast<const Point*>(event.point);
    if (waits++ == dropped) {
      pending_ = point.clock;
      pending_queue_ = queue;
      dropped_one_of_host = queue == host;
      return;
    }
    merge(clocks[size_t(queue)], point.clock);
    times[size_t(queue)] = std::max(times[size_t(queue)], point.time);
  }

  /// Registers memory of a device; all other memory is the host's.
  void own(const void* first, size_t bytes, int device) {
    owners[static_cast<const char*>(first)] = {bytes, device};
  }
  bool is_within_reach(const void* element, int device) const {
    auto after = owners.upper_bound(static_cast<const char*>(element));
    if (after == owners.begin()) return true;
    const auto& [first, owned] = *std::prev(after);
    return owned.device == device || static_cast<const char*>(element) >= first + owned.bytes;
  }

  /// The host waits for all queues.
  void join() {
    for (size_t queue = 0; queue < clocks.size(); ++queue) {
      merge(clocks[size_t(host)], clocks[queue]);
      times[size_t(host)] = std::max(times[size_t(host)], times[queue]);
    }
    joins.push_back(times[size_t(host)]);
  }

  std::vector<Clock> clocks;
  std::vector<int64_t> times;  ///< simulated time at which the queued work is finished
  int host;
  struct Span {
    int queue;
    int64_t start, end;
  };
  bool keeps_spans = false;
  std::vector<Span> spans;     ///< of all operations
  std::vector<int64_t> joins;  ///< times at which the host has waited for all queues
  std::deque<Point> points;
  std::unordered_map<const void*, History> elements;
  int races = 0, waits = 0;
  int dropped = -1;                   ///< index of the wait that has no effect
  bool dropped_one_mattered = false;  ///< no other wait orders the same
  bool dropped_one_of_host = false;   ///< the dropped wait was one of the host
  bool watches = true;                ///< whether accesses to elements are checked for races
  bool computes = true;               ///< false: a schedule without elements
  int64_t copied = 0;                 ///< elements
  bool has_peer_access = true;        ///< copies from device to device are direct
  int refused = 0;                    ///< copies that require peer access without having it
  struct Owned {
    size_t bytes;
    int device;
  };
  std::map<const char*, Owned> owners;

 private:
  static void merge(Clock& mine, const Clock& other) {
    for (size_t k = 0; k < mine.size(); ++k) mine[k] = std::max(mine[k], other[k]);
  }
  /// Later work in the queue, or work that waits for a later event of it, would have been ordered
  /// after it.
  void judge_dropped_one(int queue) {
    if (pending_queue_ != queue && pending_queue_ != host) return;
    const Clock& mine = clocks[size_t(queue)];
    for (size_t k = 0; k < mine.size(); ++k) dropped_one_mattered |= pending_[k] > mine[k];
    if (pending_queue_ == queue) pending_queue_ = -1;
  }

  Clock pending_;  ///< clock of the event of the dropped wait
  int pending_queue_ = -1;
};

}  // namespace chol::test
