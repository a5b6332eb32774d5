// chol-tune: measures plans on this machine and writes the fastest into a tuning file.
#include <chol.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "tools/tune/device.hpp"
#include "tools/tune/device_space.hpp"
#include "tools/tune/device_trial.hpp"
#include "tools/tune/figure.hpp"
#include "tools/tune/host_space.hpp"
#include "tools/tune/one.hpp"
#include "tools/tune/record.hpp"
#include "tools/tune/result.hpp"
#include "tools/tune/trial.hpp"

namespace chol::tune {
namespace {

struct Options {
  Scope scope;
  std::string output, device = "all", figure, open;
  std::vector<std::string> trial;
  int threads = 1;
  double milliseconds = 0;
  bool report = false, device_trials = false, built_only = false, one_trials = false;
  OneOptions one;
  bool is_one = false;
};

std::string library_version() {
  int part[3] = {0, 0, 0};
  chol_version(&part[0], &part[1], &part[2]);
  return std::to_string(part[0]) + '.' + std::to_string(part[1]) + '.' + std::to_string(part[2]);
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

/// Successive halving (Jamieson, Talwalkar 2016): all plans get a short trial, the faster half a
/// trial of twice the length, until one is left.
class Search {
 public:
  /// @param seconds of the first trials.
  Search(Journal& journal, Space& space, double seconds)
      : journal_(journal), space_(space), seconds_(seconds) {}

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
                   text_of(all[i]).c_str(), text_of(winner(space_, journal_, all[i])).c_str());
    }
  }

 private:
  /// Whether anything was measured.
  bool settle(const Point& point) {
    std::vector<Choice> left = space_.candidates(point);
    bool measured = false;
    for (int round = 0;; ++round) {
      std::vector<std::pair<double, Choice>> ranking;
      for (const Choice& choice : left) {
        double rate = journal_.rate_of(point, choice, round);
        if (rate < 0) {
          rate = space_.rate(point, choice, seconds_ * (1 << round));
          journal_.add(point, choice, round, rate);
          measured = true;
        }
        if (rate > 0) ranking.emplace_back(rate, choice);
      }
      if (ranking.size() <= 1) return measured;
      std::stable_sort(ranking.begin(), ranking.end(),
                       [](const auto& a, const auto& b) { return a.first > b.first; });
      left.clear();
      for (size_t i = 0; i < (ranking.size() + 1) / 2; ++i) left.push_back(ranking[i].second);
    }
  }

  Journal& journal_;
  Space& space_;
  double seconds_;
};

/// The child's side of a trial on the host.
int run_trial(const std::vector<std::string>& words) {
  for (const Routine routine : {Routine::potrf, Routine::potrs, Routine::posv, Routine::potri})
    if (words.at(0) == routine_name(routine)) {
      const Point point{routine, words.at(1).at(0), std::stoll(words.at(2))};
      std::printf("%.6g\n", time_point(point, std::stod(words.at(3)), std::stoi(words.at(4))));
      return 0;
    }
  return 1;
}

/// Measures one backend and writes its rows, or prints the report.
/// @param records receives the data of the figure.
void run_space(const Options& o, Space& space, const std::vector<Point>& all, double seconds,
               std::ostream& records) {
  const std::string version = library_version();
  Journal journal(o.output + ".journal", space.machine(), version);
  if (journal.skipped() > 0)
    std::fprintf(stderr, "%s.journal: %d lines are not trials and are ignored\n", o.output.c_str(),
                 journal.skipped());
  if (journal.known() > 0) std::fprintf(stderr, "%zu earlier trials are reused\n", journal.known());
  if (o.report) {
    print_report(std::cout, space, journal, all);
    write_records(records, space, journal, all);
    return;
  }
  Search(journal, space, seconds).run(all);
  write_tuning_file(o.output, space, version, journal, all);
  std::cout << o.output << ": plans of " << space.machine() << '\n';
}

/// Trials must be longer than the clock's resolution and the disturbance of a starting process.
constexpr double kHostMilliseconds = 20, kDeviceMilliseconds = 4;

/// The backends that the options name and the machine has.
std::vector<std::pair<std::unique_ptr<Space>, double>> spaces_of(const Options& o) {
  const auto seconds = [&](double own) {
    return 1e-3 * (o.milliseconds > 0 ? o.milliseconds : own);
  };
  std::vector<std::pair<std::unique_ptr<Space>, double>> spaces;
  if (o.device != "host" && (o.device == "cuda" || device::present())) {
    const bool compiled = !o.scope.quick && !o.built_only;
    try {
      spaces.emplace_back(std::make_unique<DeviceSpace>(compiled), seconds(kDeviceMilliseconds));
    } catch (const std::exception& error) {
      if (o.device == "cuda") throw;
      std::fprintf(stderr, "the host only: %s\n", error.what());
    }
  }
  if (o.device != "cuda")
    spaces.emplace_back(std::make_unique<HostSpace>(o.threads), seconds(kHostMilliseconds));
  return spaces;
}

