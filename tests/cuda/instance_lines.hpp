// The lines of a kernel family's instances.def, and those named by built-in rows.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally.hpp"
#include "tune/params.hpp"

namespace chol::cuda {

/// The words of instances.def as numbers.
inline int value_of_word(std::string_view word) {
  constexpr std::pair<const char*, int> kWords[] = {
      {"fma", 0},         {"tensor", 1},          {"many", 0},
      {"one", 1},         {"lower", 0},           {"upper", 1},
      {"both", 2},        {"kStartsNext", 1},     {"kPastFirst", 2},
      {"kReadsAhead", 4}, {"kSavesRegisters", 8}, {"kAhead", 9},
      {"kPast", 10}};
  for (const auto& [name, value] : kWords)
    if (word == name) return value;
  return std::atoi(std::string(word).c_str());
}

struct InstanceLine {
  std::string text, macro;
  std::vector<std::string> cells;  ///< the first is the precision
  bool for_tuner = false, named = false;

  bool is(std::string_view its_macro, char precision) const {
    return macro == its_macro && cells[0][0] == precision;
  }
  /// The k-th cell; words joined by "|" are a set.
  int number(size_t k) const {
    int set = 0;
    std::istringstream words(cells[k]);
    for (std::string word; words >> word;)
      if (word != "|") set |= value_of_word(word);
    return set;
  }
  /// Whether its numbers are those of a choice, in their order.
  bool has(const Params& params) const {
    if (params.all().size() + 1 != cells.size()) return false;
    for (size_t k = 1; k < cells.size(); ++k)
      if (number(k) != params.all()[k - 1].value) return false;
    return true;
  }
  bool has_triangle(size_t k, bool upper) const {
    return number(k) == 2 || number(k) == int(upper);
  }
};

class InstanceLines {
 public:
  /// @param folder of the family.
  explicit InstanceLines(const std::string& folder) : folder_(folder) {
    std::ifstream file(folder + "/instances.def");
    for (std::string line; std::getline(file, line);)
      if (line.starts_with("CHOL_")) lines_.push_back(parse(line));
  }
  bool is_empty() const { return lines_.empty(); }
  /// Marks the first line for which matches(line) holds: what a row names.
  template <class Matches>
  void name_first(Matches&& matches) {
    for (InstanceLine& line : lines_)
      if (matches(line)) {
        line.named = true;
        return;
      }
  }
  /// The same of all lines for which it holds.
  template <class Matches>
  void name_all(Matches&& matches) {
    for (InstanceLine& line : lines_) line.named = matches(line) || line.named;
  }
  /// Every line is either named by a row or marked for the tuner. @param concerns (line).
  template <class Concerns>
  void check(Tally& tally, Concerns&& concerns) const {
    tally.count(!lines_.empty());
    for (const InstanceLine& line : lines_)
      if (concerns(line) && !tally.count(line.named != line.for_tuner))
        std::printf(
            "%s: %s: %s\n", folder_.c_str(), line.text.c_str(),
            line.named ? "a row names it, so it is not only for the tuner" : "no row names it");
  }
  void check(Tally& tally) const {
    check(tally, [](const InstanceLine&) { return true; });
  }

 private:
  static InstanceLine parse(const std::string& text) {
    InstanceLine line;
    const size_t open = text.find('('), close = text.find(')', open);
    line.text = text.substr(0, close + 1);
    line.macro = text.substr(0, open);
    line.for_tuner = text.find("// for the tuner") != std::string::npos;
    std::istringstream cells(text.substr(open + 1, close - open - 1));
    for (std::string cell; std::getline(cells, cell, ',');)
      line.cells.push_back(cell.substr(cell.find_first_not_of(' ')));
    return line;
  }

  std::string folder_;
  std::vector<InstanceLine> lines_;
};

/// The families of that folder that list instances, except those with these names.
inline std::vector<InstanceLines> families_but(const std::string& folder,
                                               const std::vector<std::string>& names) {
  std::vector<InstanceLines> others;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const InstanceLines family(entry.path().string());
    const std::string name = entry.path().filename().string();
    if (!family.is_empty() && std::find(names.begin(), names.end(), name) == names.end())
      others.push_back(family);
  }
  return others;
}

}  // namespace chol::cuda
