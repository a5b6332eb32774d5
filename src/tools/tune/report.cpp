// What is known of every plan, as text.
#include <algorithm>
#include <cstdio>

#include "tools/tune/result.hpp"

namespace chol::tune {
namespace {

struct Rated {
  Plan plan;
  double rate;
};

/// The plans of a point that have a rate, the fastest first.
std::vector<Rated> rated_plans(const Space& space, const Journal& journal, const Point& point) {
  std::vector<Rated> all;
  for (const Plan& plan : space.candidates(point))
    if (const double rate = journal.best_known(point, plan); rate > 0) all.push_back({plan, rate});
  std::stable_sort(all.begin(), all.end(),
                   [](const Rated& a, const Rated& b) { return a.rate > b.rate; });
  return all;
}

void print_point(std::ostream& out, const Space& space, const Journal& journal,
                 const Point& point) {
  const std::vector<Rated> all = rated_plans(space, journal, point);
  if (all.empty()) return;
  const double best = all.front().rate;
  const Plan chosen = winner(space, journal, point);
  char line[300];
  for (const auto& [plan, rate] : all) {
    constexpr int kWidth = 40;
    const double share = rate / best;
    std::snprintf(line, sizeof line, "%-14s %-32s %9.2f Gflop/s %3.0f %% %c %s\n",
                  text_of(point).c_str(), text_of(plan).c_str(), rate, 100 * share,
                  same_plan(plan, chosen) ? '*' : ' ',
                  std::string(static_cast<size_t>(share * kWidth), '#').c_str());
    out << line;
  }
  const Plan built_in = space.candidates(point).front();
  std::snprintf(line, sizeof line, "%-14s built-in plan at %.0f %% of the fastest\n",
                text_of(point).c_str(), 100 * journal.best_known(point, built_in) / best);
  out << line;
}

/// An order a line: '.' a plan, a digit several, 'o' the built-in one, '*' the winner.
void draw_key(std::ostream& out, const Space& space, const Journal& journal,
              const std::vector<Point>& key) {
  constexpr int kWidth = 72;
  double most = 0;
  for (const Point& point : key)
    for (const Rated& plan : rated_plans(space, journal, point)) most = std::max(most, plan.rate);
  if (most == 0) return;
  const auto column = [&](double rate) {
    return std::min<size_t>(kWidth - 1, static_cast<size_t>(rate / most * kWidth));
  };
  const std::string name = text_of(key.front());
  char line[200];
  std::snprintf(line, sizeof line, "\n%s, 0 to %.0f Gflop/s: . a plan, o built-in, * winner\n",
                name.substr(0, name.rfind(' ')).c_str(), most);
  out << line;
  for (const Point& point : key) {
    std::string marks(kWidth, ' ');
    for (const Rated& plan : rated_plans(space, journal, point)) {
      char& mark = marks[column(plan.rate)];
      mark = mark == ' ' ? '.' : mark == '.' ? '2' : mark < '9' ? static_cast<char>(mark + 1) : '9';
    }
    marks[column(journal.best_known(point, space.candidates(point).front()))] = 'o';
    marks[column(journal.best_known(point, winner(space, journal, point)))] = '*';
    std::snprintf(line, sizeof line, "%5lld |%s|\n", static_cast<long long>(point.n),
                  marks.c_str());
    out << line;
  }
  out << '\n';
}

}  // namespace

void print_report(std::ostream& out, const Space& space, const Journal& journal,
                  const std::vector<Point>& points) {
  for_each_key(points, [&](const std::vector<Point>& key) {
    for (const Point& point : key) print_point(out, space, journal, point);
    draw_key(out, space, journal, key);
  });
}

}  // namespace chol::tune
