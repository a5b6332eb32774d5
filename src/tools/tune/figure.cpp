#include "tools/tune/figure.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

namespace chol::tune {
namespace {

constexpr const char* kScript = "chol-tune-plot";
/// Exit codes: the script without matplotlib, and a child that cannot run the script.
constexpr int kNoLibrary = 77, kNoScript = 127;

bool ends_in(const std::string& path, const std::string& suffix) {
  return path.size() > suffix.size() &&
         path.compare(path.size() - suffix.size(), suffix.size(), suffix) == 0;
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(path + ": cannot be written");
}

/// Without a shell, so that no character of a path is special. @return the exit status
int run_script(const std::string& records, const std::string& picture) {
  std::error_code none;
  const std::string script =
      std::filesystem::read_symlink("/proc/self/exe", none).parent_path() / kScript;
  const pid_t child = fork();
  if (child == 0) {
    execl(script.c_str(), kScript, records.c_str(), picture.c_str(), nullptr);
    _exit(kNoScript);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0)
    throw std::runtime_error("no process for the picture");
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

std::string reason_against(const std::string& path) {
  for (const char* suffix : {".csv", ".svg", ".png"})
    if (ends_in(path, suffix)) return "";
  return path.empty() ? "" : path + " does not end in .csv, .svg or .png";
}

void write_figure(const std::string& path, const std::string& records) {
  if (ends_in(path, ".csv")) {
    write_text(path, records);
    return;
  }
  const std::string table = path + ".csv";
  write_text(table, records);
  std::cout.flush();
  const int status = run_script(table, path);
  if (status == 0) return;
  if (status != kNoLibrary && status != kNoScript)
    throw std::runtime_error(path + ": " + kScript + " failed on " + table);
  std::cerr << path << " not drawn: " << kScript
            << " with Python and matplotlib (apt-get install python3-matplotlib) is missing; "
               "where they are: "
            << kScript << ' ' << table << ' ' << path << '\n';
}

}  // namespace chol::tune
