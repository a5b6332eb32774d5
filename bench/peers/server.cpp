// chol-bench-peer NAME SOCKET INPUT [LIBRARY...]: one contestant in a separate process, because
// BLAS libraries have the same symbols. Serves requests until the socket is closed.
#include <omp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <optional>
#include <stdexcept>

#include "catalog.hpp"
#include "check.hpp"
#include "input.hpp"
#include "peers/engine.hpp"
#include "protocol.hpp"

namespace chol::bench {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// CPU time does not advance while other processes run.
double now(bool cpu_time) {
  timespec time;
  clock_gettime(cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::unique_ptr<Engine> make_engine(const std::string& name,
                                    const std::vector<std::string>& libraries) {
  switch (kind_of(name)) {
    case Kind::chol:
      return make_chol_engine(libraries.at(0));
    case Kind::eigen:
      return make_eigen_engine(false);
    case Kind::eigen_fixed:
      return make_eigen_engine(true);
    case Kind::mkl_compact:
      return make_mkl_compact_engine(libraries);
    case Kind::lapack:
      break;
  }
  return make_lapack_engine(libraries, set_threads_of(name));
}

/// Each working thread first overwrites its private caches with several times their size, and all
/// threads together the same memory, independent of their number: one thread and two start from the
/// same state of the shared cache, and the input is not cached near the core that restored it. A
/// call of one thread has no team, whose waiting would count as CPU time.
class CacheSweep {
 public:
  void operator()(int threads) {
    const int parts = std::max(threads, omp_get_num_procs());
    const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
    const size_t words = 4 * static_cast<size_t>(l2 > 0 ? l2 : 1 << 20) / sizeof(uint64_t);
    memory_.resize(words * static_cast<size_t>(parts));
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int part = 0; part < parts; ++part)
      for (size_t i = 0; i < words; ++i) memory_[static_cast<size_t>(part) * words + i] += i;
  }

 private:
  std::vector<uint64_t> memory_;
};

/// Waits until a team of threads starts simultaneously: if another process has one of the cores, a
/// round takes its whole time slice.
void await_team(int threads) {
  constexpr int kTries = 200;
  constexpr double kSoon = 5e-6;
  for (int t = 0; t < kTries; ++t) {
    const auto start = Clock::now();
#pragma omp parallel num_threads(threads)
    {}
    if (seconds_since(start) < kSoon) return;
  }
}

class Server {
 public:
  Server(std::unique_ptr<Engine> engine, int input) : engine_(std::move(engine)), input_(input) {}

  Reply answer(const Request& request) {
    Reply reply;
    const auto start = Clock::now();
    try {
      switch (request.order) {
        case Order::run:
          take(request.work);
          run(request, reply);
          break;
        case Order::gemm:
          multiply(request, reply);
          break;
      }
      reply.ok = 1;
      say(reply, engine_->version().c_str());
    } catch (const std::exception& error) {
      say(reply, error.what());
    }
    reply.wall = seconds_since(start);
    return reply;
  }

 private:
  static void say(Reply& reply, const char* text) {
    std::snprintf(reply.text, sizeof reply.text, "%s", text);
  }

  /// A case that shares the memory of the loaded one stays there, so that the cache state of its
  /// lines is the same for both.
  void take(const Case& c) {
    if (mapped_ && c == case_) return;
    if (!mapped_ || !share_memory(c, case_)) return load(c);
    case_ = c;
    engine_->vary(c);
  }

  void load(const Case& c) {
    if (!engine_->supports(c)) throw std::runtime_error("has no such routine");
    case_ = c;
    mapped_.emplace(dup(input_), input_bytes(layout_of(c), c.precision));
    engine_->load(c, mapped_->data());
  }

  void run(const Request& request, Reply& reply) {
    reply.repetitions = std::clamp(request.repetitions, 1, kMostRepetitions);
    const bool cold = case_.form != Form::one && request.cold;
    for (int r = 0; r < reply.repetitions; ++r) {
      // Lines restored from another core's cache are slower to read after the sweep than uncached
      // ones (a third of the time of n = 8), which this avoids.
      if (cold && last_threads_ > 1) sweep_(last_threads_);
      engine_->restore();
      if (cold) sweep_(case_.threads);
      if (case_.threads > 1) await_team(case_.threads);
      const double start = now(request.cpu_time);
      engine_->run();
      reply.seconds[r] = now(request.cpu_time) - start;
      last_threads_ = case_.threads;
    }
    if (!request.check) return;
    const Verdict verdict = check_result(engine_->result(), mapped_->data());
    reply.residual = verdict.residual;
    reply.failed = verdict.failed;
  }

  void multiply(const Request& request, Reply& reply) {
    const Case& c = request.work;
    const size_t bytes = element_size(c.precision) * static_cast<size_t>(c.n * c.n);
    // Every element a small positive number: the same pattern of bytes serves the four types.
    std::vector<float> A(bytes / sizeof(float), 1.5f), B(A), C(A);
    reply.repetitions = std::clamp(request.repetitions, 1, kMostRepetitions);
    for (int r = -1; r < reply.repetitions; ++r) {
      const auto start = Clock::now();
      if (!engine_->gemm(c.precision, c.n, A.data(), B.data(), C.data(), c.threads))
        throw std::runtime_error("has no matrix product");
      if (r >= 0) reply.seconds[r] = seconds_since(start);
    }
  }

  std::unique_ptr<Engine> engine_;
  int input_;
  std::optional<SharedMemory> mapped_;
  Case case_;
  int last_threads_ = 1;  ///< of the call before
  CacheSweep sweep_;
};

bool receive(int socket, Request& request) {
  return recv(socket, &request, sizeof request, MSG_WAITALL) ==
         static_cast<ssize_t>(sizeof request);
}

int serve(const std::string& name, int socket, int input,
          const std::vector<std::string>& libraries) {
  std::unique_ptr<Server> server;
  std::string trouble;
  try {
    server = std::make_unique<Server>(make_engine(name, libraries), input);
  } catch (const std::exception& error) {
    trouble = error.what();
  }
  Request request;
  while (receive(socket, request)) {
    Reply reply;
    if (server)
      reply = server->answer(request);
    else
      std::snprintf(reply.text, sizeof reply.text, "%s", trouble.c_str());
    if (send(socket, &reply, sizeof reply, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof reply))
      return 1;
  }
  return 0;
}

}  // namespace
}  // namespace chol::bench

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "%s is started by chol-bench\n", argv[0]);
    return 2;
  }
  return chol::bench::serve(argv[1], std::atoi(argv[2]), std::atoi(argv[3]),
                            std::vector<std::string>(argv + 4, argv + argc));
}
