#include "tools/tune/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace chol::tune {

Journal::Journal(const std::string& path, const std::string& machine, const std::string& version)
    : machine_(machine), version_(version) {
  descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor_ < 0) throw std::runtime_error(path + ": cannot be opened");
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    close(descriptor_);
    throw std::runtime_error(path + ": another chol-tune is at work on it");
  }
  std::ifstream file(path);
  std::string line;
  bool torn = false;
  while (std::getline(file, line)) {
    read_line(line);
    torn = file.eof();
  }
  // The last line of a killed run may be incomplete.
  if (torn && write(descriptor_, "\n", 1) != 1)
    throw std::runtime_error(path + ": cannot be written");
}

Journal::~Journal() { close(descriptor_); }

std::string Journal::key(const Point& point, const Choice& choice, int round) {
  return text_of(point) + '|' + text_of(choice) + '|' + std::to_string(round);
}

void Journal::read_line(const std::string& line) {
  if (line.empty()) return;
  const nlohmann::json entry = nlohmann::json::parse(line, nullptr, false);
  const bool right = entry.is_object() && entry.contains("key") && entry["key"].is_string() &&
                     entry.contains("gflops") && entry["gflops"].is_number() &&
                     entry.contains("machine") && entry.contains("chol");
  if (!right) {
    ++skipped_;
    return;
  }
  if (entry["machine"] == machine_ && entry["chol"] == version_)
    rates_[entry["key"].get<std::string>()] = entry["gflops"].get<double>();
}

double Journal::rate_of(const Point& point, const Choice& choice, int round) const {
  const auto found = rates_.find(key(point, choice, round));
  return found == rates_.end() ? -1 : found->second;
}

int Journal::trials_of(const Point& point, const Choice& choice) const {
  int round = 0;
  while (rate_of(point, choice, round) >= 0) ++round;
  return round;
}

double Journal::best_known(const Point& point, const Choice& choice) const {
  const int trials = trials_of(point, choice);
  return trials > 0 ? rate_of(point, choice, trials - 1) : 0;
}

void Journal::add(const Point& point, const Choice& choice, int round, double rate) {
  const std::string name = key(point, choice, round);
  rates_[name] = rate;
  const nlohmann::ordered_json entry = {
      {"machine", machine_}, {"chol", version_}, {"key", name}, {"gflops", rate}};
  const std::string line = entry.dump() + '\n';
  if (write(descriptor_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::runtime_error("the journal cannot be written");
}

}  // namespace chol::tune
