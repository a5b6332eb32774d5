// Interleaved batches on the host.
#pragma once

#include "tools/tune/space.hpp"
#include "tune/store.hpp"

namespace chol::tune {

class HostSpace final : public Space {
 public:
  /// Throws std::runtime_error.
  explicit HostSpace(int threads);

  const std::string& machine() const override { return machine_; }
  std::vector<Point> points(const Scope& scope) const override;
  std::vector<Plan> candidates(const Point& point) const override;
  double rate(const Point& point, const Plan& plan, double seconds) override;
  int64_t reach(const Point&, const Plan&, int64_t order) const override { return order; }
  PlanRows beyond(const Point& point) const override;
  bool takes(const std::string& path) override;

 private:
  std::string machine_;
  int threads_;
  TuningStore built_in_;
};

}  // namespace chol::tune
