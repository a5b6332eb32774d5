// Interleaved and column-major batches, and one matrix, on the first CUDA device.
#pragma once

#include <memory>

#include "tools/tune/child.hpp"
#include "tools/tune/occupancy.hpp"
#include "tools/tune/space.hpp"
#include "tune/store.hpp"

namespace chol::tune {

/// The choices of the device backend that are worth a trial.
class DevicePlans {
 public:
  /// @param compiled whether to try kernels that are not built and must be compiled first.
  DevicePlans(const DeviceModel& model, bool compiled);
  std::vector<Choice> candidates(const Point& point) const;
  /// Those of interleaved batches.
  std::vector<Choice> interleaved(const Point& point) const;
  /// Interleaved choices that the model rejects.
  std::vector<Choice> ruled_out(const Point& point) const;
  Choice built_in(const Point& point) const;
  int64_t reach(const Point& point, const Choice& choice, int64_t order) const;

 private:
  std::vector<Choice> possible(const Point& point) const;
  std::vector<Choice> best_tiled(const Point& point, const std::vector<Choice>& choices) const;
  DeviceModel model_;
  bool compiled_;
  TuningStore built_in_;
};

class DeviceSpace final : public Space {
 public:
  /// Throws std::runtime_error with the reason why there is no device.
  explicit DeviceSpace(bool compiled);

  const std::string& machine() const override { return machine_; }
  std::vector<Point> points(const Scope& scope) const override;
  std::vector<Choice> candidates(const Point& point) const override {
    return plans_.candidates(point);
  }
  std::vector<Choice> ruled_out(const Point& point) const override {
    return plans_.ruled_out(point);
  }
  double rate(const Point& point, const Choice& choice, double seconds) override;
  int64_t reach(const Point& point, const Choice& choice, int64_t order) const override {
    return plans_.reach(point, choice, order);
  }
  bool takes(const std::string& path) override;

 private:
  void start_child();

  DevicePlans plans_;
  TemporaryFile file_;
  std::unique_ptr<Child> child_;  ///< process that runs the trials; a failing kernel ends it
  std::string machine_;
};

}  // namespace chol::tune
