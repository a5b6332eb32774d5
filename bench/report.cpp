#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <ostream>
#include <sstream>
#include <stdexcept>

namespace chol::bench {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

/// A value as a field of a CSV line.
std::string plain(std::string text) {
  for (char& letter : text)
    if (letter == ',' || letter == '\n' || letter == '"') letter = ' ';
  return text;
}

std::string machine_name() {
  std::ifstream info("/proc/cpuinfo");
  std::string model = "unknown CPU", family, number_text, line;
  const auto value = [&] { return line.substr(std::min(line.find(':') + 2, line.size())); };
  while (std::getline(info, line) && !line.empty()) {
    if (line.rfind("model name", 0) == 0) model = value();
    if (line.rfind("cpu family", 0) == 0) family = value();
    if (line.rfind("model\t", 0) == 0) number_text = value();
  }
  return model + " (family " + family + " model " + number_text + ")";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%MZ", std::gmtime(&now));
  return text;
}

std::string column_of(const std::string& peer) { return peer + "_gflops"; }

void put_ratio(Record& record, const std::string& prefix, const std::string& peer_column,
               const Ratio& ratio) {
  if (!ratio.rival) return;
  record[peer_column] = ratio.rival->side.who.name;
  record[prefix] = number(ratio.median);
  record[prefix + "_min"] = number(ratio.least);
  record[prefix + "_max"] = number(ratio.most);
}

std::string wrong_ones(const Outcome& outcome) {
  std::string names;
  const auto look = [&](const Timing& timing) {
    const Routine routine = timing.side.c.routine;
    if (routine == Routine::pocon || routine == Routine::logdet) return;
    if (timing.timed() && !timing.right()) names += ' ' + timing.side.who.name;
  };
  look(outcome.ours);
  for (const Timing& rival : outcome.rivals) look(rival);
  return names;
}

std::string key_of(const Record& record) {
  std::string key;
  for (const char* name : {"bar", "function", "uplo", "n", "nrhs", "lda", "batch", "threads"})
    key += record.count(name) ? record.at(name) + '|' : "|";
  return key;
}

struct Standing {
  int cases = 0, above_floor = 0, above_aim = 0;
  double worst = 0, sum_of_logs = 0;
  std::string worst_case;
};

Standing standing_of(const Bar& bar, const std::map<std::string, Record>& records) {
  Standing standing;
  for (const auto& [key, record] : records) {
    if (record.at("bar") != bar.id || record.at("bar_ratio").empty()) continue;
    const double ratio = std::stod(record.at("bar_ratio"));
    ++standing.cases;
    standing.above_floor += ratio >= bar.floor;
    standing.above_aim += ratio >= bar.aim;
    standing.sum_of_logs += std::log(ratio);
    if (standing.cases == 1 || ratio < standing.worst) {
      standing.worst = ratio;
      standing.worst_case = record.at("case") + " (" + record.at("bar_peer") + ')';
    }
  }
  return standing;
}

}  // namespace

const std::vector<std::string>& columns() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names = {
        "date", "machine", "commit", "backend", "bar",   "case",    "function", "precision",
        "uplo", "n",       "nrhs",   "lda",     "batch", "threads", "chol_ms",  "chol_gflops"};
    for (const std::string& peer : peer_names()) names.push_back(column_of(peer));
    for (const char* name :
         {"itself_case", "itself_gflops", "best_peer", "ratio", "ratio_min", "ratio_max",
          "bar_peer", "bar_ratio", "bar_ratio_min", "bar_ratio_max", "bar_floor", "bar_aim",
          "roofline_gflops", "roofline_share", "residual", "clock", "others_load", "wrong"})
      names.push_back(name);
    return names;
  }();
  return all;
}

Record run_facts(const std::string& commit) {
  return {{"date", today()}, {"machine", plain(machine_name())}, {"commit", plain(commit)}};
}

Record record_of(const Outcome& outcome, const Bar* bar, double roofline, double others,
                 const Record& facts) {
  const Case& c = outcome.ours.side.c;
  Record record = facts;
  record["backend"] = plain(outcome.ours.version);
  record["bar"] = bar ? bar->id : "";
  record["case"] = describe(c);
  record["function"] = function_name(c);
  record["precision"] = c.precision;
  record["uplo"] = c.uplo;
  record["n"] = std::to_string(c.n);
  record["nrhs"] = std::to_string(c.nrhs);
  record["lda"] = std::to_string(std::max(c.lda, c.n));
  record["batch"] = std::to_string(c.batch);
  record["threads"] = std::to_string(c.threads);
  if (outcome.ours.timed()) {
    record["chol_ms"] = number(median(outcome.ours.round_seconds) * 1e3);
    record["chol_gflops"] = number(outcome.ours.gflops());
  }
  for (const Timing& rival : outcome.rivals) {
    if (!rival.timed()) continue;
    const bool itself = rival.side.who.name == "chol";
    if (itself) record["itself_case"] = describe(rival.side.c);
    record[itself ? "itself_gflops" : column_of(rival.side.who.name)] = number(rival.gflops());
  }
  put_ratio(record, "ratio", "best_peer", outcome.against_best());
  if (bar) {
    put_ratio(record, "bar_ratio", "bar_peer", outcome.against_best(bar->peers));
    if (!outcome.ours.timed() || !outcome.ours.right()) record["bar_ratio"] = number(0);
    record["bar_floor"] = number(bar->floor);
    record["bar_aim"] = number(bar->aim);
  }
  if (roofline > 0) {
    record["roofline_gflops"] = number(roofline * 1e-9);
    record["roofline_share"] = number(outcome.ours.gflops() * 1e9 / roofline);
  }
  record["residual"] = number(outcome.ours.residual);
  record["clock"] = outcome.cpu_time ? "cpu" : "wall";
  record["others_load"] = number(others);
  record["wrong"] = plain(wrong_ones(outcome));
  return record;
}

