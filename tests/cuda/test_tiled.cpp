// The kernels of cuda/interleaved/thread/tiled.cuh as one thread on the host: every tile edge and
// order of the tiles, with and without loops over them, against a factor computed element by
// element. Real matrices of every kind of order, complex ones of a few: compiling takes longest.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <type_traits>
#include <vector>

#include "interleaved/thread/tiled.cuh"
#include "tally.hpp"

namespace chol::cuda {
namespace {

Tally tally;
constexpr int kRightHandSides = 2;
constexpr const char* kNames[] = {"left", "right", "top"};

template <class T>
struct Problem {
  using R = decltype(std::real(T{}));
  int n;
  bool swapped;
  int bad = -1;  ///< the bad pivot
  std::vector<T> A, L, B;

  Problem(int order, bool by_rows, int bad_pivot)
      : n(order), swapped(by_rows), bad(bad_pivot), A(n * n), L(n * n), B(n * kRightHandSides) {
    const R bad_values[] = {-3, 0, std::numeric_limits<R>::quiet_NaN(),
                            std::numeric_limits<R>::infinity()};
    for (int j = 0; j < n; ++j)
      for (int i = j; i < n; ++i) A[i + j * n] = element(i, j);
    if (bad >= 0) A[bad + bad * n] = bad_values[(n + bad) % 4];
    for (size_t k = 0; k < B.size(); ++k) B[k] = R(k * 37 % 13) / 6 - 1;
    factor();
  }
  T element(int i, int j) const {
    const R x = R((i * 7 + j * 3) % 11) / 5 - 1, y = R((i * 5 + j) % 7) / 4 - R(0.5);
    if (i == j) return R(2 * n);
    if constexpr (std::is_same_v<T, R>)
      return x;
    else
      return {x, y};
  }
  /// Columns before the bad pivot.
  void factor() {
    for (int j = 0; j < (bad < 0 ? n : bad); ++j)
      for (int i = j; i < n; ++i) {
        T sum = A[i + j * n];
        for (int k = 0; k < j; ++k) sum -= L[i + k * n] * gpu_lane::conj_where<true>(L[j + k * n]);
        L[i + j * n] = i == j ? T(std::sqrt(std::real(sum))) : sum / L[j + j * n];
      }
  }
  /// Storage of element (i, j) of the triangle.
  size_t place(int i, int j) const { return swapped ? j + i * n : i + j * n; }
  T stored(T x) const { return swapped ? gpu_lane::conj_where<true>(x) : x; }
};

/// Within some roundings of each other; not NaN.
template <class T>
bool near(T a, T b, int n) {
  return std::abs(a - b) <= 8 * n * std::numeric_limits<decltype(std::real(a))>::epsilon();
}

template <class T>
bool right_triangle(const Problem<T>& p, const std::vector<Lane<T>>& got, T untouched) {
  bool right = true;
  for (int j = 0; j < p.n; ++j)
    for (int i = 0; i < p.n; ++i) {
      const T x = gpu_lane::number(got[p.place(i, j)]);
      if (i < j)
        right = right && x == untouched;
      else if (p.bad < 0 || j < p.bad)
        right = right && near(x, p.stored(p.L[i + j * p.n]), p.n);
    }
  return right;
}
/// A x = b, or x is unchanged.
template <class T>
bool right_solutions(const Problem<T>& p, const std::vector<Lane<T>>& x) {
  bool right = true;
  for (int c = 0; c < kRightHandSides; ++c)
    for (int i = 0; i < p.n; ++i) {
      T sum{};
      for (int k = 0; k < p.n; ++k)
        sum += (k <= i ? p.A[i + k * p.n] : gpu_lane::conj_where<true>(p.A[k + i * p.n])) *
               gpu_lane::number(x[k + c * p.n]);
      const T b = p.B[i + c * p.n];
      right = right && (p.bad < 0 ? near(sum, b, p.n) : gpu_lane::number(x[i + c * p.n]) == b);
    }
  return right;
}

template <class T, InterleavedTask kTask, int kTile, Looking kLooking, int kOrder>
void check(const Problem<T>& p) {
  const T untouched = 777;
  std::vector<Lane<T>> work(p.n * p.n, gpu_lane::lane(untouched)), x;
  for (int j = 0; j < p.n; ++j)
    for (int i = j; i < p.n; ++i) work[p.place(i, j)] = gpu_lane::lane(p.stored(p.A[i + j * p.n]));
  for (const T b : p.B) x.push_back(gpu_lane::lane(b));
  int info = -1;
  InterleavedCall<T> call{work.data(), x.data(), p.n, &info};
  call.swapped = p.swapped;
  call.nrhs = kRightHandSides;
  tiled_kernel<T, kTask, kTile, kLooking, kOrder, 64>(call);
  const bool solves = kTask != InterleavedTask::factor;
  const bool right =
      info == p.bad + 1 && right_triangle(p, work, untouched) && (!solves || right_solutions(p, x));
  if (tally.count(right)) return;
  std::printf("%c n %d, tiles of %d, %s-looking%s%s%s, bad pivot %d: info %d\n", kPrecision<T>, p.n,
              kTile, kNames[int(kLooking)], kOrder ? ", unrolled" : "", p.swapped ? ", rows" : "",
              solves ? ", posv" : "", p.bad, info);
}

/// Both storages, and bad pivots at both ends and in between.
template <class T, class Check>
void each_problem(int n, const Check& check) {
  for (const bool swapped : {false, true})
    for (const int bad : {-1, 0, n / 2, n - 1}) check(Problem<T>(n, swapped, bad));
}

template <class T, int kTile, Looking kLooking>
void check_looped() {
  for (int n = 1; n <= 20; ++n)
    each_problem<T>(n, [](const Problem<T>& p) {
      check<T, InterleavedTask::factor, kTile, kLooking, 0>(p);
      check<T, InterleavedTask::factor_and_solve, kTile, kLooking, 0>(p);
    });
}
template <class T, int kTile, Looking kLooking, int... kOrders>
void check_unrolled() {
  const auto of_order = []<int kOrder>(Known<kOrder>) {
    each_problem<T>(kOrder, [](const Problem<T>& p) {
      check<T, InterleavedTask::factor, kTile, kLooking, kOrder>(p);
    });
  };
  (of_order(Known<kOrders>{}), ...);
}
template <class T, int kTile, Looking kLooking>
void check_kernels() {
  check_looped<T, kTile, kLooking>();
  check_unrolled<T, kTile, kLooking, 2 * kTile + 1>();
  if constexpr (!std::is_same_v<T, double>) return;
  // One tile, or a partial one; full tiles; partial tiles after one and several.
  check_unrolled<double, kTile, kLooking, 1, kTile, kTile + 1, 2 * kTile>();
  if constexpr (kTile < 7) check_unrolled<double, kTile, kLooking, 4 * kTile - 1>();
}
template <class T, int kTile = 1>
void check_tiles() {
  check_kernels<T, kTile, Looking::left>();
  check_kernels<T, kTile, Looking::right>();
  check_kernels<T, kTile, Looking::top>();
  if constexpr (kTile < kMostTile) check_tiles<T, kTile + 1>();
}

}  // namespace
}  // namespace chol::cuda

int main() {
  using namespace chol::cuda;
  // The kernels use the precision through the lane only, which every tile has.
  check_tiles<double>();
  check_tiles<std::complex<double>>();
  check_kernels<float, 3, Looking::top>();
  check_kernels<std::complex<float>, 3, Looking::top>();
  return tally.report();
}