int run(Options& o) {
  if (!o.trial.empty()) return run_trial(o.trial);
  if (o.device_trials) return serve_device_trials();
  if (o.one_trials) return serve_one_trials();
  if (!o.open.empty()) {
    backend_name(o.open == "cuda" ? CHOL_BACKEND_CUDA : CHOL_BACKEND_HOST);
    return 0;
  }
  // The rows of an earlier tuning file must not influence the trials.
  unsetenv("CHOL_TUNING");
  std::signal(SIGPIPE, SIG_IGN);  // the end of a child is detected when its answer is read
  if (o.is_one) return tune_one(o.one);
  if (o.output.empty()) o.output = user_file();
  bool any = false;
  std::ostringstream records;
  records << kRecordColumns;
  for (const auto& [space, seconds] : spaces_of(o)) {
    const std::vector<Point> all = space->points(o.scope);
    if (all.empty()) continue;
    run_space(o, *space, all, seconds, records);
    any = true;
  }
  if (!any) throw std::invalid_argument("no such routine: " + o.scope.routines);
  if (!o.figure.empty()) write_figure(o.figure, records.str());
  return 0;
}

}  // namespace
}  // namespace chol::tune

int main(int argc, char** argv) {
  CLI::App app{"Measures plans on this machine and writes the fastest into a tuning file."};
  chol::tune::Options o;
  app.add_option("--device", o.device, "host, cuda, or all that are available (default)")
      ->check(CLI::IsMember({"host", "cuda", "all"}));
  app.add_flag("--quick", o.scope.quick, "a few orders only, on a device the built kernels only");
  app.add_flag("--built-only", o.built_only, "on a device compile nothing");
  CLI::Option* report =
      app.add_option(
             "--report", o.figure,
             "print what is known so far and measure nothing; with a FILE that ends in .svg "
             "or .png draw it too, with .csv write it as a table")
          ->expected(0, 1)
          ->check(chol::tune::reason_against, "[FILE]");
  app.add_option("--output", o.output, "tuning file (default: the user's own)");
  app.add_option("--routines", o.scope.routines, "potrf,potrs,posv,potri or all");
  app.add_option("--forms", o.scope.forms, "one,batch,interleaved or all")
      ->check([](const std::string& list) {
        std::istringstream forms(list);
        for (std::string form; std::getline(forms, form, ',');)
          if (form != "one" && form != "batch" && form != "interleaved" && form != "all")
            return "no such form: " + form;
        return std::string();
      });
  app.add_option("--precisions", o.scope.precisions, "some of sdcz");
  app.add_option(
         "--orders", o.scope.orders,
         "ascending, with commas between (default: a few dozen); above 1024 of form one only")
      ->delimiter(',')
      ->check(CLI::Range(1, 65536));
  app.add_option("--threads", o.threads, "host threads")->check(CLI::Range(1, 4096));
  app.add_option("--trial-ms", o.milliseconds, "length of the shortest trials")
      ->check(CLI::Range(0.1, 10000.0));
  app.add_option("--trial", o.trial)->expected(5)->group("");
  app.add_flag("--device-trials", o.device_trials)->group("");
  app.add_option("--open", o.open)->group("");
  app.add_flag("--one-trials", o.one_trials)->group("");
  CLI::App* one = app.add_subcommand(
      "one", "how far the tiles of one matrix on the host are from the fastest, by trying all");
  chol::tune::OneOptions& of_one = o.one;
  one->add_option("--orders", of_one.orders, "with commas between")
      ->delimiter(',')
      ->check(CLI::Range(64, 65536));
  one->add_option("--threads", of_one.threads, "with commas between (default: 1, 2, 4, ...)")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096));
  one->add_option("--precisions", of_one.precisions, "some of sdcz (default: d)");
  one->add_option("--trial-ms", of_one.milliseconds, "length of a trial")
      ->check(CLI::Range(0.1, 10000.0));
  one->add_option("--rounds", of_one.rounds, "turns of every size")->check(CLI::Range(1, 1000));
  one->add_option("--report", of_one.figure, "a file .svg or .png to draw, or .csv")
      ->check(chol::tune::reason_against, "FILE");
  one->add_option("--output", of_one.output,
                  "tuning file that gets the rates of core and memory that were measured");
  CLI11_PARSE(app, argc, argv);
  o.is_one = one->parsed();
  o.report = report->count() > 0;
  try {
    const std::vector<int64_t>& orders = o.scope.orders;
    if (std::adjacent_find(orders.begin(), orders.end(), std::greater_equal<>()) != orders.end())
      throw std::invalid_argument("the orders do not ascend");
    return chol::tune::run(o);
  } catch (const std::exception& error) {
    std::cerr << "chol-tune: " << error.what() << '\n';
    return 2;
  }
}
