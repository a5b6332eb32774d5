// What a backend keeps of a matrix in tiles from one sweep over them to the next.
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
/// Of each kind of sweep that a backend has, with L and with L^H; none where none was needed.
using SweepPlans = std::array<std::unique_ptr<SweepPlan>, 6>;

}  // namespace chol::backend
