// chol-tune one: compares the tile size chosen by the host's model for one matrix with the fastest
// of all sizes.
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
  int rounds = 5;            ///< rounds over all sizes
  std::string figure;        ///< .svg, .png or .csv; none: ""
  std::string output;        ///< tuning file for the measured rates of the cores; none: ""
};

/// Measures, prints a table and the regrets, draws the figure and writes the files. Throws
/// std::runtime_error.
int tune_one(const OneOptions& options);

/// The child process: a line "precision order threads seconds" each, answered by Gflop/s.
int serve_one_trials();

}  // namespace chol::tune
