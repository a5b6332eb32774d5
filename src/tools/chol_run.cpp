// chol-run: runs a program under libchol_preload.so and reports the intercepted calls.
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
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/environment.hpp"
#include "preload/counts.hpp"

namespace {

using chol::preload::Counts;
using chol::preload::CountsFile;

constexpr const char* kLibrary = "libchol_preload.so";
constexpr int kRefused = 100 << 8;  // as a wait status
pid_t child = 0;

/// The library in the tree that this program was installed to, or in its folder in a build tree.
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

/// Whether the path can be an entry of LD_PRELOAD (no separators or substitutions).
bool is_one_entry(const std::string& path) {
  return path.find_first_of(" :$") == std::string::npos;
}

/// The temporary folder of a run: the counters of the processes, and a link to the library if its
/// own path cannot be in LD_PRELOAD.
class RunFolder {
 public:
  RunFolder() {
    const char* folder = std::getenv("TMPDIR");
    const bool usable = folder && *folder && is_one_entry(folder);
    path_ = std::string(usable ? folder : "/tmp") + "/chol-run.XXXXXX";
    if (!mkdtemp(path_.data())) path_.clear();
  }
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  ~RunFolder() {
    std::error_code none;
    if (!path_.empty()) std::filesystem::remove_all(path_, none);
  }
  bool is_there() const { return !path_.empty(); }

  std::string counts() const {
    std::error_code none;
    std::filesystem::create_directory(path_ + "/counts", none);
    return path_ + "/counts";
  }
  /// A path of the library that can be preloaded. The whole folder is linked, because the library
  /// looks for the others in its folder.
  std::string way_to(const std::filesystem::path& library) const {
    if (is_one_entry(library)) return library;
    std::error_code failed;
    std::filesystem::create_directory_symlink(library.parent_path(), path_ + "/lib", failed);
    return failed ? "" : path_ + "/lib/" + library.filename().string();
  }

 private:
  std::string path_;
};

/// In the child: becomes the program. Exit codes as a shell gives them.
[[noreturn]] void become(const std::vector<std::string>& command, const std::string& library,
                         const std::string& counts) {
  const char* others = std::getenv("LD_PRELOAD");
  const std::string preload = others && *others ? library + ":" + others : library;
  setenv("LD_PRELOAD", preload.c_str(), 1);
  setenv("CHOL_REPORT", counts.c_str(), 1);
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  std::fprintf(stderr, "chol-run: %s: %s\n", arguments[0], std::strerror(error));
  _exit(error == ENOENT ? 127 : 126);
}

/// Waits for the child. A signal that is meant to end the program is forwarded to it; those of the
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

/// Sums over the processes of a program, the first one and its forks.
struct Program {
  pid_t process = 0;
  std::set<pid_t> forks;
  std::string name;
  Counts routines[chol::preload::kMostRoutines];

  void add(const CountsFile& file) {
    process = file.root;
    name.assign(file.program, strnlen(file.program, sizeof file.program));
    bool any = false;
    for (const Counts& counts : file.routines) any = add(counts) || any;
    if (any && file.process != file.root) forks.insert(file.process);
  }

 private:
  /// Returns whether there were calls.
  bool add(const Counts& counts) {
    bool any = false;
    Counts* mine = routines;
    while (*mine->routine && std::strncmp(mine->routine, counts.routine, sizeof mine->routine) != 0)
      if (++mine == std::end(routines)) return false;
    for (int place = 0; place < chol::preload::kPlaces; ++place) {
      const Counts::Sum& sum = counts.sums[place];
      if (sum.calls == 0) continue;
      any = true;
      std::memcpy(mine->routine, counts.routine, sizeof mine->routine - 1);
      mine->sums[place].calls += sum.calls;
      mine->sums[place].nanoseconds += sum.nanoseconds;
      mine->sums[place].cubes += sum.cubes;
    }
    return any;
  }
};

/// The programs that were run, in the order in which they began.
std::map<std::pair<int64_t, pid_t>, Program> read_counts(const std::string& folder) {
  std::map<std::pair<int64_t, pid_t>, Program> programs;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    std::ifstream in(entry.path(), std::ios::binary);
    const auto file = std::make_unique<CountsFile>();
    if (!in.read(reinterpret_cast<char*>(file.get()), sizeof *file) ||
        file->magic != CountsFile::kMagic)
      continue;
    programs[{file->began, file->root}].add(*file);
  }
  return programs;
}

void print_report(const std::string& folder, const std::string& program) {
  bool any = false;
  for (const auto& [key, caught] : read_counts(folder)) {
    if (!*caught.routines[0].routine) continue;
    any = true;
    chol::preload::print_counts(stderr, caught.process, static_cast<int>(caught.forks.size()),
                                caught.name.c_str(), caught.routines);
  }
  if (!any)
    std::fprintf(stderr,
                 "chol-run: no calls of %s were intercepted: it makes none, or is linked "
                 "statically, or runs with other rights\n",
                 program.c_str());
}

/// Prints the reason and returns the wait status of exit code 100.
int refuse(const char* reason) {
  std::fprintf(stderr, "chol-run: %s\n", reason);
  return kRefused;
}

/// Runs the command and returns its wait status.
int run(const std::vector<std::string>& command, const std::string& library,
        const std::string& counts) {
  child = fork();
  if (child == 0) become(command, library, counts);
  return child > 0 ? wait_for_child() : refuse("cannot create a process");
}

/// Exits with the status or signal of the program.
int end_with(int status) {
  if (WIFSIGNALED(status)) {
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
  }
  return WEXITSTATUS(status);
}

/// Returns the wait status to end with.
int run_command_line(int count, char** arguments) {
  CLI::App app{"Runs a program under libchol_preload.so and reports the intercepted calls.",
               "chol-run"};
  std::string only;
  bool quiet = false;
  app.add_option("--only", only, "The routines to intercept, such as potrf,dposv");
  app.add_flag("-q,--quiet", quiet, "Print nothing");
  app.set_version_flag("--version", "chol-run " CHOL_RUN_VERSION);
  app.prefix_command();
  app.footer("The program and its arguments come last: chol-run [OPTIONS] PROGRAM [ARGUMENTS...]");
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) << 8;
  }

  const std::vector<std::string> command = app.remaining();
  if (command.empty()) return refuse("no program named; see chol-run --help");
  if (command[0][0] == '-') return refuse(("no option " + command[0] + "; see --help").c_str());
  uint32_t routines = 0;
  if (!only.empty() && !chol::read_routines(only.c_str(), &routines))
    return refuse(("--only = " + only + ", must be " + chol::kRoutineList).c_str());
  const std::string library = find_library();
  if (library.empty()) return refuse("libchol_preload.so is not at its installed path");
  const RunFolder folder;
  if (!folder.is_there()) return refuse("no temporary folder can be made");
  const std::string way = folder.way_to(library), counts = folder.counts();
  if (way.empty()) return refuse("no link to the library can be made");
  if (!only.empty()) setenv("CHOL_PRELOAD", only.c_str(), 1);
  const int status = run(command, way, counts);
  if (!quiet) print_report(counts, command[0]);
  return status;
}

}  // namespace

int main(int count, char** arguments) {
  // The folder is removed before this program ends itself by the same signal.
  return end_with(run_command_line(count, arguments));
}
