#include "tools/tune/one.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "base/precisions.h"
#include "base/scalar.hpp"
#include "host/methods.hpp"
#include "host/rows.hpp"
#include "host/single/tile_size.hpp"
#include "tools/tune/child.hpp"
#include "tools/tune/figure.hpp"
#include "tools/tune/record.hpp"
#include "tools/tune/trial.hpp"
#include "tune/file_version.hpp"

namespace chol::tune {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

template <class T>
struct Potrf;
#define CHOL_TUNE_POTRF(p, T, R)                  \
  template <>                                     \
  struct Potrf<T> {                               \
    static constexpr auto call = chol_##p##potrf; \
  };
CHOL_FOR_EACH_PRECISION(CHOL_TUNE_POTRF)
#undef CHOL_TUNE_POTRF

double flops_of_potrf(char precision, int64_t n) {
  const double order = static_cast<double>(n);
  return order * order * order / 3 * (precision == 'c' || precision == 'z' ? 4 : 1);
}

/// The CPU time of this thread, for calls on one thread, so that other processes do not disturb.
double seconds_of_thread() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Gflop/s: the median of the calls in that time, on a diagonally dominant matrix.
template <class T>
double time_potrf(chol_handle_t handle, char precision, int64_t n, int threads, double seconds) {
  std::vector<T> start(static_cast<size_t>(n * n));
  uint32_t state = 1;
  for (T& x : start)
    x = T(static_cast<RealOf<T>>((state = state * 1664525u + 1013904223u) >> 8) / (1 << 24));
  for (int64_t i = 0; i < n; ++i) start[static_cast<size_t>(i * (n + 1))] = T(RealOf<T>(n));
  std::vector<T> A;
  std::vector<double> times;
  for (double total = 0; total < seconds || times.size() < 3;) {
    A = start;
    int info = -1;
    const auto begin = Clock::now();
    const double own = seconds_of_thread();
    if (Potrf<T>::call(handle, CHOL_LOWER, n, A.data(), n, &info) != CHOL_STATUS_SUCCESS ||
        info != 0)
      return 0;
    times.push_back(threads == 1 ? seconds_of_thread() - own : seconds_since(begin));
    total += times.back();
  }
  return flops_of_potrf(precision, n) / median(times) * 1e-9;
}

/// Gbyte/s of a triad on all cores.
double memory_gbytes(int threads) {
  constexpr size_t kEach = size_t{4} << 20;
  std::vector<std::vector<double>> a(threads), b(threads), c(threads);
  const auto on_all = [&](const auto& body) {
    std::vector<std::thread> team;
    team.reserve(static_cast<size_t>(threads));
    for (int t = 0; t < threads; ++t) team.emplace_back([&, t] { body(t); });
    for (std::thread& thread : team) thread.join();
  };
  on_all([&](int t) {
    a[t].assign(kEach, 1);
    b[t].assign(kEach, 2);
    c[t].assign(kEach, 3);
  });
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    const auto start = Clock::now();
    on_all([&](int t) {
      for (size_t i = 0; i < kEach; ++i) a[t][i] = b[t][i] + 0.5 * c[t][i];
    });
    best = std::max(best, 32.0 * kEach * threads / seconds_since(start) * 1e-9);
  }
  return best;
}

/// One process for each tile size, all at the same time, measured in turns.
class Sizes {
 public:
  explicit Sizes(std::string machine) : machine_(std::move(machine)) {}
  double rate(int nb, char precision, int64_t n, int threads, double seconds) {
    Child& child = child_of(nb, precision);
    std::string line;
    if (!child.write_line(std::string(1, precision) + ' ' + std::to_string(n) + ' ' +
                          std::to_string(threads) + ' ' + std::to_string(seconds)) ||
        !child.read_line(line, kLongestTrial))
      throw std::runtime_error("a trial of tiles of " + std::to_string(nb) + " ended");
    return std::strtod(line.c_str(), nullptr);
  }

 private:
  Child& child_of(int nb, char precision) {
    std::unique_ptr<Child>& child = children_[{precision, nb}];
    if (!child) {
      TemporaryFile& file = *files_.emplace_back(std::make_unique<TemporaryFile>());
      file.write(tuning_text(machine_, {Routine::potrf, precision, INT64_MAX, Form::one},
                             Choice(host::kTiles, {{"nb", nb}})));
      child = std::make_unique<Child>(file.path(), std::vector<std::string>{"--one-trials"});
    }
    return *child;
  }

