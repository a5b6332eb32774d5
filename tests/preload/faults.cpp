// Difficult situations for a preload, one case a run: `faults CASE [MODULE...]`. A module is a
// shared object that calls LAPACK, opened as Python and R open theirs. Prints "ok" or what went
// wrong.
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "support/child.hpp"

extern "C" void dpotrf_(const char*, const int*, double*, const int*, int*, size_t);

namespace {

using chol::test::holds_in_child;

using Potrf = void(const char*, const int*, double*, const int*, int*, size_t);

/// Whether the factor of a matrix with a known factor is correct. @param A memory for it.
bool factors_in(double* A, int n, Potrf* potrf = dpotrf_) {
  // L is 1 below and 2 on the diagonal.
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) A[i + static_cast<size_t>(j) * n] = i == j ? j + 4 : j + 2;
  int info = -1;
  potrf("L", &n, A, &n, &info, 1);
  bool right = info == 0;
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i)
      right = right && std::abs(A[i + static_cast<size_t>(j) * n] - (i == j ? 2 : 1)) < 1e-9;
  return right;
}
bool factors(int n, Potrf* potrf = dpotrf_) {
  std::vector<double> A(static_cast<size_t>(n) * n);
  return factors_in(A.data(), n, potrf);
}

int verdict(bool good, const char* what = "a wrong factor") {
  std::puts(good ? "ok" : what);
  return good ? 0 : 1;
}

int many_threads() {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 64; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 5; ++round) right += factors(t + 1) && factors(150 + t);
    });
  for (std::thread& thread : threads) thread.join();
  return verdict(right == 64 * 5);
}

/// Forked while another thread calls; the child calls on the forking thread and on a new one.
int forks() {
  if (!factors(500)) return verdict(false);
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) factors(200);
  });
  bool good = true;
  for (int round = 0; round < 10; ++round)
    good = holds_in_child([] {
             bool threads_too = false;
             std::thread([&] { threads_too = factors(500); }).join();
             return factors(500) && factors(3) && threads_too &&
                    holds_in_child([] { return factors(500); });
           }) &&
           good;
  over = true;
  other.join();
  return verdict(good && factors(500));
}

std::atomic<int> alarms{0}, wrong_in_handler{0};

/// A handler that calls LAPACK itself, while the interrupted call holds the thread's handle. Its
/// matrix is on the stack: the interrupted call may hold the allocator's lock, and the next alarm
/// may find another thread while this one's handler is at work.
int alarm_calls() {
  struct sigaction action {};
  action.sa_handler = [](int) {
    ++alarms;
    double A[20 * 20] = {};
    if (!factors_in(A, 20)) ++wrong_in_handler;
  };
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval every{{0, 2000}, {0, 2000}};
  setitimer(ITIMER_REAL, &every, nullptr);
  bool good = true;
  for (int round = 0; round < 100000 && alarms < 100; ++round) good = factors(180) && good;
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  return verdict(good && alarms >= 100 && wrong_in_handler == 0);
}

sigjmp_buf way_out;

/// Jumps out of calls repeatedly: no later call may be refused or hang. At this order no LAPACK
/// takes a lock.
int jumps() {
  struct sigaction action {};
  action.sa_handler = [](int) { siglongjmp(way_out, 1); };
  sigaction(SIGALRM, &action, nullptr);
  static double A[40 * 40];
  const int n = 40;
  int info = 0;
  A[0] = HUGE_VAL;  // looks up the original
  dpotrf_("L", &n, A, &n, &info, 1);
  if (!factors(n)) return verdict(false);
  volatile int jumped = 0;
  if (sigsetjmp(way_out, 1)) jumped = jumped + 1;
  if (jumped < 5) {
    const itimerval once{{0, 0}, {0, 5000}};
    setitimer(ITIMER_REAL, &once, nullptr);
    for (;;) {
      for (int i = 0; i < n; ++i) A[i * (n + 1)] = 4;
      dpotrf_("L", &n, A, &n, &info, 1);
    }
  }
  return verdict(factors(90) && factors(1));
}

