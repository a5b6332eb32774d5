// The kernels of cuda/interleaved/thread/left_looking.cuh as one thread on the host: every order
// that is built, in one real and one complex precision, and every number of kept columns that a
// tuning file may set. Shared memory is initialized with NaN, which detects reads of uninitialized
// memory.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "interleaved/thread/left_looking.cuh"
#include "interleaved/threads/shape.hpp"
#include "tally.hpp"

namespace chol::cuda {

alignas(16) char shared_bytes[4 << 20];

namespace {

Tally tally;

template <class T>
T element(int i, int j, int n) {
  using R = decltype(std::real(T{}));
  if (i == j) return T(R(2 * n));
  const R x = R((i * 7 + j * 3) % 11) / 5 - 1, y = R((i * 5 + j) % 7) / 4 - R(0.5);
  if constexpr (std::is_same_v<T, R>)
    return x;
  else
    return {x, y};
}

/// Largest element of A x - b.
template <class T>
double residual(const std::vector<T>& A, const std::vector<T>& b, const std::vector<Lane<T>>& x) {
  const size_t n = b.size();
  double largest = 0;
  for (size_t i = 0; i < n; ++i) {
    T sum = -b[i];
    for (size_t k = 0; k < n; ++k) sum += A[i + k * n] * gpu_lane::number(x[k]);
    largest = std::abs(sum) <= largest ? largest : double(std::abs(sum));  // NaN stays
  }
  return largest;
}

template <class T, int N, int kKept>
void solve_by_columns() {
  using R = decltype(std::real(T{}));
  std::vector<T> A(N * N), b(N);
  for (int j = 0; j < N; ++j)
    for (int i = j; i < N; ++i) {
      A[i + j * N] = element<T>(i, j, N);
      A[j + i * N] = gpu_lane::conj_where<true>(A[i + j * N]);
    }
  for (int i = 0; i < N; ++i) b[i] = T(R(i * 37 % 13) / 6 - 1);
  std::vector<Lane<T>> work(N * N), x(N);
  std::transform(A.begin(), A.end(), work.begin(), [](T a) { return gpu_lane::lane(a); });
  std::transform(b.begin(), b.end(), x.begin(), [](T a) { return gpu_lane::lane(a); });
  std::memset(shared_bytes, 0xFF, sizeof shared_bytes);
  int info = -1;
  InterleavedCall<T> call{work.data(), x.data(), N, &info};
  columns_kernel<T, N, InterleavedTask::factor_and_solve, kKept>(call);
  const double error = residual(A, b, x), bound = 30 * N * std::numeric_limits<R>::epsilon();
  if (tally.count(info == 0 && error <= bound)) return;
  std::printf("%c n %d, %d columns kept: info %d, residual %g\n", kPrecision<T>, N, kKept, info,
              error);
}

/// Every second one from N on, and the largest.
template <class T, int N>
void solve_built_orders() {
  constexpr int kLargest =
      left_looking_orders(kPrecision<T>, InterleavedTask::factor_and_solve).largest;
  solve_by_columns<T, N, kept_columns(kPrecision<T>, N, true)>();
  if constexpr (N < kLargest) solve_built_orders<T, N + 1 == kLargest ? kLargest : N + 2>();
}
template <class T, int N, int kStep, int kKept = 0>
void solve_kept() {
  solve_by_columns<T, N, kKept>();
  if constexpr (kKept + kStep < N) solve_kept<T, N, kStep, kKept + kStep>();
}

}  // namespace
}  // namespace chol::cuda

int main() {
  using namespace chol::cuda;
  solve_built_orders<float, 8>();
  solve_built_orders<double, 9>();
  solve_built_orders<std::complex<float>, 9>();
  solve_built_orders<std::complex<double>, 8>();
  solve_kept<double, 2, 1>();
  solve_kept<double, 3, 1>();
  solve_kept<double, 8, 1>();
  solve_kept<std::complex<double>, 17, 2>();
  solve_kept<float, 30, 3>();
  return tally.report();
}
