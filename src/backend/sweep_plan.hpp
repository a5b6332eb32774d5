// Data that a backend keeps for a matrix in tiles between sweeps.
#pragma once

#include <array>
#include <memory>

namespace chol::backend {

struct SweepPlan {
  SweepPlan() = default;
  SweepPlan(const SweepPlan&) = delete;
  SweepPlan& operator=(const SweepPlan&) = delete;
  virtual ~SweepPlan() = default;
};
/// One plan for each kind of sweep of a backend, with L and with L^H; null if not needed.
using SweepPlans = std::array<std::unique_ptr<SweepPlan>, 6>;

}  // namespace chol::backend
