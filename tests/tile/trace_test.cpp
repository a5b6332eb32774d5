// The trace of simulated devices: the times are of a model, unrelated to a real device.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "base/status_error.hpp"
#include "support/child.hpp"
#include "tile/host_matrix.hpp"
#include "tile/potri.hpp"
#include "tile/potrs.hpp"
#include "tile/redistribute.hpp"
#include "tile/stand_in_devices.hpp"
#include "tile/traced_ops.hpp"

namespace chol::test {
namespace {

constexpr int kDevices = 2;
constexpr int64_t kOrder = 40;

/// A device that is lost after this number of panels. Later events have no time.
class LostDevice final : public StandInDevice<double> {
 public:
  LostDevice(Machine& machine, int number, int panels)
      : StandInDevice(machine, number, 4), left_(panels) {}
  void factor(Queue queue, const View& A, int64_t rows, int64_t columns, int64_t before,
              int64_t behind) override {
    if (left_-- == 0) {
      lost_at_ = machine_.times[size_t(index(Queue::update))];
      throw StatusError(Status::error(Status::kDeviceError, "device %d: lost", number_));
    }
    StandInDevice::factor(queue, A, rows, columns, before, behind);
  }
  int64_t time_of(const backend::Event& mark) override {
    const int64_t time = StandInDevice::time_of(mark);
    return lost_at_ >= 0 && time > lost_at_ ? -1 : time;
  }

 private:
  int left_;
  int64_t lost_at_ = -1;
};

/// All operations with a matrix, by traced devices.
class TracedDevices {
 public:
  explicit TracedDevices(int panels) : machine_(kDevices) {
    machine_.watches = false;
    for (int d = 0; d < kDevices; ++d) {
      all_.push_back(std::make_unique<tile::TracedOps<double>>(
          std::make_shared<LostDevice>(machine_, d, panels), d));
      devices_.push_back(all_.back().get());
    }
    for (int64_t j = 0; j < kOrder; ++j) A_[size_t(j * (kOrder + 1))] = 2 * kOrder;
  }

  /// In host memory, by superpanels and through pinned buffers.
  int factor_host_matrix() {
    const tile::HostPlan plan{4, 4, 200 * sizeof(double)};
    tile::HostWorkspace<double> work;
    carve(work, [&](auto& part, backend::PanelOps<double>& ops, Arena& arena) {
      part.carve(arena, ops, kDevices, kOrder, plan, false);
    });
    tile::HostProgress progress;
    return tile::factor_host_matrix<double>(devices_, {A_.data(), kOrder}, kOrder, plan, work,
                                            &progress);
  }
  /// On the devices.
  void solve_and_invert() {
    std::vector<double> columns[kDevices], B(kOrder, 1.0);
    tile::CyclicMatrix<double> A;
    A.over = {kOrder, 8, kDevices};
    for (int d = 0; d < kDevices; ++d) {
      columns[d].resize(size_t(kOrder * A.over.columns_of(d)));
      A.local.push_back({columns[d].data(), kOrder});
    }
    tile::scatter<double>(devices_, A, {A_.data(), kOrder});
    finish();
    tile::PotrsWorkspace<double> solve;
    carve(solve, [&](auto& part, auto&, Arena& arena) { part.carve(arena, A.over, 1); });
    tile::FactorColumns<double> factor(A);
    tile::solve(devices_, factor, 1, B.data(), kOrder, solve);
    finish();
    tile::PotriWorkspace<double> invert;
    carve(invert, [&](auto& part, auto& ops, Arena& arena) { part.carve(arena, ops, A.over); });
    tile::invert(devices_, A, invert);
    finish();
  }
  void abandon() {
    for (auto* ops : devices_) ops->abandon();
  }

 private:
  template <class Work, class Carve>
  void carve(Work& work, Carve&& carve_part) {
    Work counted;
    for (auto* ops : devices_) {
      Arena count;
      carve_part(counted, *ops, count);
      memory_.emplace_back(count.used());
      Arena arena(memory_.back().data(), memory_.back().size());
      carve_part(work, *ops, arena);
    }
  }
  void finish() {
    for (auto* ops : devices_) ops->finish();
  }

