#include "tools/tune/result.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tune/file_version.hpp"

namespace chol::tune {
namespace {

using Json = nlohmann::ordered_json;

/// Resolution of a measurement of this length.
constexpr double kSame = 0.97;

Json row_of(const Point& point, int64_t least, int64_t most, const Choice& choice) {
  Json params = Json::object();
  for (size_t k = 0; k < choice.method->knobs.size(); ++k)
    params[choice.method->knobs[k].name] = choice.values[k];
  Json row = {{"routine", routine_name(point.routine)},
              {"form", form_name(point.form)},
              {"precision", std::string(1, point.precision)},
              {"n", {least, most}}};
  if (point.routine == Routine::posv && choice.method->is_of_one_rhs) row["nrhs"] = {1, 1};
  row["method"] = choice.method->name;
  row["params"] = params;
  return row;
}

bool of_key(const Json& row, const Point& point) {
  return row.is_object() && row.value("routine", "") == routine_name(point.routine) &&
         row.value("form", "") == form_name(point.form) &&
         row.value("precision", "") == std::string(1, point.precision);
}

/// The rows of one key from its points in ascending order. A choice serves up to halfway to the
/// next point with another choice, as far as it accepts; beyond that the built-in rows serve.
void add_rows(Json& rows, const Space& space, const Journal& journal,
              const std::vector<Point>& key) {
  int64_t least = 0;
  for (size_t i = 0; i < key.size(); ++i) {
    const Choice choice = winner(space, journal, key[i]);
    const bool last = i + 1 == key.size();
    if (!last && choice == winner(space, journal, key[i + 1])) continue;
    const int64_t wanted = last ? key[i].n : (key[i].n + key[i + 1].n) / 2;
    const int64_t most = space.reach(key[i], choice, wanted);
    rows.push_back(row_of(key[i], least, most, choice));
    least = most + 1;
  }
}

}  // namespace

Choice winner(const Space& space, const Journal& journal, const Point& point) {
  const std::vector<Choice> all = space.candidates(point);
  Choice best = all.front();
  for (const Choice& choice : all)
    if (kSame * journal.best_known(point, choice) > journal.best_known(point, best)) best = choice;
  return best;
}

void write_tuning_file(const std::string& path, Space& space, const std::string& version,
                       const Journal& journal, const std::vector<Point>& points) {
  Json document = Json::object();
  if (std::ifstream file(path); file) document = Json::parse(file, nullptr, false);
  // Rows of another version were measured with other code or have another meaning.
  if (!document.is_object() || document.value("chol", "") != version ||
      document.value("version", 1) != kTuningFileVersion)
    document = Json::object();
  document["chol"] = version;
  document["version"] = kTuningFileVersion;
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
        path + (written && !taken ? ": rejected by the library" : ": cannot be written"));
  }
}

}  // namespace chol::tune
