// chol-bench-cores: one matrix on many cores. potrf, potrs and potri of chol and of a BLAS with
// threads, each in a separate process that is stopped while another one runs, since idle threads of
// a BLAS spin. Rounds in turns, medians of ratios; the BLAS with its best number of threads. First
// the limits of the cores: multiply-adds in registers and products, on one core and on all
// concurrently, and the product of the BLAS on all. They bound the rate of any factorization.
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cores_timer.hpp"

namespace chol::bench {
namespace {

/// A contestant's process: lines of work in, seconds out.
int serve(const std::string& kind, const std::string& path) {
  Timer timer(kind, path);
  std::string line;
  while (std::getline(std::cin, line)) {
    double seconds = -1;
    try {
      seconds = timer.time(Work::of(line));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", path.c_str(), error.what());
    }
    std::printf("%.9g\n", seconds);
    std::fflush(stdout);
  }
  return 0;
}

class Contestant {
 public:
  Contestant(const std::string& kind, const std::string& path,
             const std::vector<std::string>& environment) {
    static const char* const self = "/proc/self/exe";
    int to[2], from[2];
    if (pipe2(to, 0) != 0 || pipe2(from, 0) != 0) throw std::runtime_error("no pipe");
    process_ = fork();
    if (process_ == 0) {
      dup2(to[0], STDIN_FILENO);
      dup2(from[1], STDOUT_FILENO);
      for (const int end : {to[0], to[1], from[0], from[1]}) close(end);
      for (const std::string& entry : environment) putenv(strdup(entry.c_str()));
      execl(self, self, "--serve", kind.c_str(), "--path", path.c_str(), nullptr);
      _exit(127);
    }
    close(to[0]);
    close(from[1]);
    to_ = fdopen(to[1], "w");
    from_ = fdopen(from[0], "r");
    kill(process_, SIGSTOP);
  }
  Contestant(const Contestant&) = delete;
  ~Contestant() {
    std::fclose(to_);  // it exits by itself and writes its trace, if requested
    kill(process_, SIGCONT);
    waitpid(process_, nullptr, 0);
  }
  double seconds(const Work& work) {
    std::fputs(work.line().c_str(), to_);
    std::fflush(to_);
    kill(process_, SIGCONT);
    char text[64] = "-1";
    if (!std::fgets(text, sizeof text, from_)) throw std::runtime_error("a process ended");
    kill(process_, SIGSTOP);
    return std::strtod(text, nullptr);
  }
  double gflops(const Work& work) { return work.flops() / seconds(work) * 1e-9; }

 private:
  pid_t process_;
  std::FILE *to_, *from_;
};

struct Options {
  std::vector<std::string> libraries = {"libchol.so.0"};
  std::string blas = "libopenblas.so.0", serve, path;
  std::vector<std::string> cases, chol_environment, blas_environment;
  std::vector<int> threads, blas_threads;
  int rounds = 5;
  double milliseconds = 60, limit_seconds = 1e9;
  bool ceilings = false, cpu_time = false;
};

void print_ceilings(Contestant& chol, Contestant& blas, int cores) {
  std::printf("ceiling,precision,n,threads,gflops,of_all_cores\n");
  std::map<std::string, double> one;
  const auto line = [&](const std::string& name, char p, int n, int threads, double gflops) {
    const std::string key = name + p + std::to_string(n);
    if (threads == 1) one[key] = gflops;
    std::printf("%s,%c,%d,%d,%.1f,%.3f\n", name.c_str(), p, n, threads, gflops,
                gflops / (one[key] * threads));
    std::fflush(stdout);
  };
  for (int t = 1; t <= cores; t *= 2)
    line("registers", 'd', 0, t, chol.seconds({"peak", 'd', 0, 0, t}));
  for (const char p : {'d', 's'}) {
    for (const int n : {1000, 2000})
      for (int t = 1; t <= cores; t *= cores > 4 ? 4 : 2)
        line("blas_products_side_by_side", p, n, t, blas.gflops({"many-gemm", p, n, 0, t}));
    for (int t = 1; t <= cores; t *= 4)
      line("chol_potrf_side_by_side", p, 1000, t, chol.gflops({"many-potrf", p, 1000, 0, t}));
    line("blas_product", p, 4000, 1, blas.gflops({"gemm", p, 4000, 0, 1}));
    line("blas_product", p, 4000, cores, blas.gflops({"gemm", p, 4000, 0, cores}));
  }
}

/// "dpotrs:4000:100"
Work work_of(const std::string& text) {
  Work work;
  work.precision = text.at(0);
  const size_t colon = text.find(':');
  work.what = text.substr(1, colon - 1);
  if (std::sscanf(text.c_str() + colon, ":%d:%d", &work.n, &work.nrhs) < 1)
    throw std::runtime_error(text + " is not like dpotrs:4000:100");
  return work;
}

/// New processes in each round, since times differ by a tenth between processes.
class Contest {
 public:
  explicit Contest(const Options& options) : options_(options) {}
  void run() {
    const Clock::time_point start = Clock::now();
    if (options_.ceilings && !options_.blas.empty())
      print_ceilings(*contestant(0), *blas(), options_.threads.back());
    std::printf(
        "function,n,nrhs,threads,library,ms,gflops,blas_ms,blas_threads,over_first,over_blas,least,"
        "most\n");
    for (const std::string& text : options_.cases)
      for (const int threads : options_.threads) {
        if (seconds_since(start) > options_.limit_seconds) return;
        Work work = work_of(text);
        work.threads = threads;
        work.milliseconds = options_.milliseconds;
        work.cpu_time = options_.cpu_time;
        run_case(text, work);
      }
  }

