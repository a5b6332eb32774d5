// Timings of chol-bench-cores in the process of a contestant: routines of chol or of a BLAS on one
// matrix, products, multiply-adds in registers, and concurrent single-core work.
#pragma once

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "chol.h"

namespace chol::bench {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Wall-clock time, or CPU time of the calling thread.
inline double now(bool of_thread) {
  timespec time;
  clock_gettime(of_thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// The timed operation: potrf, potrs, potri, gemm, peak (multiply-adds in registers), or many-potrf
/// and many-gemm, where each thread has its own matrices.
struct Work {
  std::string what = "potrf";
  char precision = 'd';
  int n = 0, nrhs = 0, threads = 1;
  double milliseconds = 60;
  bool cpu_time = false;  ///< of one thread

  double flops() const {
    const double order = n, columns = nrhs,
                 side_by_side = what.rfind("many-", 0) == 0 ? threads : 1;
    const double one = what == "potrs"          ? 2 * order * order * columns
                       : what == "potri"        ? order * order * order * 2 / 3
                       : what.ends_with("gemm") ? 2 * order * order * order
                                                : order * order * order / 3;
    return one * side_by_side;
  }
  std::string line() const {
    std::ostringstream text;
    text << what << ' ' << precision << ' ' << n << ' ' << nrhs << ' ' << threads << ' '
         << milliseconds << ' ' << cpu_time << '\n';
    return text.str();
  }
  static Work of(const std::string& line) {
    Work work;
    std::istringstream(line) >> work.what >> work.precision >> work.n >> work.nrhs >>
        work.threads >> work.milliseconds >> work.cpu_time;
    return work;
  }
};

/// The functions of a library in one precision, chol's or a BLAS's and LAPACK's.
template <class T>
class Routines {
 public:
  Routines(void* library, bool is_chol, char p) : library_(library), is_chol_(is_chol), p_(p) {
    if (is_chol)
      call<chol_status_t (*)(chol_handle_t*, chol_backend_t, int, const int*)>("create_on")(
          &handle_, CHOL_BACKEND_HOST, 0, nullptr);
  }
  void set_threads(int threads) const {
    if (is_chol_)
      call<chol_status_t (*)(chol_handle_t, int)>("set_num_threads")(handle_, threads);
    else if (void* set = dlsym(library_, "openblas_set_num_threads"))
      reinterpret_cast<void (*)(int)>(set)(threads);
  }
  int potrf(int n, T* A) const {
    int info = -1;
    if (is_chol_)
      own<chol_status_t (*)(chol_handle_t, chol_uplo_t, int64_t, T*, int64_t, int*)>("potrf")(
          handle_, CHOL_LOWER, n, A, n, &info);
    else
      fortran<void (*)(const char*, const int*, T*, const int*, int*)>("potrf")("L", &n, A, &n,
                                                                                &info);
    return info;
  }
  int potri(int n, T* A) const {
    int info = -1;
    if (is_chol_)
      own<chol_status_t (*)(chol_handle_t, chol_uplo_t, int64_t, T*, int64_t, int*)>("potri")(
          handle_, CHOL_LOWER, n, A, n, &info);
    else
      fortran<void (*)(const char*, const int*, T*, const int*, int*)>("potri")("L", &n, A, &n,
                                                                                &info);
    return info;
  }
  int potrs(int n, int nrhs, T* A, T* B) const {
    int info = 0;
    if (is_chol_)
      return own<chol_status_t (*)(chol_handle_t, chol_uplo_t, int64_t, int64_t, const T*, int64_t,
                                   T*, int64_t)>("potrs")(handle_, CHOL_LOWER, n, nrhs, A, n, B, n);
    fortran<void (*)(const char*, const int*, const int*, const T*, const int*, T*, const int*,
                     int*)>("potrs")("L", &n, &nrhs, A, &n, B, &n, &info);
    return info;
  }
  T pocon(int n, const T* A) const {
    T rcond = 0;
    const T norm = T(n);
    if (is_chol_) {
      own<chol_status_t (*)(chol_handle_t, chol_uplo_t, int64_t, const T*, int64_t, T, T*)>(
          "pocon")(handle_, CHOL_LOWER, n, A, n, norm, &rcond);
    } else {
      int info = 0;
      std::vector<T> work(3 * static_cast<size_t>(n));
      std::vector<int> integers(static_cast<size_t>(n));
      fortran<void (*)(const char*, const int*, const T*, const int*, const T*, T*, T*, int*,
                       int*)>("pocon")("L", &n, A, &n, &norm, &rcond, work.data(), integers.data(),
                                       &info);
    }
    return rcond;
  }
  void gemm(int n, const T* A, T* C) const {
    const T one = 1, zero = 0;
    fortran<void (*)(const char*, const char*, const int*, const int*, const int*, const T*,
                     const T*, const int*, const T*, const int*, const T*, T*, const int*)>("gemm")(
        "N", "T", &n, &n, &n, &one, A, &n, A, &n, &zero, C, &n);
  }

 private:
  template <class Function>
  Function call(const std::string& name) const {
    return find<Function>("chol_" + name);
  }
  template <class Function>
  Function own(const std::string& name) const {
    return find<Function>(std::string("chol_") + p_ + name);
  }
  template <class Function>
  Function fortran(const std::string& name) const {
    return find<Function>(p_ + name + "_");
  }
  template <class Function>
  Function find(const std::string& name) const {
    void* const found = dlsym(library_, name.c_str());
    if (!found) throw std::runtime_error(name + " is not there");
    return reinterpret_cast<Function>(found);
  }

  void* library_;
  bool is_chol_;
  char p_;
  chol_handle_t handle_ = nullptr;
};

/// Page-aligned memory, as large arrays of programs have.
template <class T>
class Array {
 public:
  explicit Array(size_t count) : data_(static_cast<T*>(std::malloc(count * sizeof(T)))) {
    if (!data_) throw std::bad_alloc();
  }
  Array(const Array&) = delete;
  ~Array() { std::free(data_); }
  T* data() const { return data_; }

 private:
  T* data_;
};

template <class T>
void fill(T* A, int n) {
  uint32_t state = 1;
  const size_t order = static_cast<size_t>(n);
  for (size_t i = 0; i < order * order; ++i)
    A[i] = static_cast<T>((state = state * 1664525u + 1013904223u) >> 8) / T(1 << 24);
  for (size_t i = 0; i < order; ++i) A[i * (order + 1)] = static_cast<T>(n);
}

/// body(thread) on new threads, started at the same time; seconds of the slowest.
template <class Body>
double side_by_side(int threads, const Body& body) {
  std::barrier start(threads);
  std::vector<double> seconds(static_cast<size_t>(threads));
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t)
    team.emplace_back([&, t] {
      start.arrive_and_wait();
      const Clock::time_point begin = Clock::now();
      body(t);
      seconds[static_cast<size_t>(t)] = seconds_since(begin);
    });
  for (std::thread& thread : team) thread.join();
  return *std::max_element(seconds.begin(), seconds.end());
}

/// Gflop/s of independent multiply-adds, one thread a core.
inline double register_gflops(int threads) {
#ifdef __AVX512F__
  constexpr int kVectors = 20, kBytes = 64;
#else
  constexpr int kVectors = 12, kBytes = 32;
#endif
  constexpr int64_t kSteps = 4000000;
  typedef double V __attribute__((vector_size(kBytes)));
  const double seconds = side_by_side(threads, [&](int t) {
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(t, &core);
    sched_setaffinity(0, sizeof core, &core);
    V sums[kVectors] = {}, factor = {}, term = {};
    for (int i = 0; i < kBytes / 8; ++i) factor[i] = 0.5, term[i] = 1;
    for (int64_t step = 0; step < kSteps; ++step) {
#pragma GCC unroll 20
      for (int v = 0; v < kVectors; ++v) {
        sums[v] = sums[v] * factor + term;
        asm volatile("" : "+v"(sums[v]));
      }
    }
  });
  return 2.0 * kBytes / 8 * kVectors * kSteps * threads / seconds * 1e-9;
}

/// Seconds of a call, the median over the given time.
class Timer {
 public:
  Timer(const std::string& kind, const std::string& path) : is_chol_(kind == "chol") {
    library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_) throw std::runtime_error(dlerror());
  }
  double time(const Work& work) {
    if (work.what == "peak") return register_gflops(work.threads);
    if (work.precision == 's') {
      if (!single_) single_ = std::make_unique<Routines<float>>(library_, is_chol_, 's');
      return time(work, *single_);
    }
    if (!double_) double_ = std::make_unique<Routines<double>>(library_, is_chol_, 'd');
    return time(work, *double_);
  }

 private:
  template <class T>
  double time(const Work& work, const Routines<T>& routines) {
    if (work.what.rfind("many-", 0) == 0) return time_many<T>(work, routines);
    const size_t n = static_cast<size_t>(work.n), elements = n * n;
    const size_t others = work.what == "potrs" ? n * static_cast<size_t>(work.nrhs) : 0;
    const Array<T> start(elements), A(elements), B(std::max<size_t>(others, 1));
    fill(start.data(), work.n);
    routines.set_threads(work.threads);
    const bool factors = work.what == "potrf" || work.what == "gemm";
    if (!factors && routines.potrf(work.n, start.data()) != 0) throw std::runtime_error("info");
    std::vector<double> times;
    for (double total = 0; times.empty() || total < work.milliseconds * 1e-3;) {
      std::memcpy(A.data(), start.data(), elements * sizeof(T));
      for (size_t i = 0; i < others; ++i) B.data()[i] = T(i % 7);
      const bool of_thread = work.cpu_time && work.threads == 1;
      const double begin = now(of_thread);
      if (!run(work, routines, A.data(), B.data(), start.data()))
        throw std::runtime_error(work.what + " failed");
      const double seconds = now(of_thread) - begin;
      if (total == 0 && times.empty() && seconds < 0.05) {  // a first call warms up
        total = 1e-9;
        continue;
      }
      times.push_back(seconds);
      total += seconds;
    }
    return median(times);
  }
  template <class T>
  static bool run(const Work& work, const Routines<T>& routines, T* A, T* B, T* start) {
    if (work.what == "potrf") return routines.potrf(work.n, A) == 0;
    if (work.what == "potri") return routines.potri(work.n, A) == 0;
    if (work.what == "potrs") return routines.potrs(work.n, work.nrhs, A, B) == 0;
    if (work.what == "pocon") return routines.pocon(work.n, A) > 0;
    routines.gemm(work.n, start, A);
    return true;
  }
  /// Each thread has its own matrices and, for chol, handle.
  template <class T>
  double time_many(const Work& work, const Routines<T>& first) {
    const size_t elements = static_cast<size_t>(work.n) * static_cast<size_t>(work.n);
    first.set_threads(1);
    std::vector<std::unique_ptr<Array<T>>> start, A;
    std::vector<Routines<T>> routines;
    for (int t = 0; t < work.threads; ++t) {
      start.push_back(std::make_unique<Array<T>>(elements));
      A.push_back(std::make_unique<Array<T>>(elements));
      fill(start.back()->data(), work.n);
      routines.emplace_back(library_, is_chol_, work.precision);
      if (is_chol_) routines.back().set_threads(1);
    }
    constexpr int kRounds = 5;
    std::vector<double> times;
    for (int round = 0; round < kRounds; ++round) {
      for (size_t t = 0; t < A.size(); ++t)
        std::memcpy(A[t]->data(), start[t]->data(), elements * sizeof(T));
      times.push_back(side_by_side(work.threads, [&](int thread) {
        const size_t t = static_cast<size_t>(thread);
        if (work.what == "many-gemm")
          routines[t].gemm(work.n, start[t]->data(), A[t]->data());
        else
          routines[t].potrf(work.n, A[t]->data());
      }));
    }
    return median(times);
  }

  bool is_chol_;
  void* library_;
  std::unique_ptr<Routines<float>> single_;
  std::unique_ptr<Routines<double>> double_;
};

}  // namespace chol::bench