int exit_beside_calls() {
  for (int t = 0; t < 4; ++t)
    std::thread([] {
      for (;;) factors(300);
    }).detach();
  usleep(100000);
  std::puts("ok");
  std::fflush(stdout);
  std::exit(0);
}

int exit_inside_call() {
  if (!factors(100)) return verdict(false);
  signal(SIGALRM, [](int) {
    std::puts("ok");
    std::exit(0);
  });
  const itimerval once{{0, 0}, {0, 50000}};
  setitimer(ITIMER_REAL, &once, nullptr);
  static double A[1500 * 1500];
  const int n = 1500;
  for (;;) {
    int info = 0;
    for (int i = 0; i < n; ++i) A[static_cast<size_t>(i) * (n + 1)] = 4;
    dpotrf_("L", &n, A, &n, &info, 1);
  }
}

/// Workers of a pool, one that leaves by _exit and one that is killed: 3 calls in all.
int workers() {
  bool good = factors(100);
  for (const bool killed : {false, true}) {
    const pid_t pid = fork();
    if (pid == 0) {
      good = factors(100);
      if (killed && good) kill(getpid(), SIGKILL);
      _exit(good ? 0 : 1);
    }
    int status = 0;
    good = waitpid(pid, &status, 0) == pid && good;
    good = (killed ? WIFSIGNALED(status) : status == 0) && good;
  }
  return verdict(good);
}

int threads_of_process() {
  char line[200];
  int threads = -1;
  std::FILE* status = std::fopen("/proc/self/status", "r");
  while (status && std::fgets(line, sizeof line, status))
    std::sscanf(line, "Threads: %d", &threads);
  if (status) std::fclose(status);
  return threads;
}

/// How many threads a factorization starts.
int count_threads() {
  const int before = threads_of_process();
  const bool good = factors(1600);
  std::printf("threads %d\n", threads_of_process() - before);
  return verdict(good);
}

/// Modules are loaded and unloaded, each with its own LAPACK; invalid arguments look up its
/// xerbla_.
int modules(int count, char** names) {
  bool good = count > 0;
  for (int round = 0; round < 20; ++round)
    for (int m = 0; m < count; ++m) {
      void* module = dlopen(names[m], RTLD_NOW | RTLD_LOCAL);
      if (!module) return verdict(false, dlerror());
      auto* potrf = reinterpret_cast<Potrf*>(dlsym(module, "module_potrf"));
      good = potrf && factors(round + 1, potrf) && factors(120, potrf) && good;
      // An infinite pivot is left to the original.
      double infinite = HUGE_VAL;
      const int one = 1, two = 2;
      double pair[] = {HUGE_VAL, 0, 0, 1};
      int info = -1;
      if (potrf) potrf("L", &one, &infinite, &one, &info, 1);
      good = info == 0 && good;
      if (potrf) potrf("L", &two, pair, &two, &info, 1);
      good = info == 0 && std::isinf(pair[0]) && good;
      dlclose(module);
    }
  return verdict(good);
}

}  // namespace

int main(int count, char** arguments) {
  const char* name = count > 1 ? arguments[1] : "";
  if (std::strcmp(name, "plain") == 0) return verdict(factors(100));
  if (std::strcmp(name, "large") == 0) return verdict(factors(300) && factors(301));
  if (std::strcmp(name, "threads") == 0) return many_threads();
  if (std::strcmp(name, "fork") == 0) return forks();
  if (std::strcmp(name, "workers") == 0) return workers();
  if (std::strcmp(name, "count") == 0) return count_threads();
  if (std::strcmp(name, "alarm") == 0) return alarm_calls();
  if (std::strcmp(name, "jump") == 0) return jumps();
  if (std::strcmp(name, "exit_beside") == 0) return exit_beside_calls();
  if (std::strcmp(name, "exit_inside") == 0) return exit_inside_call();
  if (std::strcmp(name, "modules") == 0) return modules(count - 2, arguments + 2);
  return verdict(false, "no such case");
}
