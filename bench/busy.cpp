// chol-bench-busy: potrf of one matrix on cores that other threads use, too. Calls of one thread
// and of all threads alternate, concurrently with as many busy threads that spin or yield; or calls
// start in the millisecond after a product of a threaded BLAS, whose idle threads still spin. One
// line a case: median rates in Gflop/s, and ratios of one thread's time over that of all: of
// medians, of 95th percentiles and of means. A call that loses a core takes some milliseconds
// longer; if about 5 % do, the 95th percentile is long or short by chance. The last column shows
// that effect: the ratio of the 95th percentiles of two halves (every other call) of the calls of
// one thread.
#include <dlfcn.h>
#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "chol.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

template <class Function>
Function* find(void* library, const char* name) {
  auto* const found = reinterpret_cast<Function*>(dlsym(library, name));
  if (!found) throw std::runtime_error(std::string(name) + " is not there");
  return found;
}

void* open_library(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  return library;
}

class Library {
 public:
  Library(std::string name, const std::string& path) : name_(std::move(name)) {
    void* const library = open_library(path);
    set_threads_ = find<decltype(chol_set_num_threads)>(library, "chol_set_num_threads");
    potrf_ = find<decltype(chol_dpotrf)>(library, "chol_dpotrf");
    auto* const create = find<decltype(chol_create_on)>(library, "chol_create_on");
    if (create(&handle_, CHOL_BACKEND_HOST, 0, nullptr) != CHOL_STATUS_SUCCESS)
      throw std::runtime_error("chol_create_on failed");
  }
  const std::string& name() const { return name_; }
  /// Seconds of one factorization of W.
  double potrf(int threads, int64_t n, double* W) const {
    int info = -1;
    set_threads_(handle_, threads);
    const Clock::time_point start = Clock::now();
    if (potrf_(handle_, CHOL_LOWER, n, W, n, &info) != CHOL_STATUS_SUCCESS || info != 0)
      throw std::runtime_error("potrf failed");
    return seconds_since(start);
  }

 private:
  std::string name_;
  decltype(&chol_set_num_threads) set_threads_;
  decltype(&chol_dpotrf) potrf_;
  chol_handle_t handle_ = nullptr;
};

/// Busy threads, in place of other programs.
class Busy {
 public:
  Busy(int threads, bool yield) {
    for (int t = 0; t < threads; ++t)
      threads_.emplace_back([this, yield] {
        while (!stop_.load(std::memory_order_relaxed))
          if (yield) sched_yield();
      });
  }
  ~Busy() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

/// dgemm of a threaded BLAS, by the names in NumPy's and Debian's OpenBLAS.
class Product {
 public:
  explicit Product(const std::string& path) : X_(kOrder * kOrder, 1e-3), Y_(X_) {
    void* const library = open_library(path);
    small_ = reinterpret_cast<decltype(small_)>(dlsym(library, "cblas_dgemm"));
    if (!small_)
      large_ = find<std::remove_pointer_t<decltype(large_)>>(library, "scipy_cblas_dgemm64_");
  }
  void run() {
    constexpr int kColumnMajor = 102, kNoTranspose = 111;
    const auto call = [&](auto* gemm, auto n) {
      gemm(kColumnMajor, kNoTranspose, kNoTranspose, n, n, n, 1.0, X_.data(), n, X_.data(), n, 0.0,
           Y_.data(), n);
    };
    if (small_)
      call(small_, static_cast<int>(kOrder));
    else
      call(large_, kOrder);
  }

 private:
  template <class Int>
  using Gemm = void(int, int, int, Int, Int, Int, double, const double*, Int, const double*, Int,
                    double, double*, Int);
  static constexpr int64_t kOrder = 2000;
  std::vector<double> X_, Y_;
  Gemm<int>* small_ = nullptr;
  Gemm<int64_t>* large_ = nullptr;
};

struct Options {
  std::string library = "libchol.so.0", against, blas;
  std::vector<int64_t> orders = {200, 300, 500, 1000, 2000};
  std::vector<std::string> beside = {"nothing", "spinning", "yielding", "product"};
  std::vector<int> threads;
  int calls = 50;
};

class Measurement {
 public:
  Measurement(const Options& options, int64_t n) : calls_(options.calls), n_(n) {
    std::mt19937_64 generator(static_cast<uint64_t>(n));
    std::uniform_real_distribution<double> uniform(-1, 1);
    A_.resize(static_cast<size_t>(n * n));
    for (double& a : A_) a = uniform(generator);
    for (int64_t i = 0; i < n; ++i)
      A_[static_cast<size_t>(i * (n + 1))] = 2.0 * static_cast<double>(n);
  }

