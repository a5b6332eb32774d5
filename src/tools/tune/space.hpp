// What a search goes over, of one backend: problems, plans that may serve them, and how fast each
// is.
#pragma once

#include <string>
#include <vector>

#include "tools/tune/point.hpp"

namespace chol::tune {

class Space {
 public:
  virtual ~Space() = default;

  /// The backend's name in a tuning file.
  virtual const std::string& machine() const = 0;
  /// In the order in which they are measured, key by key, n ascending.
  virtual std::vector<Point> points(const Scope& scope) const = 0;
  /// Plans worth a trial, the built-in one first.
  virtual std::vector<Plan> candidates(const Point& point) const = 0;
  /// Plans that the backend could run too, but a model says are not worth a trial.
  virtual std::vector<Plan> ruled_out(const Point&) const { return {}; }
  /// Gflop/s of a plan; 0 when it was refused or its results are wrong.
  virtual double rate(const Point& point, const Plan& plan, double seconds) = 0;
  /// Largest order up to `order` that a plan measured at a point can serve.
  virtual int64_t reach(const Point& point, const Plan& plan, int64_t order) const = 0;
  /// What serves the orders above a point, the largest of its key.
  virtual PlanRows beyond(const Point& point) const = 0;
  /// Whether the library takes a tuning file; what it says against it goes to standard error.
  virtual bool takes(const std::string& path) = 0;
};

}  // namespace chol::tune
