#include "tools/tune/device_space.hpp"

#include <cstdlib>
#include <stdexcept>

#include "tools/tune/device.hpp"
#include "tune/file_version.hpp"

namespace chol::tune {
namespace {

std::string file_without_rows() {
  return "{\"version\": " + std::to_string(kTuningFileVersion) + ", \"machines\": {}}";
}

std::string request_of(const Point& point, double seconds) {
  return std::string(routine_name(point.routine)) + ' ' + form_name(point.form) + ' ' +
         point.precision + ' ' + std::to_string(point.n) + ' ' + std::to_string(seconds);
}

}  // namespace

DeviceSpace::DeviceSpace(bool compiled) : plans_(device::model(), compiled) {
  if (!device::present()) throw std::runtime_error("no CUDA device");
  start_child();
}

void DeviceSpace::start_child() {
  file_.write(file_without_rows());
  child_ = std::make_unique<Child>(file_.path(), std::vector<std::string>{"--device-trials"});
  if (!child_->read_line(machine_, kLongestTrial))
    throw std::runtime_error("the process for trials on the device does not start");
  if (machine_[0] == '!') throw std::runtime_error(machine_.substr(1));
}

std::vector<Point> DeviceSpace::points(const Scope& scope) const {
  const std::vector<Routine> routines = {Routine::potrf, Routine::potrs, Routine::posv};
  std::vector<int64_t> small = {2,  4,  6,  8,  10, 12, 14, 16, 18, 20, 22, 24, 26,
                                28, 30, 32, 36, 40, 48, 56, 64, 72, 80, 88, 96, 104};
  std::vector<int64_t> large = {4, 8, 16, 24, 32, 40, 48, 64, 96, 128, 160, 192, 256, 384, 512};
  // From this order on one matrix is worked on by several blocks.
  constexpr int64_t kLeastOne = 64;
  std::vector<int64_t> one = {64, 128, 256, 512, 1024, 1536, 2048, 3072, 4096, 6144, 8192};
  if (scope.quick) {
    small = {4, 8, 16, 32, 64};
    large = {8, 32, 128};
    one = {512};
  }
  std::vector<Point> all = points_of(scope, Form::interleaved, routines, small);
  for (const Point& point : points_of(scope, Form::batch, routines, large)) all.push_back(point);
  for (const Point& point : points_of(scope, Form::one, {Routine::potrf}, one))
    if (point.n >= kLeastOne) all.push_back(point);
  return all;
}

double DeviceSpace::rate(const Point& point, const Choice& choice, double seconds) {
  if (!child_) start_child();
  file_.write(tuning_text(machine_, point, choice));
  std::string line;
  if (child_->write_line(request_of(point, seconds)) && child_->read_line(line, kLongestTrial))
    return std::strtod(line.c_str(), nullptr);
  child_.reset();
  return 0;
}

bool DeviceSpace::takes(const std::string& path) {
  Child child(path, {"--open", "cuda"});
  return child.ended_well();
}

}  // namespace chol::tune
