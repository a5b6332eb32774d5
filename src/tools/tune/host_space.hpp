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
  std::vector<Choice> candidates(const Point& point) const override;
  double rate(const Point& point, const Choice& choice, double seconds) override;
  int64_t reach(const Point&, const Choice&, int64_t order) const override { return order; }
  bool takes(const std::string& path) override;

 private:
  std::string machine_;
  int threads_;
  TuningStore built_in_;
};

}  // namespace chol::tune
