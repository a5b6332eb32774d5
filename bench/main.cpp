// chol-bench: times chol and its peers, one case or a suite.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <regex>
#include <thread>

#include "ceilings.hpp"
#include "contest.hpp"
#include "load.hpp"
#include "report.hpp"
#include "suite.hpp"

namespace chol::bench {
namespace {

struct Options {
  std::string function, suite, select, csv, commit, against;
  std::vector<std::string> peers, bars_of;
  std::string uplo = "L";
  Case c;
  std::vector<int> threads;
  Places places;
  Settings settings;
  int retries = 0;
  bool quick = false, list = false, no_ceilings = false, warm = false;
};

void declare(CLI::App& app, Options& o) {
  app.add_option("--function", o.function, "replay this function, as the library's trace names it");
  app.add_option("--uplo", o.uplo, "L or U")->check(CLI::IsMember({"L", "U"}));
  app.add_option("--n", o.c.n, "order; of a variable batch the largest (orders uniform in 1..n)");
  app.add_option("--nrhs", o.c.nrhs, "right-hand sides");
  app.add_option("--lda", o.c.lda, "leading dimension, 0 for n");
  app.add_option("--chunk", o.c.chunk, "matrices of a chunk of an interleaved batch");
  app.add_option("--batch", o.c.batch, "matrices");
  app.add_option("--suite", o.suite, "run a suite: host, smoke")
      ->check(CLI::IsMember(suite_names()));
  app.add_flag("--quick", o.quick, "the most important cases of the suite only");
  app.add_option("--select", o.select,
                 "only cases whose bar or text matches this regular expression");
  app.add_flag("--list", o.list, "list the cases and exit");
  app.add_option("--threads", o.threads,
                 "thread counts, such as 1,2 (default: all and, in suites, 1)")
      ->delimiter(',');
  app.add_option("--peers", o.peers, "only these peers")->delimiter(',');
  app.add_option("--rounds", o.settings.rounds, "rounds in which chol and the peers alternate")
      ->check(CLI::Range(1, 1000));
  app.add_option("--repetitions", o.settings.repetitions,
                 "timed calls a round, 0 for as many as fit into --round-ms")
      ->check(CLI::Range(0, 64));
  double ms = o.settings.round_seconds * 1e3;
  app.add_option_function<double>(
      "--round-ms", [&o](double value) { o.settings.round_seconds = value * 1e-3; },
      "time a round and contestant may take (default " + std::to_string(static_cast<int>(ms)) +
          ")");
  app.add_flag("--cpu-time", o.settings.cpu_time,
               "time cases of one thread in CPU time, for a shared machine");
  app.add_option("--retries", o.retries,
                 "repetitions of a case while others use more than 5 % of the machine");
  app.add_flag("--warm", o.warm, "do not flush the caches after restoring the input of a batch");
  app.add_option("--hopeless", o.settings.hopeless,
                 "a peer this many times slower than the best peer is timed once only");
  app.add_option("--library", o.places.chol, "the libchol to time");
  app.add_option("--against", o.against, "another libchol to compare with");
  app.add_option("--mkl", o.places.mkl, "folder that holds libmkl_rt.so")
      ->envname("CHOL_BENCH_MKL");
  app.add_option("--csv", o.csv, "append the results to this file");
  app.add_option("--commit", o.commit, "commit in the CSV (default: from git)");
  app.add_flag("--no-ceilings", o.no_ceilings, "do not measure bandwidth and matrix products");
  app.add_option("--bars", o.bars_of,
                 "print the evaluation of the bars from these CSV files and exit");
}

std::string git_commit() {
  const std::string command = std::string("git -C '") + CHOL_BENCH_SOURCE +
                              "' describe --always --dirty --exclude '*' 2>/dev/null";
  char text[64] = {};
  if (FILE* pipe = popen(command.c_str(), "r")) {
    if (!std::fgets(text, sizeof text, pipe)) text[0] = 0;
    pclose(pipe);
  }
  std::string commit(text);
  while (!commit.empty() && commit.back() == '\n') commit.pop_back();
  return commit.empty() ? "unknown" : commit;
}

std::vector<Contestant> chosen_peers(const Options& o) {
  std::vector<Contestant> here = peers_here(o.places), chosen;
  if (!o.against.empty()) here.push_back(chol_contestant("chol-other", o.against));
  if (o.peers.empty()) return here;
  for (const std::string& name : o.peers) {
    const auto same = [&](const Contestant& peer) { return peer.name == name; };
    const auto found = std::find_if(here.begin(), here.end(), same);
    if (found != here.end())
      chosen.push_back(*found);
    else if (name != "none")
      throw std::runtime_error("peer " + name + " is not here (or has no such name)");
  }
  return chosen;
}

/// "[12/87] 3 min left  chol_dpotrf_batched ..."
class Progress {
 public:
  explicit Progress(const std::vector<SuiteCase>& cases) : count_(cases.size()) {
    for (const SuiteCase& entry : cases) total_ += cost(entry);
  }
  void begin(const SuiteCase& entry) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
    std::fprintf(stderr, "[%zu/%zu] ", ++index_, count_);
    if (done_ > 0) {
      const double left = spent.count() / done_ * (total_ - done_);
      std::fprintf(stderr, "%d:%02d left  ", static_cast<int>(left) / 60,
                   static_cast<int>(left) % 60);
    }
    std::fprintf(stderr, "%s\n", describe(entry.ours).c_str());
    current_ = cost(entry);
  }
  void end() { done_ += current_; }

