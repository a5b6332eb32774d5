// Arguments, callbacks, files, threads and memory of the functions for tile low rank matrices.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "tlr/covariance.hpp"

namespace chol::test {
namespace {

class Calls : public testing::Test {
 protected:
  Calls()
      : points_(ordered_points(2, kOrder, kTile)),
        dense_(dense_covariance<double>(covariance_, points_)) {}

  chol_status_t assemble(chol_tlr_t M, const chol_tlr_options_t& options) {
    return chol_tlr_from_dense(handle_, M, CHOL_LOWER, dense_.data(), kOrder, &options);
  }
  void expect_refused(chol_status_t status, const char* sentence) {
    EXPECT_EQ(status, CHOL_STATUS_INVALID_VALUE);
    EXPECT_NE(std::strstr(chol_last_error(handle_), sentence), nullptr) << chol_last_error(handle_);
  }

  static constexpr int64_t kOrder = 200, kTile = 32;
  AnyHandle handle_;
  Covariance covariance_{CHOL_KERNEL_EXPONENTIAL, 0.5, 0.3, 0.1};
  Points points_;
  std::vector<double> dense_;
};

TEST_F(Calls, RefuseWrongArguments) {
  const chol_tlr_options_t options = options_of(1e-6);
  const chol_kernel_t kernel = covariance_.kernel();
  chol_tlr_t made = nullptr;
  expect_refused(chol_tlr_create(handle_, static_cast<chol_type_t>('x'), 10, 2, &made),
                 "type = 120");
  expect_refused(chol_tlr_create(handle_, CHOL_TYPE_D, -1, 2, &made), "n = -1");
  expect_refused(chol_tlr_create(handle_, CHOL_TYPE_D, 1, -2, &made), "tile = -2");
  expect_refused(chol_tlr_create(handle_, CHOL_TYPE_D, 1, 2, nullptr), "A = NULL");
  expect_refused(chol_tlr_create(handle_, CHOL_TYPE_D, int64_t{1} << 31, 1, &made),
                 "n = 2147483648, must be at most 2^31 - 1");

  const Tlr M(handle_, CHOL_TYPE_D, kOrder, kTile);
  int info = 0;
  expect_refused(chol_tlr_factor(handle_, M, &options, &info),
                 "A holds nothing, must hold a matrix");
  expect_refused(
      chol_tlr_from_dense(handle_, M, static_cast<chol_uplo_t>(1), dense_.data(), kOrder, &options),
      "uplo = 1");
  expect_refused(chol_tlr_from_dense(handle_, M, CHOL_LOWER, nullptr, kOrder, &options),
                 "dense = NULL");
  expect_refused(chol_tlr_from_dense(handle_, M, CHOL_LOWER, dense_.data(), kOrder - 1, &options),
                 "lda = 199");
  expect_refused(chol_tlr_from_blocks(handle_, M, nullptr, nullptr, &options), "fill = NULL");
  const auto from_kernel = [&](const chol_kernel_t& k, int dim, int64_t ldp) {
    return chol_tlr_from_kernel(handle_, M, &k, dim, points_.x.data(), ldp, &options);
  };
  chol_kernel_t wrong = kernel;
  wrong.size = 1;
  expect_refused(from_kernel(wrong, 2, 2), "kernel->size = 1");
  wrong = kernel;
  wrong.variance = 0;
  expect_refused(from_kernel(wrong, 2, 2), "kernel->variance = 0");
  wrong = kernel;
  wrong.nugget = std::nan("");
  expect_refused(from_kernel(wrong, 2, 2), "kernel->nugget");
  wrong = kernel;
  wrong.lengths = 3;
  expect_refused(from_kernel(wrong, 2, 2), "kernel->lengths = 3");
  wrong = kernel;
  wrong.kind = CHOL_KERNEL_MATERN;
  wrong.nu = 0;
  expect_refused(from_kernel(wrong, 2, 2), "kernel->nu = 0");
  expect_refused(from_kernel(kernel, 0, 2), "dim = 0");
  expect_refused(from_kernel(kernel, 2, 1), "ldp = 1");
  points_.x[5] = INFINITY;
  expect_refused(from_kernel(kernel, 2, 2), "coordinate 1 of point 2 = inf");

  const auto with = [&](auto&& change) {
    chol_tlr_options_t changed = options;
    change(changed);
    return assemble(M, changed);
  };
  expect_refused(with([](auto& o) { o.size = 3; }), "options->size = 3");
  expect_refused(with([](auto& o) { o.eps = 0; }), "options->eps = 0");
  expect_refused(with([](auto& o) { o.eps = NAN; }), "options->eps = nan");
  expect_refused(with([](auto& o) { o.eps = 1e-15; }),
                 "must be at least n * u * max(1, sqrt(tiles) / 8) * max |a_ii|");
  expect_refused(with([](auto& o) { o.pivot = 3; }), "options->pivot = 3");
  expect_refused(with([](auto& o) { o.sample_columns = -1; }), "options->sample_columns = -1");
  expect_refused(with([](auto& o) { o.pivot = 3; }), "options->pivot = 3");
  expect_refused(with([](auto& o) { o.shift = INFINITY; }), "options->shift = inf");

  CHOL_ASSERT_SUCCESS(handle_, assemble(M, options));
  expect_refused(chol_tlr_factor(handle_, M, &options, nullptr), "info = NULL");
  std::vector<double> x(kOrder), y(kOrder);
  expect_refused(chol_tlr_solve(handle_, M, 1, x.data(), kOrder), "A holds a matrix");
  CHOL_ASSERT_SUCCESS(handle_, chol_tlr_factor(handle_, M, &options, &info));
  ASSERT_EQ(info, 0);
  expect_refused(chol_tlr_solve(handle_, M, -1, x.data(), kOrder), "nrhs = -1");
  expect_refused(chol_tlr_solve(handle_, M, 1, nullptr, kOrder), "B = NULL");
  expect_refused(chol_tlr_solve(handle_, M, 1, x.data(), 1), "ldb = 1");
  expect_refused(chol_tlr_multiply(handle_, M, 1, x.data(), kOrder, nullptr, kOrder), "Y = NULL");
  expect_refused(chol_tlr_multiply(handle_, M, 1, x.data(), 3, y.data(), kOrder), "ldx = 3");
  expect_refused(chol_tlr_get_tile(M, 7, 0, x.data(), kOrder), "i = 7");
  expect_refused(chol_tlr_get_tile(M, 0, -1, x.data(), kOrder), "j = -1");
  chol_tlr_stats_t stats{};
  expect_refused(chol_tlr_stats(M, &stats), "stats->size = 0");
  double norm2;
  expect_refused(chol_tlr_error(handle_, M, M, 0, &norm2), "iterations = 0");
  const Tlr other(handle_, CHOL_TYPE_S, kOrder, kTile);
  expect_refused(chol_tlr_error(handle_, M, other, 1, &norm2), "original holds nothing");
  expect_refused(chol_tlr_load(handle_, "/no such folder/file", &made), "No such file");
  expect_refused(chol_tlr_save(M, "/no such folder/file"), "No such file");

  const AnyHandle second;
  EXPECT_EQ(chol_tlr_solve(second, M, 1, x.data(), kOrder), CHOL_STATUS_INVALID_VALUE);
  EXPECT_NE(std::strstr(chol_last_error(second), "another handle"), nullptr);
  EXPECT_EQ(chol_tlr_stats(nullptr, &stats), CHOL_STATUS_INVALID_VALUE);
  EXPECT_EQ(chol_tlr_destroy(nullptr), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(chol_tlr_options_init(nullptr), CHOL_STATUS_INVALID_VALUE);
}

TEST_F(Calls, OrderZeroIsNoWork) {
  const Tlr M(handle_, CHOL_TYPE_Z, 0, 0);
  CHOL_ASSERT_SUCCESS(handle_, chol_tlr_from_dense(handle_, M, CHOL_LOWER, nullptr, 1, nullptr));
  int info = -1, sign = 0;
  double logdet = 1;
  CHOL_ASSERT_SUCCESS(handle_, chol_tlr_factor(handle_, M, nullptr, &info));
  EXPECT_EQ(info, 0);
  CHOL_EXPECT_SUCCESS(handle_, chol_tlr_solve(handle_, M, 2, nullptr, 1));
  CHOL_EXPECT_SUCCESS(handle_, chol_tlr_logdet(handle_, M, &logdet, &sign));
  EXPECT_EQ(logdet, 0);
  EXPECT_EQ(chol_tlr_order_points(1, 0, nullptr, 1, 4, nullptr), CHOL_STATUS_SUCCESS);
}

struct Source {
  const std::vector<double>* dense;
  int64_t n, fail_at;
};

int fill_from(void* context, int64_t row, int64_t column, int64_t rows, int64_t columns,
              void* block, int64_t ldb) {
  const Source& source = *static_cast<const Source*>(context);
  if (row <= source.fail_at && source.fail_at < row + rows) return 17;
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i)
      static_cast<double*>(block)[i + j * ldb] = (*source.dense)[row + i + (column + j) * source.n];
  return 0;
}

TEST_F(Calls, BlocksAreTheCallersAndMayFail) {
  const chol_tlr_options_t options = options_of(1e-6);
  const Tlr M(handle_, CHOL_TYPE_D, kOrder, kTile);
  Source source{&dense_, kOrder, 100};
  EXPECT_EQ(chol_tlr_from_blocks(handle_, M, fill_from, &source, &options),
            CHOL_STATUS_CALLBACK_FAILED);
  EXPECT_NE(std::strstr(chol_last_error(handle_), "fill returned 17"), nullptr);
  int info;
  EXPECT_EQ(chol_tlr_factor(handle_, M, &options, &info), CHOL_STATUS_INVALID_VALUE);
  source.fail_at = -1;
  CHOL_ASSERT_SUCCESS(handle_, chol_tlr_from_blocks(handle_, M, fill_from, &source, &options));
  EXPECT_LE(distance_to(handle_, dense_, M, kOrder), 0.5e-6);
}

/// NaN in blocks of the caller's function is detected by the factorization.
TEST_F(Calls, BlocksWithNanEndInInfo) {
  const chol_tlr_options_t options = options_of(1e-6);
  for (const int ldl : {0, 1}) {
    const Tlr M(handle_, CHOL_TYPE_D, kOrder, kTile);
    std::vector<double> dense = dense_;
    dense[150 + 40 * kOrder] = std::nan("");
    Source source{&dense, kOrder, -1};
    CHOL_ASSERT_SUCCESS(handle_, chol_tlr_from_blocks(handle_, M, fill_from, &source, &options));
    chol_tlr_options_t changed = options;
    changed.ldl = ldl;
    int info = 0;
    CHOL_ASSERT_SUCCESS(handle_, chol_tlr_factor(handle_, M, &changed, &info));
    EXPECT_GT(info, kTile);
    EXPECT_LE(info, 160);
  }
}

struct Watch {
  std::vector<std::string> phases;
  double last = 0;
  int64_t cancel_after = -1;
};

int watch(void* context, const char* phase, double done) {
  Watch& seen = *static_cast<Watch*>(context);
  EXPECT_GE(done, seen.last);
  EXPECT_LE(done, 1);
  seen.last = done;
  seen.phases.emplace_back(phase);
  return std::ssize(seen.phases) > seen.cancel_after && seen.cancel_after >= 0;
}

TEST_F(Calls, ProgressIsReportedAndCancels) {
  const Tlr M(handle_, CHOL_TYPE_D, kOrder, kTile);
  chol_tlr_options_t options = options_of(1e-6);
  Watch seen;
  options.progress = watch;
  options.progress_context = &seen;
  int info = -1;
  CHOL_ASSERT_SUCCESS(handle_, assemble(M, options));
  EXPECT_EQ(seen.last, 1);
  EXPECT_EQ(seen.phases.front(), "assembly");
  seen = {};
  CHOL_ASSERT_SUCCESS(handle_, chol_tlr_factor(handle_, M, &options, &info));
  EXPECT_EQ(seen.last, 1);
  EXPECT_EQ(seen.phases.size(), 7);
  for (const int64_t after : {0, 1}) {
    seen = {};
    seen.cancel_after = after;
    const chol_status_t assembled = assemble(M, options);
    EXPECT_EQ(assembled, CHOL_STATUS_CANCELLED);
    EXPECT_NE(std::strstr(chol_last_error(handle_), "cancelled by progress"), nullptr);
    CHOL_ASSERT_SUCCESS(handle_, assemble(M, options_of(1e-6)));
    seen = {};
    seen.cancel_after = after;
    EXPECT_EQ(chol_tlr_factor(handle_, M, &options, &info), CHOL_STATUS_CANCELLED);
    EXPECT_EQ(chol_tlr_factor(handle_, M, &options, &info), CHOL_STATUS_INVALID_VALUE);
  }
}

std::vector<char> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(Calls, FilesKeepEveryBit) {
  const std::string path = testing::TempDir() + "chol_tlr_test.bin";
  const std::string again = testing::TempDir() + "chol_tlr_again.bin";
  const chol_tlr_options_t options = options_of(1e-8);
  const Tlr M(handle_, CHOL_TYPE_D, kOrder, kTile);
  CHOL_ASSERT_SUCCESS(handle_, assemble(M, options));
  for (const bool factored : {false, true}) {
    int info = 0;
    if (factored) {
      CHOL_ASSERT_SUCCESS(handle_, chol_tlr_factor(handle_, M, &options, &info));
    }
    CHOL_ASSERT_SUCCESS(handle_, chol_tlr_save(M, path.c_str()));
    chol_tlr_t read = nullptr;
    CHOL_ASSERT_SUCCESS(handle_, chol_tlr_load(handle_, path.c_str(), &read));
    const Tlr loaded(read);
    CHOL_ASSERT_SUCCESS(handle_, chol_tlr_save(loaded, again.c_str()));
    EXPECT_EQ(bytes_of(path), bytes_of(again));
    std::vector<double> x(kOrder, 1.), y(x);
    if (!factored) continue;
    CHOL_EXPECT_SUCCESS(handle_, chol_tlr_solve(handle_, M, 1, x.data(), kOrder));
    CHOL_EXPECT_SUCCESS(handle_, chol_tlr_solve(handle_, loaded, 1, y.data(), kOrder));
    EXPECT_EQ(x, y);
  }
  // A damaged file, a truncated one and one that is too long.
  const std::vector<char> good = bytes_of(path);
  for (const size_t place :
       {size_t{0}, size_t{9}, size_t{17}, size_t{30}, size_t{70}, size_t{5000}, good.size() - 1}) {
    std::vector<char> bad = good;
    bad[place] = static_cast<char>(bad[place] ^ 0x41);
    std::ofstream(again, std::ios::binary).write(bad.data(), std::ssize(bad));
    chol_tlr_t read = nullptr;
    EXPECT_EQ(chol_tlr_load(handle_, again.c_str(), &read), CHOL_STATUS_INVALID_VALUE) << place;
    EXPECT_EQ(read, nullptr);
  }
  for (const size_t length : {size_t{0}, size_t{50}, good.size() / 2, good.size() - 1}) {
    std::ofstream(again, std::ios::binary).write(good.data(), static_cast<int64_t>(length));
    chol_tlr_t read = nullptr;
    EXPECT_EQ(chol_tlr_load(handle_, again.c_str(), &read), CHOL_STATUS_INVALID_VALUE) << length;
  }
  std::remove(path.c_str());
  std::remove(again.c_str());
}

TEST_F(Calls, SameSeedSameBits) {
  const std::string path = testing::TempDir() + "chol_tlr_bits.bin";
  const chol_kernel_t kernel = covariance_.kernel();
  for (const int kind : {0, 1, 2}) {  // Cholesky, indefinite, pivoted
    std::vector<std::vector<char>> files;
    for (const auto& [threads, workspace, seed] : std::vector<std::tuple<int, size_t, uint64_t>>{
             {1, 0, 1}, {3, 0, 1}, {2, 1, 1}, {1, 0, 2}}) {
      const Handle handle(CHOL_BACKEND_HOST, threads);
      const Tlr M(handle, CHOL_TYPE_D, kOrder, kTile);
      chol_tlr_options_t options = options_of(1e-5);
      options.seed = seed;
      options.ldl = kind == 1;
      options.pivot = kind;
      options.workspace_bytes = workspace;
      CHOL_ASSERT_SUCCESS(
          handle, chol_tlr_from_kernel(handle, M, &kernel, 2, points_.x.data(), 2, &options));
      int info;
      CHOL_ASSERT_SUCCESS(handle, chol_tlr_factor(handle, M, &options, &info));
      CHOL_ASSERT_SUCCESS(handle, chol_tlr_save(M, path.c_str()));
      files.push_back(bytes_of(path));
    }
    EXPECT_EQ(files[0], files[1]);
    EXPECT_EQ(files[0], files[2]);
    EXPECT_NE(files[0], files[3]);
  }
  std::remove(path.c_str());
}

/// With the same workspace, on a device too.
TEST_F(Calls, RepeatedCallsGiveTheSameBits) {
  const std::string path = testing::TempDir() + "chol_tlr_again_bits.bin";
  const chol_kernel_t kernel = covariance_.kernel();
  for (const int kind : {0, 1, 2}) {
    std::vector<std::vector<char>> files;
    for (const uint64_t seed : {uint64_t{7}, uint64_t{7}, uint64_t{8}}) {
      const Tlr M(handle_, CHOL_TYPE_D, kOrder, kTile);
      chol_tlr_options_t options = options_of(1e-5);
      options.seed = seed;
      options.ldl = kind == 1;
      options.pivot = kind;
      CHOL_ASSERT_SUCCESS(
          handle_, chol_tlr_from_kernel(handle_, M, &kernel, 2, points_.x.data(), 2, &options));
      int info = -1;
      CHOL_ASSERT_SUCCESS(handle_, chol_tlr_factor(handle_, M, &options, &info));
      EXPECT_EQ(info, 0);
      CHOL_ASSERT_SUCCESS(handle_, chol_tlr_save(M, path.c_str()));
      files.push_back(bytes_of(path));
    }
    EXPECT_EQ(files[0], files[1]);
    EXPECT_NE(files[0], files[2]);
  }
  std::remove(path.c_str());
}

/// Each of many threads computes one block of a large diagonal tile.
TEST_F(Calls, ManyThreadsHaveTheBitsOfOne) {
  constexpr int64_t kLargeOrder = 900, kLargeTile = 300;
  const std::string path = testing::TempDir() + "chol_tlr_many_threads.bin";
  const chol_kernel_t kernel = covariance_.kernel();
  const Points points = ordered_points(2, kLargeOrder, kLargeTile);
  std::vector<std::vector<char>> files;
  for (const int threads : {1, 7}) {
    const Handle handle(CHOL_BACKEND_HOST, threads);
    const Tlr M(handle, CHOL_TYPE_D, kLargeOrder, kLargeTile);
    const chol_tlr_options_t options = options_of(1e-4);
    CHOL_ASSERT_SUCCESS(handle,
                        chol_tlr_from_kernel(handle, M, &kernel, 2, points.x.data(), 2, &options));
    int info;
    CHOL_ASSERT_SUCCESS(handle, chol_tlr_factor(handle, M, &options, &info));
    EXPECT_EQ(info, 0);
    CHOL_ASSERT_SUCCESS(handle, chol_tlr_save(M, path.c_str()));
    files.push_back(bytes_of(path));
  }
  EXPECT_EQ(files[0], files[1]);
  std::remove(path.c_str());
}

TEST_F(Calls, DescribeAndCopy) {
  const chol_tlr_options_t options = options_of(1e-4);
  const Tlr M(handle_, CHOL_TYPE_D, kOrder, kTile);
  CHOL_ASSERT_SUCCESS(handle_, assemble(M, options));
  chol_tlr_t copied = nullptr;
  CHOL_ASSERT_SUCCESS(handle_, chol_tlr_copy(handle_, M, &copied));
  const Tlr copy(copied);
  int info;
  CHOL_ASSERT_SUCCESS(handle_, chol_tlr_factor(handle_, M, &options, &info));
  const chol_tlr_stats_t of_factor = stats_of(handle_, M), of_copy = stats_of(handle_, copy);
  EXPECT_EQ(of_factor.factored, 1);
  EXPECT_EQ(of_copy.factored, 0);
  EXPECT_EQ(of_copy.type, CHOL_TYPE_D);
  EXPECT_EQ(of_copy.n, kOrder);
  EXPECT_EQ(of_copy.tiles, 7);
  EXPECT_EQ(of_copy.eps, 1e-4);
  EXPECT_GT(of_factor.flops, 0);
  std::vector<int64_t> ranks(49, -2), permutation(kOrder);
  CHOL_ASSERT_SUCCESS(handle_, chol_tlr_ranks(copy, ranks.data()));
  size_t bytes = 0;
  double sum = 0;
  for (int64_t i = 0; i < 7; ++i) {
    const int64_t rows = std::min(kTile, kOrder - i * kTile);
    bytes += sizeof(double) * static_cast<size_t>(rows * rows);
    for (int64_t j = 0; j < 7; ++j) {
      if (j >= i) {
        EXPECT_EQ(ranks[i + j * 7], j == i ? -1 : -2);
        continue;
      }
      const int64_t rank = ranks[i + j * 7];
      EXPECT_GE(rank, 0);
      EXPECT_LE(rank, rows);
      sum += double(rank);
      bytes +=
          sizeof(double) * static_cast<size_t>(rank == rows ? rows * kTile : (rows + kTile) * rank);
    }
  }
  EXPECT_EQ(of_copy.bytes, bytes);
  EXPECT_DOUBLE_EQ(of_copy.mean_rank, sum / 21);
  double norm2 = -1;
  CHOL_ASSERT_SUCCESS(handle_, chol_tlr_error(handle_, M, copy, 20, &norm2));
  EXPECT_GT(norm2, 0);
  EXPECT_LE(norm2, 1e-4);
  CHOL_ASSERT_SUCCESS(handle_, chol_tlr_permutation(M, permutation.data()));
  for (int64_t i = 0; i < kOrder; ++i) EXPECT_EQ(permutation[i], i);
}

TEST_F(Calls, OrderOfPointsMakesCompactTiles) {
  const int64_t n = 1000, tile = 64;
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> uniform;
  std::vector<double> points(static_cast<size_t>(3 * n));
  for (int64_t i = 0; i < n; ++i) {
    points[i * 3] = uniform(random);
    points[i * 3 + 1] = uniform(random);
    points[i * 3 + 2] = 1e9;  // beyond dim
  }
  std::vector<int64_t> order(static_cast<size_t>(n)), sorted;
  ASSERT_EQ(chol_tlr_order_points(2, n, points.data(), 3, tile, order.data()), CHOL_STATUS_SUCCESS);
  sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t i = 0; i < n; ++i) ASSERT_EQ(sorted[i], i);
  for (int64_t first = 0; first < n; first += tile) {
    double low[2] = {1, 1}, high[2] = {0, 0};
    for (int64_t i = first; i < std::min(n, first + tile); ++i)
      for (int d = 0; d < 2; ++d) {
        low[d] = std::min(low[d], points[order[i] * 3 + d]);
        high[d] = std::max(high[d], points[order[i] * 3 + d]);
      }
    for (int d = 0; d < 2; ++d) EXPECT_LE(high[d] - low[d], 0.6) << first;
  }
}

}  // namespace
}  // namespace chol::test
