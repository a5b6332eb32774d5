// chol-bench-tlr: covariances of grid points in tiles of low rank. A line of CSV a case: times of
// assembly, factorization, solves and products, memory and error of the factor; with the dense
// potrf of the same matrix if requested.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench_vectors.hpp"
#include "chol.h"

namespace {

using chol::bench::Vectors;

struct Options {
  int dim = 3, threads = 0, repetitions = 1, check = 0;
  std::vector<int64_t> orders = {4096};
  std::vector<double> thresholds = {1e-6};
  int64_t tile = 512;
  double length = 0.2, nugget = 0;
  int pivot = 0;
  bool on_cuda = false, dense = false, ldl = false, only_factor = false;
};

struct Row {
  double assembly = 0, factor = 0, error = 0, dense = 0;
  double solve[2] = {}, multiply[2] = {};  ///< of 1 and 64 columns
  double assembled_bytes = 0, device_bytes = 0;
  chol_tlr_stats_t stats{};
};
constexpr int64_t kColumns[2] = {1, 64};

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {
    if (chol_create_on(&handle_, options.on_cuda ? CHOL_BACKEND_CUDA : CHOL_BACKEND_HOST, 0,
                       nullptr) != CHOL_STATUS_SUCCESS)
      throw std::runtime_error(chol_last_error(nullptr));
    if (options.threads > 0) check(chol_set_num_threads(handle_, options.threads));
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() { chol_destroy(handle_); }

  Row run(int64_t n, double eps) {
    kernel_ = {sizeof kernel_, CHOL_KERNEL_EXPONENTIAL, 1, options_.nugget, 0, &options_.length, 1};
    make_points(n);
    chol_tlr_options_t options;
    chol_tlr_options_init(&options);
    options.eps = eps;
    options.ldl = options_.ldl;
    options.pivot = options_.pivot;
    Row row;
    row.assembly = row.factor = HUGE_VAL;
    row.stats.size = sizeof row.stats;
    const double in_use = chol::bench::device_bytes_in_use();
    check(chol_tlr_create(handle_, CHOL_TYPE_D, n, options_.tile, &A_));
    for (int repetition = 0; repetition < options_.repetitions; ++repetition) {
      const int dim = options_.dim;
      row.assembly = std::min(
          row.assembly, seconds_of([&] {
            check(chol_tlr_from_kernel(handle_, A_, &kernel_, dim, points_.data(), dim, &options));
          }));
      check(chol_tlr_stats(A_, &row.stats));
      row.assembled_bytes = double(row.stats.bytes);
      int info = 0;
      row.factor = std::min(
          row.factor, seconds_of([&] { check(chol_tlr_factor(handle_, A_, &options, &info)); }));
      if (info != 0) throw std::runtime_error("info = " + std::to_string(info));
    }
    check(chol_tlr_stats(A_, &row.stats));
    // The library keeps the device memory that it has allocated.
    row.device_bytes = std::max(0., chol::bench::device_bytes_in_use() - in_use);
    if (!options_.only_factor) time_products(n, row);
    if (options_.check > 0)
      check(chol_tlr_error_kernel(handle_, A_, &kernel_, options_.dim, points_.data(), options_.dim,
                                  options_.check, &row.error));
    check(chol_tlr_destroy(A_));
    if (options_.dense) time_dense(n, row);
    return row;
  }

 private:
  void check(chol_status_t status) const {
    if (status != CHOL_STATUS_SUCCESS) throw std::runtime_error(chol_last_error(handle_));
  }

  /// A grid with sides that are powers of two, in an order with compact tiles.
  void make_points(int64_t n) {
    const int dim = options_.dim;
    std::vector<int64_t> sides(static_cast<size_t>(dim), 1), order(static_cast<size_t>(n));
    int d = 0;
    for (int64_t left = n; left > 1; left /= 2, d = (d + 1) % dim) sides[d] *= 2;
    std::vector<double> grid(static_cast<size_t>(n * dim));
    for (int64_t i = 0; i < n; ++i) {
      int64_t rest = i;
      for (int e = 0; e < dim; rest /= sides[e++])
        grid[i * dim + e] = double(rest % sides[e]) / double(sides[e]);
    }
    const int64_t tile = options_.tile > 0 ? options_.tile : 64;
    check(chol_tlr_order_points(dim, n, grid.data(), dim, tile, order.data()));
    points_.resize(grid.size());
    for (int64_t i = 0; i < n; ++i) std::copy_n(&grid[order[i] * dim], dim, &points_[i * dim]);
  }

  void time_products(int64_t n, Row& row) const {
    const Vectors X(n * kColumns[1], options_.on_cuda), Y(n * kColumns[1], options_.on_cuda);
    for (int c = 0; c < 2; ++c) {
      const int64_t columns = kColumns[c];
      const auto best = [&](const std::function<void()>& work) {
        double least = HUGE_VAL;
        for (int repetition = 0; repetition < 3; ++repetition)
          least = std::min(least, seconds_of(work));
        return least;
      };
      row.multiply[c] =
          best([&] { check(chol_tlr_multiply(handle_, A_, columns, X.data(), n, Y.data(), n)); });
      row.solve[c] = best([&] { check(chol_tlr_solve(handle_, A_, columns, Y.data(), n)); });
    }
  }

  void time_dense(int64_t n, Row& row) const {
    std::vector<double> D(static_cast<size_t>(n * n));
    const int dim = options_.dim;
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = j; i < n; ++i) {
        double square = 0;
        for (int d = 0; d < dim; ++d)
          square += std::pow(points_[i * dim + d] - points_[j * dim + d], 2);
        D[i + j * n] = std::exp(-std::sqrt(square) / options_.length) + (i == j ? 1e-8 : 0);
      }
    int info = 0;
    row.dense = seconds_of([&] { check(chol_dpotrf(handle_, CHOL_LOWER, n, D.data(), n, &info)); });
    if (info != 0) throw std::runtime_error("dense info = " + std::to_string(info));
  }

