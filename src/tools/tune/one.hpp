// chol-tune one: how far the size of tiles that the host's model chooses for one matrix is from the
// fastest, by trying all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace chol::tune {

struct OneOptions {
  std::vector<int64_t> orders = {200, 300, 500, 1000, 2000, 4000};
  std::vector<int> threads;  ///< none: 1, 2, 4, ... up to the cores
  std::string precisions = "d";
  double milliseconds = 20;  ///< of a trial
  int rounds = 5;            ///< in which every size has a turn
  std::string figure;        ///< .svg, .png or .csv; none: ""
  std::string output;        ///< tuning file that gets what was measured of the cores; none: ""
};

/// Measures, prints a table and the regrets, draws and writes. Throws std::runtime_error.
int tune_one(const OneOptions& options);

/// The child's side: a line "precision order threads seconds" each, answered by Gflop/s.
int serve_one_trials();

}  // namespace chol::tune