 private:
  std::unique_ptr<Contestant> contestant(size_t i) const {
    return std::make_unique<Contestant>("chol", options_.libraries.at(i),
                                        options_.chol_environment);
  }
  std::unique_ptr<Contestant> blas() const {
    return std::make_unique<Contestant>("blas", options_.blas, options_.blas_environment);
  }
  void run_case(const std::string& text, const Work& work) const {
    std::vector<std::vector<double>> own(options_.libraries.size());
    std::map<int, std::vector<double>> peer;
    for (int round = 0; round < options_.rounds; ++round) {
      // Rotate which one is first.
      for (size_t i = 0; i < own.size(); ++i) {
        const size_t turn = (i + static_cast<size_t>(round)) % own.size();
        own[turn].push_back(contestant(turn)->seconds(work));
      }
      if (options_.blas.empty()) continue;
      const std::unique_ptr<Contestant> of_blas = blas();
      for (const int threads : options_.blas_threads) {
        Work other = work;
        other.threads = threads;
        // Much slower contestants are measured in the first round only.
        if (round > 0 && peer[threads][0] > 1.5 * least_first(peer)) continue;
        peer[threads].push_back(of_blas->seconds(other));
      }
    }
    report(text, work, own, peer);
  }
  static double least_first(const std::map<int, std::vector<double>>& peer) {
    double least = 1e30;
    for (const auto& [threads, times] : peer) least = std::min(least, times.at(0));
    return least;
  }
  static std::vector<double> ratios(const std::vector<double>& of, const std::vector<double>& to) {
    std::vector<double> all;
    for (size_t i = 0; i < std::min(of.size(), to.size()); ++i) all.push_back(of[i] / to[i]);
    return all;
  }
  /// A line a library; of the BLAS the number of threads with the least median.
  void report(const std::string& text, const Work& work,
              const std::vector<std::vector<double>>& own,
              const std::map<int, std::vector<double>>& peer) const {
    double blas_seconds = 0;
    int blas_threads = 0;
    for (const auto& [threads, times] : peer)
      if (const double seconds = median(times); blas_threads == 0 || seconds < blas_seconds) {
        blas_seconds = seconds;
        blas_threads = threads;
      }
    for (size_t i = 0; i < own.size(); ++i) {
      const std::string& path = options_.libraries[i];
      const std::vector<double> over_blas =
          blas_threads ? ratios(peer.at(blas_threads), own[i]) : std::vector<double>{0};
      const double milliseconds = median(own[i]) * 1e3;
      std::printf("%s,%d,%d,%d,%s,%.4f,%.1f,%.4f,%d,%.3f,%.3f,%.3f,%.3f\n",
                  text.substr(0, text.find(':')).c_str(), work.n, work.nrhs, work.threads,
                  path.substr(path.rfind('/') + 1).c_str(), milliseconds,
                  work.flops() / milliseconds * 1e-6, blas_seconds * 1e3, blas_threads,
                  median(ratios(own[0], own[i])), median(over_blas),
                  *std::min_element(over_blas.begin(), over_blas.end()),
                  *std::max_element(over_blas.begin(), over_blas.end()));
    }
    std::fflush(stdout);
  }

  const Options& options_;
};

}  // namespace
}  // namespace chol::bench

int main(int argc, char** argv) {
  using namespace chol::bench;
  Options options;
  CLI::App app{"Times one matrix on many cores and of a threaded BLAS."};
  app.add_option("cases", options.cases, "such as dpotrf:1000 dpotrs:4000:100 spotri:2000");
  app.add_option("--library", options.libraries, "libchols to time, with commas between")
      ->delimiter(',');
  app.add_option("--blas", options.blas, "the BLAS with LAPACK; empty: none");
  app.add_option("--chol-environment", options.chol_environment, "such as CHOL_HOST_ISA=avx2");
  app.add_option("--blas-environment", options.blas_environment,
                 "such as OPENBLAS_CORETYPE=SkylakeX");
  app.add_option("--threads", options.threads, "of chol")->delimiter(',');
  app.add_option("--blas-threads", options.blas_threads, "of the BLAS, the best counts")
      ->delimiter(',');
  app.add_option("--rounds", options.rounds, "times that the contestants take turns");
  app.add_option("--milliseconds", options.milliseconds, "calls of a round take so long");
  app.add_option("--limit-seconds", options.limit_seconds, "no case begins later");
  app.add_flag("--cpu-time", options.cpu_time,
               "calls of one thread by its CPU time, on a machine that others use");
  app.add_flag("--ceilings", options.ceilings, "measure the limits of the cores first");
  app.add_option("--serve", options.serve)->group("");
  app.add_option("--path", options.path)->group("");
  CLI11_PARSE(app, argc, argv);
  try {
    if (!options.serve.empty()) return serve(options.serve, options.path);
    if (options.threads.empty())
      options.threads = {static_cast<int>(std::thread::hardware_concurrency())};
    if (options.blas_threads.empty()) options.blas_threads = options.threads;
    Contest(options).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