 private:
  /// Estimated seconds: a case takes the time of its rounds or, when large, of its runs.
  static double cost(const SuiteCase& entry) {
    constexpr double kSmallCase = 2, kRuns = 40, kFlopsPerSecond = 5e10;
    return kSmallCase + kRuns * flops_of(entry.ours) / kFlopsPerSecond;
  }
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  size_t index_ = 0, count_;
  double total_ = 0, done_ = 0, current_ = 0;
};

class Bench {
 public:
  explicit Bench(const Options& options)
      : options_(options),
        peers_(chosen_peers(options)),
        ceilings_(peers_here(options.places)),
        facts_(run_facts(options.commit.empty() ? git_commit() : options.commit)) {}

  void run(const SuiteCase& entry) {
    const Contestant ours = chol_contestant("chol", options_.places.chol);
    std::vector<Side> rivals;
    if (entry.with_itself)
      rivals.push_back({ours, entry.other});
    else
      for (const Contestant& peer : peers_)
        if (may_enter(peer, entry.ours)) rivals.push_back({peer, entry.ours});
    double others = 0;
    const Outcome outcome = least_disturbed({ours, entry.ours}, rivals, others);
    const double roofline = options_.no_ceilings ? 0 : ceilings_.roofline(entry.ours);
    print_outcome(std::cout, outcome, roofline);
    std::cout.flush();
    if (others > kDisturbed)
      std::cout << "  (others used " << std::lround(100 * others) << " % of the machine)\n";
    records_.push_back(record_of(outcome, entry.bar, roofline, others, facts_));
    write(records_.back());
    all_right_ = all_right_ && outcome.ours.timed() && records_.back()["wrong"].empty();
  }

  void finish(bool with_bars) const {
    if (!options_.no_ceilings) std::cout << ceilings_.summary();
    if (with_bars) print_bars(std::cout, records_);
  }
  bool all_right() const { return all_right_; }

 private:
  static constexpr double kDisturbed = 0.05;

