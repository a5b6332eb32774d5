// The search space of one backend: problems, candidate methods and their speed.
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
  /// Candidates for trials, the built-in choice first.
  virtual std::vector<Choice> candidates(const Point& point) const = 0;
  /// Choices that the backend could run but the model excludes.
  virtual std::vector<Choice> ruled_out(const Point&) const { return {}; }
  /// Gflop/s of a choice; 0 when it was refused or its results are wrong.
  virtual double rate(const Point& point, const Choice& choice, double seconds) = 0;
  /// Largest order up to `order` that a choice measured at a point can serve.
  virtual int64_t reach(const Point& point, const Choice& choice, int64_t order) const = 0;
  /// Whether the library accepts a tuning file; its error message goes to standard error.
  virtual bool takes(const std::string& path) = 0;
};

}  // namespace chol::tune
