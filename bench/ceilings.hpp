// Limits of the machine, measured in the same run: triad bandwidth and the best matrix product.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "case.hpp"
#include "catalog.hpp"

namespace chol::bench {

class Ceilings {
 public:
  explicit Ceilings(std::vector<Contestant> peers) : peers_(std::move(peers)) {}
  /// Bytes a second of a = b + s c on arrays far larger than the caches.
  double bandwidth(int threads);
  /// Flops a second, in the precision's own arithmetic (complex counted as 4 real products).
  double product_rate(char precision, int threads);
  /// min(product rate, bandwidth * flops / bytes), flops a second.
  double roofline(const Case& c);
  std::string summary() const;

 private:
  std::vector<Contestant> peers_;
  std::map<int, double> bandwidth_;
  std::map<std::pair<char, int>, std::pair<double, std::string>> product_;
};

}  // namespace chol::bench
