#include "tools/tune/result.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace chol::tune {
namespace {

using Json = nlohmann::ordered_json;

/// What a measurement of this length can tell apart.
constexpr double kSame = 0.97;

bool same_plan(const Plan& a, const Plan& b) {
  return a.method == b.method && a.block == b.block && a.tile == b.tile;
}

Json row_of(const Point& point, int64_t max_n, const Plan& plan) {
  return {{"routine", routine_name(point.routine)},
          {"form", "interleaved"},
          {"precision", std::string(1, point.precision)},
          {"max_n", max_n},
          {"method", method_name(plan.method)},
          {"block", plan.block},
          {"tile", plan.tile}};
}

bool of_key(const Json& row, const Point& point) {
  return row.is_object() && row.value("routine", "") == routine_name(point.routine) &&
         row.value("form", "") == "interleaved" &&
         row.value("precision", "") == std::string(1, point.precision);
}

/// The rows of one key from its points in ascending order. A plan serves up to halfway to the next
/// point that has another one.
void add_rows(Json& rows, const Journal& journal, const std::vector<Point>& key) {
  for (size_t i = 0; i < key.size(); ++i) {
    const Plan plan = winner(journal, key[i]);
    const bool last = i + 1 == key.size();
    if (!last && same_plan(plan, winner(journal, key[i + 1]))) continue;
    rows.push_back(row_of(key[i], last ? key[i].n : (key[i].n + key[i + 1].n) / 2, plan));
  }
  rows.push_back(row_of(key.back(), INT64_MAX, plan_beyond(key.back().routine)));
}

bool same_key(const Point& a, const Point& b) {
  return a.routine == b.routine && a.precision == b.precision;
}

}  // namespace

Plan winner(const Journal& journal, const Point& point) {
  const std::vector<Plan> all = candidates(point);
  Plan best = all.front();
  for (const Plan& plan : all)
    if (kSame * journal.best_known(point, plan) > journal.best_known(point, best)) best = plan;
  return best;
}

void write_tuning_file(const std::string& path, const std::string& machine,
                       const std::string& version, const Journal& journal,
                       const std::vector<Point>& points) {
  Json document = Json::object();
  if (std::ifstream file(path); file) document = Json::parse(file, nullptr, false);
  // Another version's rows were measured on other code.
  if (!document.is_object() || document.value("chol", "") != version) document = Json::object();
  document["chol"] = version;
  if (!document.contains("machines") || !document["machines"].is_object())
    document["machines"] = Json::object();
  Json rows = Json::array();
  const Json before = document["machines"].value(machine, Json::array());
  for (const Json& row : before)
    if (std::none_of(points.begin(), points.end(), [&](const Point& p) { return of_key(row, p); }))
      rows.push_back(row);
  std::vector<Point> key;
  for (const Point& point : points) {
    if (!key.empty() && !same_key(key.back(), point)) {
      add_rows(rows, journal, key);
      key.clear();
    }
    key.push_back(point);
  }
  add_rows(rows, journal, key);
  document["machines"][machine] = rows;
  const std::string temporary = path + '.' + std::to_string(getpid());
  std::ofstream file(temporary);
  file << document.dump(2) << '\n';
  file.close();
  if (!file || std::rename(temporary.c_str(), path.c_str()) != 0) {
    unlink(temporary.c_str());
    throw std::runtime_error(path + ": cannot be written");
  }
}

void print_report(std::ostream& out, const Journal& journal, const std::vector<Point>& points) {
  for (const Point& point : points) {
    const std::vector<Plan> all = candidates(point);
    double best = 0;
    for (const Plan& plan : all) best = std::max(best, journal.best_known(point, plan));
    if (best == 0) continue;
    const Plan chosen = winner(journal, point);
    for (const Plan& plan : all) {
      constexpr int kWidth = 40;
      const double rate = journal.best_known(point, plan), share = rate / best;
      char line[200];
      std::snprintf(line, sizeof line, "%-14s %-16s %9.2f Gflop/s %3.0f %% %c %s\n",
                    text_of(point).c_str(), text_of(plan).c_str(), rate, 100 * share,
                    same_plan(plan, chosen) ? '*' : ' ',
                    std::string(static_cast<size_t>(share * kWidth), '#').c_str());
      out << line;
    }
    char line[100];
    std::snprintf(line, sizeof line, "%-14s built-in plan at %.0f %% of the fastest\n",
                  text_of(point).c_str(), 100 * journal.best_known(point, all.front()) / best);
    out << line;
  }
}

}  // namespace chol::tune