  /// Runs the contest, and repeats it while the machine is loaded and retries are left.
  Outcome least_disturbed(const Side& ours, const std::vector<Side>& rivals, double& others) const {
    Outcome kept;
    for (int attempt = 0; attempt <= options_.retries; ++attempt) {
      const LoadMeter load;
      Outcome outcome = hold_contest(ours, rivals, options_.settings);
      const double share = load.others();
      if (attempt == 0 || share < others) {
        kept = std::move(outcome);
        others = share;
      }
      if (others <= kDisturbed) break;
    }
    return kept;
  }

  /// The reference implementation and Eigen's single thread would take minutes on one large matrix
  /// and cannot be the best.
  static bool may_enter(const Contestant& peer, const Case& c) {
    constexpr int64_t kLargeOrder = 1000;
    return c.form != Form::one || c.n <= kLargeOrder || peer.name != "reference";
  }

  void write(const Record& record) const {
    if (options_.csv.empty()) return;
    std::string header;
    std::getline(std::ifstream(options_.csv) >> std::ws, header);
    if (!header.empty() && header != csv_header())
      throw std::runtime_error(options_.csv + ": has other columns than this chol-bench writes");
    std::ofstream file(options_.csv, std::ios::app);
    if (header.empty()) file << csv_header() << '\n';
    file << csv_line(record) << '\n';
    if (!file) throw std::runtime_error(options_.csv + ": cannot be written");
  }

  const Options& options_;
  std::vector<Contestant> peers_;
  Ceilings ceilings_;
  Record facts_;
  std::vector<Record> records_;
  bool all_right_ = true;
};

std::vector<SuiteCase> chosen_cases(Options& o) {
  const int all = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (o.suite.empty()) {
    set_function(o.c, o.function);
    o.c.uplo = o.uplo[0];
    o.c.threads = o.threads.empty() ? all : o.threads[0];
    if (o.c.n < 1 || o.c.batch < 1 || o.c.nrhs < 0)
      throw std::runtime_error("n and batch must be at least 1, nrhs at least 0");
    return {SuiteCase{nullptr, o.c, false, {}, false}};
  }
  if (o.threads.empty()) o.threads = all > 1 ? std::vector<int>{1, all} : std::vector<int>{1};
  const std::regex pattern(o.select);
  std::vector<SuiteCase> chosen;
  for (const SuiteCase& entry : suite_cases(o.suite, o.threads)) {
    const std::string text = std::string(entry.bar->id) + ' ' + describe(entry.ours);
    if ((!o.quick || entry.quick) && std::regex_search(text, pattern)) chosen.push_back(entry);
  }
  return chosen;
}

int run(Options& o) {
  if (!o.bars_of.empty()) {
    std::vector<Record> records;
    for (const std::string& path : o.bars_of)
      for (Record& record : read_csv(path)) records.push_back(std::move(record));
    print_bars(std::cout, records);
    return 0;
  }
  o.settings.cold = !o.warm;
  const std::vector<SuiteCase> cases = chosen_cases(o);
  if (o.list) {
    for (const SuiteCase& entry : cases)
      std::cout << (entry.bar ? entry.bar->id : "replay") << ": " << describe(entry.ours) << '\n';
    return 0;
  }
  Bench bench(o);
  Progress progress(cases);
  for (const SuiteCase& entry : cases) {
    progress.begin(entry);
    bench.run(entry);
    progress.end();
  }
  bench.finish(o.suite == "host");
  return bench.all_right() ? 0 : 1;
}

}  // namespace
}  // namespace chol::bench

int main(int argc, char** argv) {
  CLI::App app{"Times chol and the LAPACKs of this machine on the same input in the same run."};
  chol::bench::Options options;
  chol::bench::declare(app, options);
  CLI11_PARSE(app, argc, argv);
  if (options.function.empty() && options.suite.empty() && options.bars_of.empty()) {
    std::cerr << "name what to run: --function, --suite or --bars (see --help)\n";
    return 2;
  }
  try {
    return chol::bench::run(options);
  } catch (const std::exception& error) {
    std::cerr << "chol-bench: " << error.what() << '\n';
    return 2;
  }
}
