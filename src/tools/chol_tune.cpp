// chol-tune: measures plans on this machine and writes the fastest into a tuning file.
#include <chol.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "tools/tune/result.hpp"
#include "tools/tune/trial.hpp"

namespace chol::tune {
namespace {

struct Options {
  Scope scope;
  std::string output;
  std::vector<std::string> trial;
  int threads = 1;
  double milliseconds = 20;
  bool report = false;
};

std::string library_version() {
  int part[3] = {0, 0, 0};
  chol_version(&part[0], &part[1], &part[2]);
  return std::to_string(part[0]) + '.' + std::to_string(part[1]) + '.' + std::to_string(part[2]);
}

std::string machine_name() {
  chol_handle_t handle = nullptr;
  if (chol_create_on(&handle, CHOL_BACKEND_HOST, 0, nullptr) != CHOL_STATUS_SUCCESS)
    throw std::runtime_error(chol_last_error(nullptr));
  const char* name = "";
  chol_backend_name(handle, CHOL_BACKEND_HOST, &name);
  std::string copy = name;
  chol_destroy(handle);
  return copy;
}

/// Where the library looks when CHOL_TUNING names no file.
std::string user_file() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  if ((!config || !*config) && (!home || !*home))
    throw std::runtime_error("there is no HOME to write to: name a file with --output");
  const std::string base = config && *config ? config : std::string(home) + "/.config";
  mkdir(base.c_str(), 0755);
  mkdir((base + "/chol").c_str(), 0755);
  return base + "/chol/tuning.json";
}

/// Successive halving (Jamieson, Talwalkar 2016): all plans get a short trial, the faster half
/// twice as long a one, until one is left.
class Search {
 public:
  Search(Journal& journal, std::string machine, const Options& options)
      : journal_(journal), machine_(std::move(machine)), options_(options) {}

  void run(const std::vector<Point>& all) {
    const auto start = std::chrono::steady_clock::now();
    size_t fresh = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      const bool measured = settle(all[i]);
      fresh += measured;
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      const double left = fresh ? spent.count() / static_cast<double>(fresh) *
                                      static_cast<double>(all.size() - i - 1)
                                : 0;
      std::fprintf(stderr, "[%zu/%zu] %d:%02d left  %-14s %s\n", i + 1, all.size(),
                   static_cast<int>(left) / 60, static_cast<int>(left) % 60,
                   text_of(all[i]).c_str(), text_of(winner(journal_, all[i])).c_str());
    }
  }

 private:
  /// Whether anything had to be measured.
  bool settle(const Point& point) {
    std::vector<Plan> left = candidates(point);
    bool measured = false;
    for (int round = 0;; ++round) {
      std::vector<std::pair<double, Plan>> ranking;
      for (const Plan& plan : left) {
        double rate = journal_.rate_of(point, plan, round);
        if (rate < 0) {
          const double seconds = options_.milliseconds * 1e-3 * (1 << round);
          rate = try_plan(point, plan, machine_, seconds, options_.threads);
          journal_.add(point, plan, round, rate);
          measured = true;
        }
        ranking.emplace_back(rate, plan);
      }
      if (left.size() <= 1) return measured;
      std::stable_sort(ranking.begin(), ranking.end(),
                       [](const auto& a, const auto& b) { return a.first > b.first; });
      left.clear();
      for (size_t i = 0; i < (ranking.size() + 1) / 2; ++i) left.push_back(ranking[i].second);
    }
  }

  Journal& journal_;
  std::string machine_;
  const Options& options_;
};

/// The child's side of try_plan().
int run_trial(const std::vector<std::string>& words) {
  for (const Routine routine : {Routine::potrf, Routine::potrs, Routine::posv, Routine::potri})
    if (words.at(0) == routine_name(routine)) {
      const Point point{routine, words.at(1).at(0), std::stoll(words.at(2))};
      std::printf("%.6g\n", time_point(point, std::stod(words.at(3)), std::stoi(words.at(4))));
      return 0;
    }
  return 1;
}

int run(Options& o) {
  if (!o.trial.empty()) return run_trial(o.trial);
  // The plans that were in use before are none of the candidates'.
  unsetenv("CHOL_TUNING");
  const std::vector<Point> all = points(o.scope);
  const std::string machine = machine_name(), version = library_version();
  if (o.output.empty()) o.output = user_file();
  Journal journal(o.output + ".journal", machine, version);
  if (journal.skipped() > 0)
    std::fprintf(stderr, "%s.journal: %d lines are no trials and are passed over\n",
                 o.output.c_str(), journal.skipped());
  if (journal.known() > 0)
    std::fprintf(stderr, "%zu trials are known from before\n", journal.known());
  if (o.report) {
    print_report(std::cout, journal, all);
    return 0;
  }
  Search(journal, machine, o).run(all);
  write_tuning_file(o.output, machine, version, journal, all);
  std::cout << o.output << ": plans of " << machine << '\n';
  return 0;
}

}  // namespace
}  // namespace chol::tune

int main(int argc, char** argv) {
  CLI::App app{"Measures plans on this machine and writes the fastest into a tuning file."};
  chol::tune::Options o;
  app.add_flag("--quick", o.scope.quick, "a few orders only");
  app.add_flag("--report", o.report, "print what is known so far and measure nothing");
  app.add_option("--output", o.output, "tuning file (default: the user's own)");
  app.add_option("--routines", o.scope.routines, "potrf,potrs,posv,potri or all");
  app.add_option("--precisions", o.scope.precisions, "some of sdcz");
  app.add_option("--threads", o.threads, "host threads")->check(CLI::Range(1, 4096));
  app.add_option("--trial-ms", o.milliseconds, "length of the shortest trials")
      ->check(CLI::Range(0.1, 10000.0));
  app.add_option("--trial", o.trial)->expected(5)->group("");
  CLI11_PARSE(app, argc, argv);
  try {
    return chol::tune::run(o);
  } catch (const std::exception& error) {
    std::cerr << "chol-tune: " << error.what() << '\n';
    return 2;
  }
}