  std::string machine_;
  std::vector<std::unique_ptr<TemporaryFile>> files_;
  std::map<std::pair<char, int>, std::unique_ptr<Child>> children_;
};

/// The published cost model of IA-Chol, for comparison: the maximum of data exchange (an LRU cache,
/// tiles reused by Zipf's law) and computation, a scheduling cost, and the squared distance from a
/// size derived from peak and cache.
double published_cost(const host::TileMachine& machine, int64_t n, int threads, int nb) {
  constexpr double kBeta = 1e-6, kGamma = 0.05;
  const double order = static_cast<double>(n), tiles = std::ceil(order / nb);
  const double tasks = tiles * tiles * tiles / 6 + tiles * tiles;
  const double tile_bytes = static_cast<double>(nb) * nb * machine.element_bytes;
  const double cached = threads * machine.cache_bytes / tile_bytes, distinct = tiles * tiles / 2;
  const double hits = std::min(1.0, std::log(cached + 1) / std::log(distinct + 1));
  const double exchange = 3 * tasks * (1 - hits) * tile_bytes / (machine.memory_gbytes * 1e9);
  const double peak = threads * machine.core_gflops;
  const double computation = order * order * order / 6 * machine.flops_of_product / (peak * 1e9);
  const double cache = threads * machine.cache_bytes / (1 << 20);
  const double distance = nb - 1.9 * peak / cache;
  return std::max(exchange, computation) + kBeta * threads * std::log(tasks) +
         kGamma * distance * distance;
}

struct Case {
  char precision;
  int threads;
  int64_t n;
  std::vector<int> sizes;
  std::vector<double> rates;  ///< a size each
};

Case measure(Sizes& sizes, const OneOptions& o, char precision, int threads, int64_t n) {
  Case c{precision, threads, n, host::tile_candidates(n), {}};
  std::vector<std::vector<double>> of_rounds(c.sizes.size());
  for (int round = 0; round < o.rounds; ++round)
    for (size_t i = 0; i < c.sizes.size(); ++i)
      of_rounds[i].push_back(sizes.rate(c.sizes[i], precision, n, threads, o.milliseconds * 1e-3));
  for (std::vector<double>& rates : of_rounds) c.rates.push_back(median(rates));
  return c;
}

double rate_of(const Case& c, int nb) {
  return c
      .rates[static_cast<size_t>(std::find(c.sizes.begin(), c.sizes.end(), nb) - c.sizes.begin())];
}
double best_rate(const Case& c) { return *std::max_element(c.rates.begin(), c.rates.end()); }

void write_case(std::ostream& out, const std::string& machine, const Case& c, int chosen) {
  const double best = best_rate(c);
  for (size_t i = 0; i < c.sizes.size(); ++i)
    out << '"' << machine << "\",potrf,one on " << c.threads << " threads," << c.precision << ','
        << c.n << ",tiles nb " << c.sizes[i] << ",tiles,timed,1," << c.rates[i] << ','
        << c.rates[i] / best << ',' << (c.rates[i] == best) << ',' << (c.sizes[i] == chosen)
        << '\n';
}

/// Replaces the core rows of a tuning file.
void write_cores(const std::string& path, const std::string& machine,
                 const std::vector<CoreRow>& cores) {
  using Json = nlohmann::json;
  Json document = Json::object();
  if (std::ifstream file(path); file) document = Json::parse(file);
  document["version"] = kTuningFileVersion;
  Json& machines = document["machines"];
  if (!machines.is_object()) machines = Json::object();
  Json rows = Json::array();
  for (const Json& row : machines.value(machine, Json::array()))
    if (std::none_of(cores.begin(), cores.end(), [&](const CoreRow& core) {
          return row.contains("core_gflops") &&
                 row.value("precision", "") == std::string(1, core.precision);
        }))
      rows.push_back(row);
  for (const CoreRow& core : cores)
    rows.push_back({{"precision", std::string(1, core.precision)},
                    {"core_gflops", core.core_gflops},
                    {"memory_gbytes", core.memory_gbytes}});
  machines[machine] = rows;
  std::ofstream file(path);
  file << document.dump(2) << '\n';
  file.close();
  if (!file) throw std::runtime_error(path + ": cannot be written");
}