std::string csv_header() {
  std::string line;
  for (const std::string& name : columns()) line += (line.empty() ? "" : ",") + name;
  return line;
}

std::string csv_line(const Record& record) {
  std::string line;
  for (const std::string& name : columns()) {
    if (&name != &columns().front()) line += ',';
    const auto found = record.find(name);
    if (found != record.end()) line += found->second;
  }
  return line;
}

std::vector<Record> read_csv(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) throw std::runtime_error(path + ": cannot be read");
  const auto split = [](const std::string& text) {
    std::vector<std::string> words(1);
    for (const char letter : text)
      if (letter == ',')
        words.emplace_back();
      else
        words.back() += letter;
    return words;
  };
  const std::vector<std::string> names = split(line);
  if (std::find(names.begin(), names.end(), "bar_ratio") == names.end())
    throw std::runtime_error(path + ": not a CSV of chol-bench");
  std::vector<Record> records;
  while (std::getline(file, line)) {
    const std::vector<std::string> words = split(line);
    Record record;
    for (size_t i = 0; i < names.size() && i < words.size(); ++i) record[names[i]] = words[i];
    if (words.size() == names.size()) records.push_back(std::move(record));
  }
  return records;
}

void print_outcome(std::ostream& out, const Outcome& outcome, double roofline) {
  char line[400];
  out << describe(outcome.ours.side.c) << '\n';
  std::snprintf(line, sizeof line, "  %-13s %11s %9s  %-22s %9s  %s\n", "", "ms", "Gflop/s",
                "chol is (least..most)", "residual", "version");
  out << line;
  const auto print = [&](const Timing& timing, const std::string& ratio) {
    const std::string& name = timing.side.who.name;
    if (!timing.timed()) {
      out << "  " << name << ": " << timing.trouble << '\n';
      return;
    }
    std::snprintf(line, sizeof line, "  %-13s %11.4f %9.2f  %-22s %9.2g  %.60s%s\n", name.c_str(),
                  median(timing.round_seconds) * 1e3, timing.gflops(), ratio.c_str(),
                  timing.residual, timing.version.c_str(), timing.failed ? "  INFO IS NOT 0" : "");
    out << line;
  };
  print(outcome.ours, "");
  for (const Timing& rival : outcome.rivals) {
    std::string text;
    if (rival.timed() && outcome.ours.timed()) {
      const Ratio ratio = outcome.against(rival);
      char words[64];
      std::snprintf(words, sizeof words, "%.2fx (%.2f..%.2f)", ratio.median, ratio.least,
                    ratio.most);
      text = words;
    }
    print(rival, text);
  }
  if (roofline > 0) {
    std::snprintf(line, sizeof line, "  roofline %.1f Gflop/s, chol at %.0f %% of it\n",
                  roofline * 1e-9, 100 * outcome.ours.gflops() * 1e9 / roofline);
    out << line;
  }
}

void print_bars(std::ostream& out, const std::vector<Record>& records) {
  std::map<std::string, Record> latest;
  for (const Record& record : records) latest[key_of(record)] = record;
  for (auto& [key, record] : latest)
    for (const std::string& name : columns()) record[name];  // an absent one reads as empty
  char line[400];
  std::snprintf(line, sizeof line, "%-50s %5s %5s %6s %7s %9s %7s  %-4s %s\n", "bar", "floor",
                "aim", "worst", "geomean", "at floor", "at aim", "", "worst case");
  out << line;
  for (const Bar& bar : bars()) {
    const Standing s = standing_of(bar, latest);
    if (!s.cases) continue;
    const double mean = std::exp(s.sum_of_logs / s.cases);
    std::snprintf(line, sizeof line, "%-50s %5.2f %5.2f %6.2f %7.2f %5d/%-3d %3d/%-3d  %-4s %s\n",
                  bar.title, bar.floor, bar.aim, s.worst, mean, s.above_floor, s.cases, s.above_aim,
                  s.cases, s.above_floor == s.cases ? "pass" : "MISS", s.worst_case.c_str());
    out << line;
  }
}

}  // namespace chol::bench
