// Performance bars as data, with the cases of each.
#pragma once

#include <string>
#include <vector>

#include "case.hpp"

namespace chol::bench {

/// One bar: rate of chol over the best of the named peers (or over another case of chol).
struct Bar {
  const char* id;
  const char* title;
  double floor, aim;
  std::vector<std::string> peers;  ///< empty: every peer
};

struct SuiteCase {
  const Bar* bar;
  Case ours;
  bool with_itself = false;  ///< the rival is chol on `other`
  Case other;
  bool quick = false;
};

const std::vector<Bar>& bars();
/// Names that --suite takes.
const std::vector<std::string>& suite_names();
/// @param threads the counts to run, such as {1, 2}
std::vector<SuiteCase> suite_cases(const std::string& name, const std::vector<int>& threads);

}  // namespace chol::bench