  Machine machine_;
  std::vector<std::unique_ptr<tile::TracedOps<double>>> all_;
  tile::Devices<double> devices_;
  std::vector<double> A_ = std::vector<double>(kOrder * kOrder);
  std::deque<std::vector<char>> memory_;
};

/// Runs body() in a child process with a trace; returns the file written at its exit.
template <class Body>
std::string file_of(const char* ending, Body&& body) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("chol_devices_" + std::to_string(getpid()) + ending);
  EXPECT_TRUE(holds_in_child([&] {
    TaskTrace::open(path.c_str());
    if (!body()) return false;
    std::exit(0);
  }));
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  return text.str();
}

bool overlap_in_a_queue(const std::vector<TaskEvent>& events) {
  std::map<std::pair<int, int>, int64_t> ends;
  for (const TaskEvent& e : events) {
    if (e.device < 0) continue;
    int64_t& end = ends[{e.device, e.core}];
    if (e.start < end || e.end <= e.start) return true;
    end = e.end;
  }
  return false;
}

TEST(TraceOfDevices, HasEachOperatorAndNoOverlapInAQueue) {
  const std::string text = file_of(".json", [] {
    TracedDevices devices(1000);
    if (devices.factor_host_matrix() != 0) return false;
    devices.solve_and_invert();
    const std::vector<TaskEvent> events = TaskTrace::events();
    std::set<Operator> seen;
    std::set<std::pair<int, int>> rows;
    for (const TaskEvent& e : events) {
      seen.insert(e.kind);
      if (e.device >= 0) rows.insert({e.device, e.core});
    }
    return seen.size() == kOperatorCount && rows.size() == kDevices * kTraceQueues &&
           !overlap_in_a_queue(events);
  });
  for (const char* row : {"device 0 panel", "device 1 update", "device 1 receive", "device 0 load",
                          "device 1 store", "core "})
    EXPECT_NE(text.find(row), std::string::npos) << row;
  EXPECT_NE(text.find("\"depth\": "), std::string::npos);
  EXPECT_EQ(text.substr(text.size() - 3), "]}\n");
}

/// Conversion of panels to planes, and products with a group of them.
TEST(TraceOfDevices, HasProductsByResidues) {
  file_of(".json", [] {
    Machine machine(1);
    auto device = std::make_shared<StandInDevice<double>>(machine, 0, 4);
    device->use_planes(2, 1);
    tile::TracedOps<double> ops(device, 0);
    Arena count;
    std::vector<double> A(8 * 8, 1), diagonal(8, 9);
    ops.planes()->carve(count, 8, 2, ops.planes()->group_columns(8, 2));
    ops.planes()->begin(backend::Queue::receive, diagonal.data());
    for (const int64_t column : {0, 2})
      ops.planes()->quantize(backend::Queue::receive, 0, {A.data(), 8}, 4, column, 2);
    ops.planes()->update(backend::Queue::update, 0, {A.data(), 8}, 4, 4, 4, 2);
    ops.finish();
    const std::vector<TaskEvent> events = TaskTrace::events();
    int panels = 0, products = 0;
    for (const TaskEvent& e : events) {
      panels += e.kind == Operator::pack && e.row == 4 && e.column == 2;
      products += e.kind == Operator::gemm && e.row == 4 && e.column == 2 && e.step == 4;
    }
    return panels == 2 && products == 1;
  });
}

TEST(TraceOfDevices, IsWrittenWhenTheCallFails) {
  for (const int panels : {1, 4}) {
    const std::string text = file_of(".svg", [&] {
      TracedDevices devices(panels);
      try {
        devices.factor_host_matrix();
        return false;
      } catch (const StatusError&) {
        devices.abandon();
      }
      const std::vector<TaskEvent> events = TaskTrace::events();
      return !events.empty() && !overlap_in_a_queue(events);
    });
    EXPECT_NE(text.find(">device 0 load</text>"), std::string::npos) << panels;
    EXPECT_NE(text.find(">device 0 panel</text>"), std::string::npos) << panels;
    EXPECT_EQ(text.substr(text.size() - 7), "</svg>\n");
  }
}

}  // namespace
}  // namespace chol::test