  /// Times of alternating calls by 1 and by `threads` threads, each or some of them after `before`.
  struct Times {
    std::vector<double> one, all;   ///< sorted
    std::vector<double> halves[2];  ///< every other call of one thread, sorted
  };
  Times times(const Library& library, int threads, const std::function<void()>& before) {
    constexpr double kSoon = 1e-3;
    Times times;
    for (int call = 0; call < calls_ + 2; ++call)
      for (const int count : {1, threads}) {
        if (before) before();
        const Clock::time_point start = Clock::now();
        do {
          W_ = A_;
          const double seconds = library.potrf(count, n_, W_.data());
          if (call >= 2) (count == 1 ? times.one : times.all).push_back(seconds);
        } while (before && seconds_since(start) < kSoon);
      }
    for (size_t i = 0; i < times.one.size(); ++i) times.halves[i % 2].push_back(times.one[i]);
    for (std::vector<double>& half : times.halves) std::sort(half.begin(), half.end());
    std::sort(times.one.begin(), times.one.end());
    std::sort(times.all.begin(), times.all.end());
    return times;
  }
  int64_t order() const { return n_; }
  double gflops(double seconds) const {
    const double n = static_cast<double>(n_);
    return n * n * n / 3 / seconds * 1e-9;
  }

 private:
  int calls_;
  int64_t n_;
  std::vector<double> A_, W_;
};

double quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void print(const char* what, const Library& library, int threads, const Measurement& measurement,
           const Measurement::Times& times, double quiet) {
  const double one = quantile(times.one, 0.5), all = quantile(times.all, 0.5);
  const double slow_ratio = quantile(times.one, 0.95) / quantile(times.all, 0.95);
  const double even = quantile(times.halves[0], 0.95), odd = quantile(times.halves[1], 0.95);
  std::printf("%s,%s,%lld,%d,%.1f,%.1f,%.2f,%.2f,%.2f,%.2f,%.2f\n", what, library.name().c_str(),
              static_cast<long long>(measurement.order()), threads, measurement.gflops(one),
              measurement.gflops(all), one / all, slow_ratio, quiet > 0 ? quiet / all : 1.0,
              mean(times.one) / mean(times.all), std::max(even, odd) / std::min(even, odd));
  std::fflush(stdout);
}

void run_case(const Options& options, const Library& library, int threads,
              Measurement& measurement) {
  const auto wants = [&](const char* what) {
    return std::find(options.beside.begin(), options.beside.end(), what) != options.beside.end();
  };
  const std::function<void()> nothing;
  const Measurement::Times quiet = measurement.times(library, threads, nothing);
  const double alone = quantile(quiet.all, 0.5);
  print("nothing", library, threads, measurement, quiet, alone);
  for (const char* what : {"spinning", "yielding"})
    if (wants(what)) {
      const Busy busy(threads, std::string(what) == "yielding");
      print(what, library, threads, measurement, measurement.times(library, threads, nothing),
            alone);
    }
  if (options.blas.empty() || !wants("product")) return;
  Product product(options.blas);
  print("product", library, threads, measurement,
        measurement.times(library, threads, [&] { product.run(); }), alone);
}

void run(const Options& options) {
  std::vector<Library> libraries{{"chol", options.library}};
  if (!options.against.empty()) libraries.emplace_back("chol-other", options.against);
  std::printf(
      "beside,library,n,threads,one_gflops,all_gflops,ratio,ratio_p95,share_of_quiet,"
      "ratio_mean,p95_by_chance\n");
  for (const int threads : options.threads)
    for (const int64_t n : options.orders) {
      Measurement measurement(options, n);
      for (const Library& library : libraries) run_case(options, library, threads, measurement);
    }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("potrf next to busy threads and right after products of a threaded BLAS");
  Options options;
  options.threads = {static_cast<int>(std::thread::hardware_concurrency())};
  app.add_option("--library", options.library, "the libchol to time");
  app.add_option("--against", options.against, "another libchol to compare with");
  app.add_option("--blas", options.blas, "an OpenBLAS whose products come before calls");
  app.add_option("--beside", options.beside, "spinning, yielding, product")->delimiter(',');
  app.add_option("--n", options.orders, "orders")->delimiter(',');
  app.add_option("--threads", options.threads, "threads of a call and busy threads")
      ->delimiter(',');
  app.add_option("--calls", options.calls, "timed calls a case")->check(CLI::Range(5, 10000));
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "chol-bench-busy: %s\n", error.what());
    return 1;
  }
  return 0;
}