host::TileMachine machine_of(const CoreRow& core) {
  const bool is_complex = core.precision == 'c' || core.precision == 'z';
  const size_t real = core.precision == 's' || core.precision == 'c' ? 4 : 8;
  return host::tile_machine(core.core_gflops, core.memory_gbytes, real * (1 + is_complex),
                            is_complex);
}

void print_regrets(const char* what, std::vector<double> regrets) {
  const double worst = *std::max_element(regrets.begin(), regrets.end());
  std::printf("%s: median regret %.1f %%, largest %.1f %%\n", what, 100 * median(regrets),
              100 * worst);
}

}  // namespace

int tune_one(const OneOptions& o) {
  const std::string machine = backend_name(CHOL_BACKEND_HOST);
  std::vector<int> threads = o.threads;
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  for (int t = 1; o.threads.empty() && t <= std::max(1, cores); t *= 2) threads.push_back(t);
  const double gbytes = memory_gbytes(std::max(1, cores));
  Sizes sizes(machine);
  std::ostringstream records;
  records << kRecordColumns;
  std::vector<CoreRow> rows;
  std::vector<double> regrets, published;
  for (const char precision : o.precisions) {
    // Large matrices on one core, where products dominate.
    const double rate = sizes.rate(192, precision, 1536, 1, 10 * o.milliseconds * 1e-3);
    rows.push_back({precision, rate / 0.93, gbytes});
    const host::TileMachine m = machine_of(rows.back());
    std::printf("%s %c: %.1f Gflop/s of a core, %.1f Gbyte/s\n", machine.c_str(), precision,
                m.core_gflops, m.memory_gbytes);
    for (const int t : threads)
      for (const int64_t n : o.orders) {
        const Case c = measure(sizes, o, precision, t, n);
        const int chosen = host::choose_tile(m, n, t);
        const int paper = *std::min_element(c.sizes.begin(), c.sizes.end(), [&](int a, int b) {
          return published_cost(m, n, t, a) < published_cost(m, n, t, b);
        });
        const double best = best_rate(c);
        regrets.push_back(1 - rate_of(c, chosen) / best);
        published.push_back(1 - rate_of(c, paper) / best);
        const auto fastest = std::max_element(c.rates.begin(), c.rates.end()) - c.rates.begin();
        std::printf(
            "%c n %6lld threads %2d: fastest %4d %8.1f Gflop/s, model %4d %5.1f %%, "
            "published %4d %5.1f %%\n",
            precision, static_cast<long long>(n), t, c.sizes[static_cast<size_t>(fastest)], best,
            chosen, 100 * rate_of(c, chosen) / best, paper, 100 * rate_of(c, paper) / best);
        std::fflush(stdout);
        write_case(records, machine, c, chosen);
      }
  }
  print_regrets("model", regrets);
  print_regrets("published model", published);
  if (!o.output.empty()) write_cores(o.output, machine, rows);
  if (!o.figure.empty()) write_figure(o.figure, records.str());
  return 0;
}

int serve_one_trials() {
  chol_handle_t handle = nullptr;
  if (chol_create_on(&handle, CHOL_BACKEND_HOST, 0, nullptr) != CHOL_STATUS_SUCCESS) return 1;
  char precision;
  int64_t n;
  int threads;
  double seconds;
  while (std::cin >> precision >> n >> threads >> seconds) {
    chol_set_num_threads(handle, threads);
    double rate = 0;
    if (precision == 's') rate = time_potrf<float>(handle, precision, n, threads, seconds);
    if (precision == 'd') rate = time_potrf<double>(handle, precision, n, threads, seconds);
    if (precision == 'c')
      rate = time_potrf<std::complex<float>>(handle, precision, n, threads, seconds);
    if (precision == 'z')
      rate = time_potrf<std::complex<double>>(handle, precision, n, threads, seconds);
    std::cout << rate << std::endl;
  }
  chol_destroy(handle);
  return 0;
}

}  // namespace chol::tune
