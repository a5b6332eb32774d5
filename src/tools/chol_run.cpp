// chol-run: a program under libchol_preload.so, and what was caught of it.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

constexpr const char* kLibrary = "libchol_preload.so";
pid_t child = 0;

/// The library in the tree that this program was installed to, or beside it in a build tree.
std::string find_library() {
  std::error_code none;
  const std::filesystem::path here =
      std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
  for (const char* folder : {CHOL_WAY_TO_LIBRARY, "../preload"}) {
    const std::filesystem::path file = here / folder / kLibrary;
    if (std::filesystem::exists(file, none)) return std::filesystem::canonical(file, none);
  }
  return "";
}

/// An empty file for the report, in the folder for temporary files.
std::string make_report_file() {
  const char* folder = std::getenv("TMPDIR");
  std::string name = std::string(folder && *folder ? folder : "/tmp") + "/chol-run.XXXXXX";
  const int file = mkstemp(name.data());
  if (file < 0) return "";
  close(file);
  return name;
}

/// In the child: becomes the program. Exit codes as a shell gives them.
[[noreturn]] void become(const std::vector<std::string>& command, const std::string& library,
                         const std::string& report) {
  const char* others = std::getenv("LD_PRELOAD");
  const std::string preload = others && *others ? library + ":" + others : library;
  setenv("LD_PRELOAD", preload.c_str(), 1);
  setenv("CHOL_REPORT", report.c_str(), 1);
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  std::fprintf(stderr, "chol-run: %s: %s\n", arguments[0], std::strerror(error));
  _exit(error == ENOENT ? 127 : 126);
}

/// Waits for the child. A signal that is meant to end the program goes on to it; those of the
/// terminal reach it anyway.
int wait_for_child() {
  signal(SIGINT, SIG_IGN);
  signal(SIGQUIT, SIG_IGN);
  for (const int number : {SIGTERM, SIGHUP})
    signal(number, [](int caught) { kill(child, caught); });
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

void print_report(const std::string& file, const std::string& program) {
  std::ifstream report(file);
  std::string line;
  bool any = false;
  for (; std::getline(report, line); any = true) std::fprintf(stderr, "%s\n", line.c_str());
  if (!any)
    std::fprintf(stderr,
                 "chol-run: nothing was caught of %s: no call of it is taken over, or it ended "
                 "without exit(), is linked statically, or runs with other rights\n",
                 program.c_str());
}

/// Runs the command and returns its wait status; one that tells 100 when there can be no process.
int run(const std::vector<std::string>& command, const std::string& library,
        const std::string& report) {
  child = fork();
  if (child == 0) become(command, library, report);
  return child > 0 ? wait_for_child() : 100 << 8;
}

/// Ends as the program did.
int end_with(int status) {
  if (WIFSIGNALED(status)) {
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
  }
  return WEXITSTATUS(status);
}

int refuse(const char* reason) {
  std::fprintf(stderr, "chol-run: %s\n", reason);
  return 100;
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app{"Runs a program under libchol_preload.so and tells what was caught.", "chol-run"};
  std::string only;
  bool quiet = false;
  app.add_option("--only", only, "The routines to take over, such as potrf,dposv");
  app.add_flag("-q,--quiet", quiet, "Print nothing");
  app.set_version_flag("--version", "chol-run " CHOL_RUN_VERSION);
  app.prefix_command();
  app.footer("The program and its arguments come last: chol-run [OPTIONS] PROGRAM [ARGUMENTS...]");
  CLI11_PARSE(app, count, arguments);

  const std::vector<std::string> command = app.remaining();
  if (command.empty()) return refuse("no program named; see chol-run --help");
  const std::string library = find_library();
  if (library.empty()) return refuse("libchol_preload.so is not where it was installed");
  const std::string report = make_report_file();
  if (report.empty()) return refuse("no temporary file can be made");
  if (!only.empty()) setenv("CHOL_PRELOAD", only.c_str(), 1);
  const int status = run(command, library, report);
  if (!quiet) print_report(report, command[0]);
  unlink(report.c_str());
  return end_with(status);
}
