// The report of all plans as text.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/tune/record.hpp"
#include "tools/tune/result.hpp"

namespace chol::tune {
namespace {

/// "potrf batch d"
std::string text_of_key(const Point& point) {
  const std::string text = text_of(point);
  return text.substr(0, text.rfind(' '));
}

/// Rate of the built-in plan over that of the fastest one; 0 if one of them was not timed.
double share_of_built_in(const std::vector<Record>& records) {
  for (const Record& r : records)
    if (r.is_built_in && r.rate > 0) return r.rate / records.front().rate;
  return 0;
}

/// ", 2 refused or wrong" for two of that fate, nothing for none.
std::string count_of(const std::vector<Record>& records, Fate fate, const char* words) {
  const auto count = std::count_if(records.begin(), records.end(),
                                   [&](const Record& r) { return r.fate == fate; });
  return count == 0 ? "" : ", " + std::to_string(count) + ' ' + words;
}

void print_plan(std::ostream& out, const Point& point, const Record& r, double share) {
  constexpr int kWidth = 40;
  char line[300];
  std::snprintf(line, sizeof line, "%-14s %-34s %9.2f Gflop/s %3.0f %% %c %s\n",
                text_of(point).c_str(), text_of(r.choice).c_str(), r.rate, 100 * share,
                r.is_winner ? '*' : ' ',
                std::string(static_cast<size_t>(share * kWidth), '#').c_str());
  out << line;
}

void print_point(std::ostream& out, const Point& point, const std::vector<Record>& records) {
  if (records.empty()) return;
  for (const Record& r : records)
    if (r.fate == Fate::timed) print_plan(out, point, r, r.rate / records.front().rate);
  const double share = share_of_built_in(records);
  char line[200];
  if (share > 0)
    std::snprintf(line, sizeof line, "%-14s built-in plan at %.0f %% of the fastest",
                  text_of(point).c_str(), 100 * share);
  else
    std::snprintf(line, sizeof line, "%-14s built-in plan not timed", text_of(point).c_str());
  out << line << count_of(records, Fate::failed, "refused or wrong")
      << count_of(records, Fate::untried, "not tried")
      << count_of(records, Fate::ruled_out, "ruled out") << '\n';
}

/// Summary of the built-in plans of a key relative to the fastest ones.
void print_distance(std::ostream& out, const std::vector<Point>& key,
                    const std::vector<std::vector<Record>>& records) {
  double logarithms = 0, least = 2;
  int64_t least_n = 0;
  int count = 0;
  for (size_t i = 0; i < key.size(); ++i) {
    const double share = share_of_built_in(records[i]);
    if (share == 0) continue;
    logarithms += std::log(share);
    ++count;
    if (share < least) {
      least = share;
      least_n = key[i].n;
    }
  }
  if (count == 0) return;
  char line[200];
  std::snprintf(line, sizeof line,
                "%s: built-in plans at %.0f %% of the fastest (geometric mean of %d orders), "
                "at least %.0f %% (n = %lld)\n",
                text_of_key(key.front()).c_str(), 100 * std::exp(logarithms / count), count,
                100 * least, static_cast<long long>(least_n));
  out << line;
}

/// A line of marks from 0 to `most`: '.' a plan, a digit several, 'o' the built-in one, '*' the
/// winner.
std::string marks_of(const std::vector<Record>& records, double most) {
  constexpr size_t kWidth = 72;
  std::string marks(kWidth, ' ');
  const auto mark = [&](const Record& r) -> char& {
    return marks[std::min(kWidth - 1, static_cast<size_t>(r.rate / most * kWidth))];
  };
  for (const Record& r : records)
    if (r.fate == Fate::timed) {
      char& m = mark(r);
      m = m == ' ' ? '.' : m == '.' ? '2' : m < '9' ? static_cast<char>(m + 1) : '9';
    }
  for (const Record& r : records)
    if (r.is_built_in) mark(r) = 'o';
  for (const Record& r : records)
    if (r.is_winner) mark(r) = '*';
  return marks;
}

/// An order a line.
void draw_key(std::ostream& out, const std::vector<Point>& key,
              const std::vector<std::vector<Record>>& records) {
  double most = 0;
  for (const std::vector<Record>& of_point : records)
    if (!of_point.empty()) most = std::max(most, of_point.front().rate);
  if (most == 0) return;
  char line[200];
  std::snprintf(line, sizeof line, "\n%s, 0 to %.0f Gflop/s: . a plan, o built-in, * winner\n",
                text_of_key(key.front()).c_str(), most);
  out << line;
  for (size_t i = 0; i < key.size(); ++i) {
    if (records[i].empty()) continue;
    std::snprintf(line, sizeof line, "%5lld |%s|\n", static_cast<long long>(key[i].n),
                  marks_of(records[i], most).c_str());
    out << line;
  }
  print_distance(out, key, records);
  out << '\n';
}

}  // namespace

void print_report(std::ostream& out, const Space& space, const Journal& journal,
                  const std::vector<Point>& points) {
  for_each_key(points, [&](const std::vector<Point>& key) {
    std::vector<std::vector<Record>> records;
    for (const Point& point : key) {
      records.push_back(records_of(space, journal, point));
      print_point(out, point, records.back());
    }
    draw_key(out, key, records);
  });
}

}  // namespace chol::tune
