#include "ceilings.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

#include "process.hpp"

namespace chol::bench {
namespace {

/// McCalpin's STREAM triad, his count of bytes: two arrays read, one written.
double measure_triad(int threads) {
  constexpr int64_t kElements = 8 << 20;
  const auto allocate = [] { return std::make_unique<double[]>(kElements); };
  const auto a = allocate(), b = allocate(), c = allocate();
  double best = 0;
  for (int repetition = 0; repetition < 8; ++repetition) {
    const auto start = std::chrono::steady_clock::now();
    double *to = a.get(), *from = b.get(), *scaled = c.get();
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < kElements; ++i) to[i] = from[i] + 3.0 * scaled[i];
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::max(best, 3.0 * sizeof(double) * kElements / took.count());
  }
  return best;
}

/// Operations a second of a peer's matrix product of order n, or 0 where it has none.
double rate_of_product(const Contestant& peer, char precision, int64_t n, int threads) {
  // The reference implementation and libraries without a product cannot be the best.
  if (peer.name == "reference" || peer.kind == Kind::mkl_compact || peer.kind == Kind::eigen_fixed)
    return 0;
  Request request;
  request.order = Order::gemm;
  request.repetitions = 4;
  request.work.precision = precision;
  request.work.threads = threads;
  request.work.n = n;
  const Reply reply = Process(peer, -1).ask(request);
  if (!reply.ok) return 0;
  const double order = static_cast<double>(n);
  const double flops = (precision_is_complex(precision) ? 8 : 2) * order * order * order;
  return flops / *std::min_element(reply.seconds, reply.seconds + reply.repetitions);
}

}  // namespace

double Ceilings::bandwidth(int threads) {
  auto [entry, fresh] = bandwidth_.try_emplace(threads, 0.0);
  if (fresh) entry->second = measure_triad(threads);
  return entry->second;
}

double Ceilings::product_rate(char precision, int threads) {
  auto [entry, fresh] = product_.try_emplace({precision, threads});
  if (!fresh) return entry->second.first;
  // A small product first: a peer that is slow there, or compiled without optimization, takes
  // minutes for a large one.
  std::vector<double> small;
  for (const Contestant& peer : peers_)
    small.push_back(rate_of_product(peer, precision, 256, threads));
  const double best = small.empty() ? 0 : *std::max_element(small.begin(), small.end());
  const int64_t n = precision_is_complex(precision) ? 768 : 1200;
  for (size_t p = 0; p < peers_.size(); ++p) {
    if (small[p] < best / 4) continue;
    const double rate = rate_of_product(peers_[p], precision, n, threads);
    if (rate > entry->second.first) entry->second = {rate, peers_[p].name};
  }
  return entry->second.first;
}

double Ceilings::roofline(const Case& c) {
  return std::min(product_rate(c.precision, c.threads),
                  bandwidth(c.threads) * flops_of(c) / bytes_of(c));
}

std::string Ceilings::summary() const {
  std::string text;
  char line[120];
  for (const auto& [threads, rate] : bandwidth_) {
    std::snprintf(line, sizeof line, "triad %d thread(s): %.1f GB/s\n", threads, rate * 1e-9);
    text += line;
  }
  for (const auto& [key, rate] : product_) {
    std::snprintf(line, sizeof line, "%cgemm %d thread(s): %.1f Gflop/s (%s)\n", key.first,
                  key.second, rate.first * 1e-9, rate.second.c_str());
    text += line;
  }
  return text;
}

}  // namespace chol::bench
