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

Json row_of(const Point& point, int64_t max_n, const Plan& plan) {
  return {{"routine", routine_name(point.routine)},
          {"form", form_name(point.form)},
          {"precision", std::string(1, point.precision)},
          {"max_n", max_n},
          {"method", method_name(plan.method)},
          {"block", plan.block},
          {"tile", plan.tile},
          {"threads", plan.threads}};
}

bool of_key(const Json& row, const Point& point) {
  return row.is_object() && row.value("routine", "") == routine_name(point.routine) &&
         row.value("form", "") == form_name(point.form) &&
         row.value("precision", "") == std::string(1, point.precision);
}

/// The rows of one key from its points in ascending order. A plan serves up to halfway to the next
/// point that has another one, as far as it can.
void add_rows(Json& rows, const Space& space, const Journal& journal,
              const std::vector<Point>& key) {
  for (size_t i = 0; i < key.size(); ++i) {
    const Plan plan = winner(space, journal, key[i]);
    const bool last = i + 1 == key.size();
    if (!last && same_plan(plan, winner(space, journal, key[i + 1]))) continue;
    const int64_t wanted = last ? key[i].n : (key[i].n + key[i + 1].n) / 2;
    rows.push_back(row_of(key[i], space.reach(key[i], plan, wanted), plan));
  }
  for (const auto& [max_n, plan] : space.beyond(key.back()))
    rows.push_back(row_of(key.back(), max_n, plan));
}

}  // namespace

Plan winner(const Space& space, const Journal& journal, const Point& point) {
  const std::vector<Plan> all = space.candidates(point);
  Plan best = all.front();
  for (const Plan& plan : all)
    if (kSame * journal.best_known(point, plan) > journal.best_known(point, best)) best = plan;
  return best;
}

void write_tuning_file(const std::string& path, Space& space, const std::string& version,
                       const Journal& journal, const std::vector<Point>& points) {
  Json document = Json::object();
  if (std::ifstream file(path); file) document = Json::parse(file, nullptr, false);
  // Another version's rows were measured on other code.
  if (!document.is_object() || document.value("chol", "") != version) document = Json::object();
  document["chol"] = version;
  if (!document.contains("machines") || !document["machines"].is_object())
    document["machines"] = Json::object();
  Json rows = Json::array();
  const Json before = document["machines"].value(space.machine(), Json::array());
  for (const Json& row : before)
    if (std::none_of(points.begin(), points.end(), [&](const Point& p) { return of_key(row, p); }))
      rows.push_back(row);
  for_each_key(points, [&](const std::vector<Point>& key) { add_rows(rows, space, journal, key); });
  document["machines"][space.machine()] = rows;
  const std::string temporary = path + '.' + std::to_string(getpid());
  std::ofstream file(temporary);
  file << document.dump(2) << '\n';
  file.close();
  const bool written = bool(file), taken = written && space.takes(temporary);
  if (!taken || std::rename(temporary.c_str(), path.c_str()) != 0) {
    unlink(temporary.c_str());
    throw std::runtime_error(
        path + (written && !taken ? ": the library would not take it" : ": cannot be written"));
  }
}

}  // namespace chol::tune