  const Options& options_;
  chol_handle_t handle_ = nullptr;
  chol_tlr_t A_ = nullptr;
  chol_kernel_t kernel_{};
  std::vector<double> points_;
};

/// Bytes a second read and written by copies on all threads.
double copy_bandwidth(int threads) {
  const size_t count = (size_t{1} << 28) / sizeof(double) / static_cast<size_t>(threads);
  std::vector<std::vector<double>> from(static_cast<size_t>(threads)), to(from);
  double least = HUGE_VAL;
  for (int repetition = 0; repetition < 6; ++repetition) {
    std::vector<std::thread> team;
    const double seconds = seconds_of([&] {
      for (int t = 0; t < threads; ++t)
        team.emplace_back([&, t] {
          if (repetition == 0) {
            from[t].assign(count, 1.);
            to[t].assign(count, 2.);
          } else {
            std::memcpy(to[t].data(), from[t].data(), count * sizeof(double));
          }
        });
      for (std::thread& thread : team) thread.join();
    });
    if (repetition > 0) least = std::min(least, seconds);
  }
  return 2. * double(count) * sizeof(double) * threads / least;
}

void run(const Options& options) {
  const int threads =
      options.threads > 0 ? options.threads : static_cast<int>(std::thread::hardware_concurrency());
  Bench bench(options);
  const double bandwidth =
      options.on_cuda ? chol::bench::device_copy_bandwidth() : copy_bandwidth(threads);
  std::printf(
      "backend,threads,dim,n,tile,eps,assembly_s,factor_s,factor_gflops,error_over_eps,factor_gb,"
      "mean_rank,max_rank,dense_tiles,compensated,solve1_s,solve64_s,multiply1_s,multiply64_s,"
      "copy_gb_per_s,solve1_share,solve64_share,multiply1_share,multiply64_share,assembled_gb,"
      "device_gb,dense_potrf_s\n");
  std::vector<std::pair<double, double>> memory;
  for (const int64_t n : options.orders)
    for (const double eps : options.thresholds) {
      const Row row = bench.run(n, eps);
      const double bytes = double(row.stats.bytes);
      const auto share = [&](double seconds) {
        return bandwidth > 0 && seconds > 0 ? 2 * bytes / seconds / bandwidth : 0;
      };
      std::printf(
          "%s,%d,%d,%lld,%lld,%g,%.3f,%.3f,%.1f,%.3f,%.4f,%.1f,%lld,%lld,%lld,%.4f,%.4f,%.4f,%.4f,"
          "%.1f,%.2f,%.2f,%.2f,%.2f,%.3f,%.3f,%.3f\n",
          options.on_cuda ? "cuda" : "host", threads, options.dim, static_cast<long long>(n),
          static_cast<long long>(row.stats.tile), eps, row.assembly, row.factor,
          row.stats.flops / row.factor * 1e-9, row.error / eps, bytes * 1e-9, row.stats.mean_rank,
          static_cast<long long>(row.stats.max_rank), static_cast<long long>(row.stats.dense_tiles),
          static_cast<long long>(row.stats.compensated), row.solve[0], row.solve[1],
          row.multiply[0], row.multiply[1], bandwidth * 1e-9, share(row.solve[0]),
          share(row.solve[1]), share(row.multiply[0]), share(row.multiply[1]),
          row.assembled_bytes * 1e-9, row.device_bytes * 1e-9, row.dense);
      std::fflush(stdout);
      memory.emplace_back(double(n), bytes);
    }
  if (options.thresholds.size() == 1 && memory.size() > 1)
    std::printf("# memory grows as n^%.2f\n",
                std::log(memory.back().second / memory.front().second) /
                    std::log(memory.back().first / memory.front().first));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Covariances of grid points in tiles of low rank");
  Options options;
  app.add_option("--dim", options.dim, "dimensions")->check(CLI::Range(1, 3));
  app.add_option("--n", options.orders, "numbers of points, powers of two")->delimiter(',');
  app.add_option("--eps", options.thresholds, "thresholds")->delimiter(',');
  app.add_option("--tile", options.tile, "order of a tile; 0: chosen by the library");
  app.add_option("--length", options.length, "of the exponential kernel");
  app.add_option("--nugget", options.nugget, "added to the diagonal");
  app.add_option("--threads", options.threads, "threads; 0: all");
  app.add_option("--repetitions", options.repetitions, "runs, of which the fastest counts");
  app.add_option("--check", options.check, "steps of power iteration for the error; 0: none");
  app.add_flag("--cuda", options.on_cuda, "on the CUDA backend");
  app.add_flag("--dense", options.dense, "time the dense potrf as well");
  app.add_flag("--ldl", options.ldl, "L D L^H instead of L L^H");
  app.add_option("--pivot", options.pivot, "tiles by Frobenius norm (1) or 2-norm (2)")
      ->check(CLI::Range(0, 2));
  app.add_flag("--only-factor", options.only_factor, "no solves and products");
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "chol-bench-tlr: %s\n", error.what());
    return 1;
  }
  return 0;
}
