#include "tools/tune/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "tune/file_version.hpp"

namespace chol::tune {

TemporaryFile::TemporaryFile() : descriptor_(memfd_create("chol-tune", MFD_CLOEXEC)) {
  if (descriptor_ < 0) throw std::runtime_error("a file in memory cannot be made");
  path_ = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(descriptor_);
}

TemporaryFile::~TemporaryFile() { close(descriptor_); }

void TemporaryFile::write(const std::string& text) const {
  std::ofstream file(path_);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(path_ + ": cannot be written");
}

std::string tuning_text(const std::string& machine, const Point& point, const Choice& choice) {
  return "{\"version\": " + std::to_string(kTuningFileVersion) + ", \"machines\": {\"" + machine +
         "\": [{\"routine\": \"" + routine_name(point.routine) + "\", \"form\": \"" +
         form_name(point.form) + "\", \"precision\": \"" + point.precision + "\", \"n\": [0, " +
         std::to_string(point.n) + "], " + json_of(point.routine, choice) + "}]}}";
}

Child::Child(const std::string& tuning, const std::vector<std::string>& arguments) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
  if (pipe2(out, O_CLOEXEC) != 0) {
    close(in[0]);
    close(in[1]);
    throw std::runtime_error("pipe failed");
  }
  process_ = fork();
  if (process_ == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    setenv("CHOL_TUNING", tuning.c_str(), 1);
    std::vector<char*> words = {const_cast<char*>("chol-tune")};
    for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execv("/proc/self/exe", words.data());
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  to_ = in[1];
  from_ = out[0];
  if (process_ < 0) throw std::runtime_error("fork failed");
}

Child::~Child() {
  close(to_);
  close(from_);
  if (process_ <= 0) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

bool Child::write_line(const std::string& line) {
  const std::string text = line + '\n';
  return write(to_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool Child::read_line(std::string& line, double seconds) {
  for (;;) {
    const size_t end = ahead_.find('\n');
    if (end != std::string::npos) {
      line = ahead_.substr(0, end);
      ahead_.erase(0, end + 1);
      return true;
    }
    pollfd waiting{from_, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(seconds * 1e3)) <= 0) return false;
    char part[256];
    const ssize_t got = read(from_, part, sizeof part);
    if (got <= 0) return false;
    ahead_.append(part, static_cast<size_t>(got));
  }
}

bool Child::ended_well() {
  int status = 0;
  waitpid(process_, &status, 0);
  process_ = -1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace chol::tune
