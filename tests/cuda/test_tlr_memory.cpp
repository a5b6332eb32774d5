// Tile low rank matrices when device memory is exhausted during a call: the call reports it, the
// matrix can be destroyed or assembled again, no memory is lost, and results do not change.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>

#include "device.hpp"

namespace chol::test {
namespace {

int failures = 0;

void expect(bool is_right, const char* what, const std::string& more = {}) {
  if (is_right) return;
  ++failures;
  std::printf("failed: %s %s\n", what, more.c_str());
}

size_t free_bytes() {
  size_t free = 0, total = 0;
  CHOL_TEST_CUDA(cudaDeviceSynchronize());
  CHOL_TEST_CUDA(cudaMemGetInfo(&free, &total));
  return free;
}

/// Allocates all device memory except a given number of bytes.
class Hog {
 public:
  explicit Hog(size_t left) {
    const size_t free = free_bytes();
    if (free <= left) return;
    // In pieces, since a single one may not fit between other allocations.
    for (size_t bytes = free - left; bytes >= kLeast;) {
      void* piece = nullptr;
      const size_t wanted = std::min(bytes, kMost);
      if (cudaMalloc(&piece, wanted) != cudaSuccess) {
        cudaGetLastError();
        break;
      }
      pieces_.push_back(piece);
      bytes -= wanted;
    }
  }
  Hog(const Hog&) = delete;
  Hog& operator=(const Hog&) = delete;
  ~Hog() {
    for (void* piece : pieces_) cudaFree(piece);
  }

 private:
  static constexpr size_t kLeast = size_t{2} << 20, kMost = size_t{4} << 30;
  std::vector<void*> pieces_;
};

constexpr int64_t kOrder = 8192, kTile = 256, kColumns = 64;

/// A covariance of points in the unit cube, in the order of compact tiles.
struct Problem {
  std::vector<double> points = std::vector<double>(3 * kOrder), right;
  double length = 0.2;
  chol_kernel_t kernel{sizeof kernel, CHOL_KERNEL_EXPONENTIAL, 1, 0.01, 0, &length, 1};
  chol_tlr_options_t options;

  explicit Problem(bool ldl) : right(static_cast<size_t>(kOrder * kColumns)) {
    std::vector<double> grid(points.size());
    for (int64_t i = 0; i < kOrder; ++i) {
      grid[3 * i] = double(i % 16) / 16;
      grid[3 * i + 1] = double(i / 16 % 16) / 16;
      grid[3 * i + 2] = double(i / 256) / 32;
    }
    std::vector<int64_t> order(static_cast<size_t>(kOrder));
    chol_tlr_order_points(3, kOrder, grid.data(), 3, kTile, order.data());
    for (int64_t i = 0; i < kOrder; ++i) std::copy_n(&grid[order[i] * 3], 3, &points[i * 3]);
    for (size_t i = 0; i < right.size(); ++i) right[i] = std::cos(double(i));
    chol_tlr_options_init(&options);
    options.eps = 1e-5;
    options.ldl = ldl;
  }
  /// Assembly, factorization and solution. @return the first status that is not SUCCESS
  chol_status_t solve(chol_handle_t handle, chol_tlr_t A, std::vector<double>& x) const {
    x = right;
    chol_status_t status = chol_tlr_from_kernel(handle, A, &kernel, 3, points.data(), 3, &options);
    int info = -1;
    if (status == CHOL_STATUS_SUCCESS) status = chol_tlr_factor(handle, A, &options, &info);
    if (status == CHOL_STATUS_SUCCESS) expect(info == 0, "info", std::to_string(info));
    if (status == CHOL_STATUS_SUCCESS)
      status = chol_tlr_solve(handle, A, kColumns, x.data(), kOrder);
    return status;
  }
};

/// A handle with a matrix that has only been created.
struct Matrix {
  chol_handle_t handle = nullptr;
  chol_tlr_t A = nullptr;
  Matrix() {
    expect(chol_create_on(&handle, CHOL_BACKEND_CUDA, 0, nullptr) == CHOL_STATUS_SUCCESS, "handle");
    expect(chol_tlr_create(handle, CHOL_TYPE_D, kOrder, kTile, &A) == CHOL_STATUS_SUCCESS,
           "create");
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() {
    expect(chol_tlr_destroy(A) == CHOL_STATUS_SUCCESS, "destroy");
    chol_destroy(handle);
  }
};

/// Runs with that much memory left, and afterwards with all of it. @return whether it was enough.
bool run_with(size_t left, const Problem& problem, const std::vector<double>& expected) {
  std::vector<double> x;
  Matrix matrix;
  chol_status_t status;
  {
    const Hog hog(left);
    status = problem.solve(matrix.handle, matrix.A, x);
  }
  const std::string where = std::to_string(left >> 20) + " MiB left: ";
  expect(status == CHOL_STATUS_SUCCESS || status == CHOL_STATUS_ALLOC_FAILED, "status",
         where + chol_last_error(matrix.handle));
  if (status == CHOL_STATUS_SUCCESS) {
    expect(x == expected, "identical results", where);
    return true;
  }
  expect(std::strstr(chol_last_error(matrix.handle), "out of memory") != nullptr, "error message",
         where + chol_last_error(matrix.handle));
  expect(problem.solve(matrix.handle, matrix.A, x) == CHOL_STATUS_SUCCESS, "second run",
         where + chol_last_error(matrix.handle));
  expect(x == expected, "identical results of the second run", where);
  return false;
}

void check(bool ldl) {
  const Problem problem(ldl);
  std::vector<double> expected;
  {
    const Matrix matrix;
    expect(problem.solve(matrix.handle, matrix.A, expected) == CHOL_STATUS_SUCCESS, "reference run",
           chol_last_error(matrix.handle));
  }
  const size_t before = free_bytes();
  constexpr size_t kStep = size_t{48} << 20;
  int refused = 0;
  size_t left = kStep;
  while (left < (size_t{16} << 30) && !run_with(left, problem, expected)) {
    ++refused;
    left += kStep + left / 16;
    // Memory reserved by the driver, which kernels may increase.
    constexpr size_t kSlack = size_t{64} << 20;
    const size_t now = free_bytes();
    expect(now + kSlack >= before, "memory lost",
           std::to_string((before - std::min(before, now)) >> 20) + " MiB");
  }
  expect(refused > 3, "never out of memory");
  std::printf("ldl %d: out of memory %d times, sufficient: %zu MiB\n", ldl, refused, left >> 20);
}

}  // namespace
}  // namespace chol::test

int main() {
  using namespace chol::test;
  if (!device_present()) return 0;
  for (const bool ldl : {false, true}) check(ldl);
  std::printf(failures ? "FAILED: %d\n" : "PASSED\n", failures);
  return failures != 0;
}
